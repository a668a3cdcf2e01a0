package dsm_test

// What the report of a job says of PEs that wait for coherent memory.

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
	"github.com/gopgas/gopgas/ucx"
)

// reportedIn makes the test binary a PE of TestReportedWaits. Its value is the mode.
const reportedIn = "DSM_TEST_REPORTED"

// reportedHome is the PE that stops. It has a host of its own.
const reportedHome = 3

// reportedWaits has PE 3 stop when it has changed block 1. PE 1 and after it PE 0 release the block then, and PE 2
// reads it.
func reportedWaits(ctx context.Context, w *pgas.World) error {
	mode := dsm.Soft
	if os.Getenv(reportedIn) == "paged" {
		mode = dsm.Paged
	}
	const block = 1 << 12
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 2 * block, Block: block, Mode: mode})
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[uint64](ctx, r, 2*block/8)
	if err != nil {
		return err
	}
	words, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	pid := pgas.AtomicOf(words, 0)
	const at = block / 8
	if w.PE() == reportedHome {
		a.Set(at, 1)
	}
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() < 2 && a.At(at) != 1 { // they have copies, and need their turns only
		return fmt.Errorf("PE %d reads %d", w.PE(), a.At(at))
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == reportedHome {
		for pe := range reportedHome {
			pid.Set(pe, uint64(os.Getpid()))
		}
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	home, err := pid.WaitUntil(ctx, pgas.NE, 0)
	if err != nil {
		return err
	}
	for !stopped(int(home)) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if w.PE() == 2 {
		return fmt.Errorf("element %d of a stopped home was read: %d", at, a.View(at, at+1)[0])
	}
	a.Set(at+1+w.PE(), 2)
	for w.PE() == 0 && !dsm.InQueue(r, 1, 1) && ctx.Err() == nil {
		time.Sleep(time.Millisecond) // so that PE 0 is the second
	}
	_, err = r.Release(ctx)
	return err
}

// reports is the output of a job, which a test reads while the job runs.
type reports struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *reports) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *reports) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// TestReportedWaits: reports name the release or the fetch that a PE is in, the block and its elements, and the PE that
// is waited for. Of two PEs of a host that release the same block, the second waits for the first.
func TestReportedWaits(t *testing.T) {
	if os.Getenv(reportedIn) != "" {
		pgas.Main(reportedWaits)
		os.Exit(0)
	}
	if testing.Short() || !ucx.Available {
		t.Skip("PEs on two hosts, which need cgo")
	}
	if err := netns.Usable(); err != nil {
		t.Skip(err)
	}
	t.Run("soft", func(t *testing.T) { checkReportedWaits(t, "soft") })
	t.Run("paged", func(t *testing.T) {
		needsPaging(t)
		checkReportedWaits(t, "paged")
	})
}

func checkReportedWaits(t *testing.T, mode string) {
	hosts, err := netns.New(2)
	if err != nil {
		t.Fatal(err)
	}
	defer hosts.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var out reports
	signals := make(chan os.Signal)
	go func() {
		defer cancel()
		for !says(&out) && ctx.Err() == nil {
			select {
			case signals <- syscall.SIGQUIT:
			case <-ctx.Done():
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	_, err = launch.Run(ctx, launch.Spec{
		Hosts:   []boot.Host{{Name: hosts.Names[0], PEs: reportedHome}, {Name: hosts.Names[1], PEs: 1}},
		Program: self, Args: []string{"-test.run=^TestReportedWaits$"}, Signals: signals,
		Env:    []string{reportedIn + "=" + mode, "PGAS_HEAP_MAX=16m"},
		Stdout: &out, Stderr: &out, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	if !says(&out) {
		t.Errorf("no report of two releases and a fetch: %v\n%s", err, &out)
	}
}

// says reports whether a report names the waits of all three PEs.
func says(out *reports) bool {
	const block = ` of coherent memory, block 1 \(array 0 \(\[\]uint64\)\[512:1024\]\), waiting for PE `
	text := out.String()
	for _, wait := range []string{`PE 1: in a release` + block + `3`, `PE 0: in a release` + block + `1`, `PE 2: in a fetch` + block + `3`} {
		if !regexp.MustCompile(wait).MatchString(text) {
			return false
		}
	}
	return true
}
