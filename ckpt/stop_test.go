package ckpt_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// roleOf is set in the PEs of a test that starts jobs of its own.
const roleOf = "TEST_ROLE"

func TestMain(m *testing.M) {
	if launch.MaybeAgent(); os.Getenv(roleOf) != "" {
		pgas.Main(stopping)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// stopping is the program of TestStop. One PE gets a SIGTERM in step 5 of the first start.
func stopping(ctx context.Context, w *pgas.World) error {
	role := os.Getenv(roleOf)
	step := 0
	set := ckpt.New(w)
	set.Add("step", ckpt.Shared(&step))
	if _, _, err := set.Restore(ctx); err != nil {
		return err
	}
	if role == "two sets" {
		_, _, err := ckpt.New(w).Restore(ctx)
		return err
	}
	first := step == 0
	for step < 10 {
		if first && role == "stop" && step == 9 {
			step-- // the signal may come late, and the job is to be stopped by it
		}
		if step++; first && step == 5 {
			if err := disturb(ctx, w, role); err != nil {
				return err
			}
		}
		if _, err := set.SaveIfDue(ctx); err != nil {
			return fmt.Errorf("in step %d: %w", step, err)
		}
	}
	if w.PE() == 0 {
		fmt.Printf("first: %t, step %d\n", first, step)
	}
	return nil
}

// disturb is what happens in step 5.
func disturb(ctx context.Context, w *pgas.World, role string) error {
	switch {
	case role == "stop" && w.PE() == 1:
		return syscall.Kill(os.Getpid(), syscall.SIGTERM)
	case role == "fail" && w.PE() == 1:
		return fmt.Errorf("out of ideas")
	case role == "fail":
		<-ctx.Done()
		fmt.Println("the context has ended")
		return context.Cause(ctx)
	}
	return nil
}

// startJob runs stopping on PEs of this host, with Spec.Survive if dir is "".
func startJob(t *testing.T, role, dir string) (res launch.Result, out, errs string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	host, err := os.Hostname()
	must(t, err)
	var stdout, stderr bytes.Buffer
	spec := launch.Spec{
		Hosts: []boot.Host{{Name: host, PEs: 3}}, Program: self, Stdout: &stdout, Stderr: &stderr,
		Env: []string{roleOf + "=" + role, boot.EnvHeapMax + "=16m", boot.EnvCheckpoint + "=" + dir},
	}
	if dir == "" {
		spec.Survive = 5
	}
	res, err = launch.Run(ctx, spec)
	must(t, err)
	return res, stdout.String(), stderr.String()
}

// TestStop: a SIGTERM to one PE has all of them save and leave with status 75, and no PE counts as failed. The next
// start goes on. A job in which a PE fails does not wait for the next Save.
func TestStop(t *testing.T) {
	dir := t.TempDir()
	res, out, errs := startJob(t, "stop", dir)
	if res.Status != boot.StopStatus || res.First != nil || out != "" || strings.Count(errs, "the job stops as it was asked to") != 1 {
		t.Fatalf("status %d, %v\n%s%s", res.Status, res.First, out, errs)
	}
	res, out, errs = startJob(t, "stop", dir)
	if res.Status != 0 || out != "first: false, step 10\n" || errs != "" {
		t.Errorf("the second start: status %d\n%s%s", res.Status, out, errs)
	}
	res, out, errs = startJob(t, "fail", t.TempDir())
	if res.Status != 1 || res.First == nil || res.First.PE != 1 || strings.Count(out, "the context has ended") != 2 {
		t.Errorf("a PE fails: status %d, %v\n%s%s", res.Status, res.First, out, errs)
	}
}
