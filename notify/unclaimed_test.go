package notify_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

// childEnv makes this test binary the program of TestUnclaimed.
const childEnv = "NOTIFY_TEST_UNCLAIMED"

// TestUnclaimed: notifications that no request has taken are reported when the job ends, and no others.
func TestUnclaimed(t *testing.T) {
	if how := os.Getenv(childEnv); how != "" {
		pgas.Main(func(ctx context.Context, w *pgas.World) error {
			if how == "claimed" {
				defer claimAll(ctx, w)
			}
			for tag := range 5 {
				w.Notify(0, tag)
			}
			r := notify.New(w, 0, 1, 1)
			r.Start()
			_, err := r.Wait(ctx) // which finds that no request is for tag 0
			return err
		})
		os.Exit(0)
	}
	for how, want := range map[string]string{
		"claimed":   "",
		"unclaimed": "nobody waited for 4 of the notifications that arrived: from PE 0 with tag 0 (0 bytes), from PE 0 with tag 2 (0 bytes), from PE 0 with tag 3 (0 bytes), …; wait for each with a notify.Request",
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestUnclaimed$")
		cmd.Env = append(os.Environ(), childEnv+"="+how, "PGAS_QUIET_SINGLETON=1", "PGAS_HEAP_MAX=1m")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", how, err, stderr.String())
		}
		if got := stderr.String(); (got == "") != (want == "") || !strings.Contains(got, want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s: standard error is %q, want %q", how, got, want)
		}
	}
}

func claimAll(ctx context.Context, w *pgas.World) {
	for range 4 {
		r := notify.New(w, notify.Any, notify.Any, 1)
		r.Start()
		_, _ = r.Wait(ctx)
	}
}
