//go:build cgo

package ucp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// largeGet is more than a lane asks for at a time.
const largeGet = 5 << 20

func init() {
	roles["large gets until a signal"] = func(ctx context.Context, t *Transport, job *boot.Job, report func(string, ...any)) error {
		c, err := t.Channel(true)
		if err != nil {
			return err
		}
		if err := job.Exchange.Fence(ctx); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGUSR1)
		defer stop()
		dst := make([]byte, largeGet)
		for i := 0; err == nil; i++ {
			if i == 3 {
				report("running")
			}
			err = c.Get(ctx, 1-job.PE, dst, dataOff)
		}
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a get whose context has ended: %v", err)
		}
		report("ended")
		return nil
	}
}

// TestLargeGetEndsWithItsContext: a get of more bytes than a lane asks for at a time ends with its context, long before
// its stopped target counts as lost.
func TestLargeGetEndsWithItsContext(t *testing.T) {
	f := startFamily(t, [2]string{"large gets until a signal", "outside: data"}, false, "UCX_TLS=tcp", "PGAS_PEER_TIMEOUT=10m")
	f.expect(t, "0 running")
	for _, s := range []struct {
		pe     int
		signal os.Signal
	}{{1, syscall.SIGSTOP}, {0, syscall.SIGUSR1}} {
		if err := f.cmds[s.pe].Process.Signal(s.signal); err != nil {
			t.Fatal(err)
		}
	}
	f.expect(t, "0 ended")
	if err := f.cmds[0].Wait(); err != nil {
		t.Fatal(err)
	}
}
