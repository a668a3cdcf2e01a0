package dsm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// panicOf returns the message of f's panic with *pgas.UsageError, or "".
func panicOf(f func()) (message string) {
	defer func() {
		p := recover()
		if e, ok := p.(*pgas.UsageError); ok {
			message = e.Error()
		} else if p != nil {
			panic(p)
		}
	}()
	f()
	return ""
}

type withPointer struct {
	A int
	B [2]struct{ Next *int }
}

func TestMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		open := func(o dsm.Options) func() {
			return func() { _, _ = dsm.Open(ctx, w, o) }
		}
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Soft})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int32](ctx, r, 100)
		if err != nil {
			return err
		}
		var none *dsm.Region
		for _, c := range []struct {
			call func()
			says string
		}{
			{open(dsm.Options{}), "Options.Bytes"},
			{open(dsm.Options{Bytes: 1, Block: 3000}), "power of two"},
			{open(dsm.Options{Bytes: 1, Block: 2 << 20}), "up to 1 MiB"},
			{open(dsm.Options{Bytes: 1, Notices: -2}), "-1 for none"},
			{open(dsm.Options{Bytes: 1, Lease: 1 << 50}), "at most 2^40"},
			{open(dsm.Options{Bytes: 1, Block: 1 << 12, CacheMax: 1 << 12}), "two blocks of 4096"},
			{open(dsm.Options{Bytes: 1, Block: 1 << 12, CacheMax: 1 << 13, Mode: dsm.Soft}), "mode Soft, which keeps all copies: leave it 0"},
			{open(dsm.Options{Bytes: 1, Mode: -1}), "there are Auto"},
			{open(dsm.Options{Bytes: 1 << 40, Block: 8}), "use larger blocks"},
			{func() { _, _ = dsm.Alloc[*int](ctx, r, 1) }, "use indexes"},
			{func() { _, _ = dsm.Alloc[withPointer](ctx, r, 1) }, "withPointer.B[].Next"},
			{func() { _, _ = dsm.Alloc[string](ctx, r, 1) }, "use indexes"},
			{func() { _, _ = dsm.Alloc[int](ctx, r, -1) }, "-1 elements"},
			{func() { a.At(100) }, "[100:101] of 100"},
			{func() { a.Set(-1, 0) }, "[-1:0] of 100"},
			{func() { a.View(5, 3) }, "[5:3] of 100"},
			{func() { a.Update(0, 101) }, "[0:101] of 100"},
			{func() { a.Overwrite(-1, 1) }, "[-1:1] of 100"},
			{func() { a.Prefetch(0, 101) }, "[0:101] of 100"},
			{func() { a.Slice() }, "use View, Update, At and Set"},
			{func() { _ = none.Barrier(ctx) }, "Open makes one"},
			{func() { _ = r.Run(ctx, -1, nil) }, "-1 goroutines"},
			{func() { _, _ = dsm.NewMutex(ctx, r, nil, 1) }, "home 1"},
			{func() { _ = r.Report(ctx, os.Stderr, 0) }, "give a positive number"},
		} {
			if got := panicOf(c.call); !strings.Contains(got, c.says) || strings.Contains(got, "\n") {
				return fmt.Errorf("%q, which does not say %q", got, c.says)
			}
		}
		if _, err := dsm.Alloc[int64](ctx, r, 1<<20); err == nil || !strings.Contains(err.Error(), "Options.Bytes") {
			return fmt.Errorf("an array that does not fit: %v", err)
		}
		if err := r.Close(ctx); err != nil {
			return err
		}
		for _, after := range []func(){func() { a.View(0, 1) }, func() { a.At(0) }, func() { a.Set(0, 1) }, func() { _ = r.Barrier(ctx) }} {
			if got := panicOf(after); !strings.Contains(got, "closed") {
				return fmt.Errorf("after Close: %q", got)
			}
		}
		return nil
	})
}

// PEs that differ are told so, all of them.
func TestMismatch(t *testing.T) {
	for name, body := range map[string]pgastest.Body{
		"options": func(ctx context.Context, w *pgas.World) error {
			_, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Lease: uint64(5 + w.PE())})
			return err
		},
		"elements": func(ctx context.Context, w *pgas.World) error {
			r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16})
			if err != nil {
				return err
			}
			_, err = dsm.Alloc[int32](ctx, r, 5+w.PE())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
				err := body(ctx, w)
				if _, ok := errors.AsType[*pgas.MismatchError](err); !ok {
					return fmt.Errorf("PE %d: %v", w.PE(), err)
				}
				return nil
			})
		})
	}
}

// An access to an array after Close faults, and does not read what was there, nor what has been mapped since.
func TestAccessAfterClose(t *testing.T) {
	needsPaging(t)
	pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) (err error) {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Paged})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int64](ctx, r, 10)
		if err != nil {
			return err
		}
		s := a.Slice()
		s[3] = 7
		if err := r.Close(ctx); err != nil {
			return err
		}
		if _, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
			return err
		}
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if recover() == nil {
				err = errors.New("a slice of a closed region can be read")
			}
		}()
		_ = s[3] + s[4]
		if s[3] == 7 {
			return errors.New("a slice of a closed region has its old contents")
		}
		return nil
	})
}

// Regions that are opened and closed leave no mapping, descriptor or thread.
func TestNothingIsLeft(t *testing.T) {
	needsPaging(t)
	pgastest.RunProcesses(t, 1, func(ctx context.Context, w *pgas.World) error {
		var before [3]int
		for i := range 60 {
			r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 14, Block: 1 << 12, Mode: dsm.Paged})
			if err != nil {
				return err
			}
			a, err := dsm.Alloc[int64](ctx, r, 10)
			if err != nil {
				return err
			}
			a.Slice()[5] = 1
			if err := r.Close(ctx); err != nil {
				return err
			}
			now := [3]int{entries("/proc/self/fd"), entries("/proc/self/task"), lines("/proc/self/maps")}
			if i == 20 {
				before = now
			}
			if i > 20 && (now[0] > before[0] || now[1] > before[1]+8 || now[2] > before[2]+20) {
				return fmt.Errorf("after %d regions: descriptors, threads, mappings are %v; they were %v", i+1, now, before)
			}
		}
		return nil
	})
}

func entries(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}

func lines(file string) int {
	text, _ := os.ReadFile(file)
	return strings.Count(string(text), "\n")
}

// A build without page faults says so in one line when mode Paged is asked for.
func TestWithoutPageFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program without cgo")
	}
	dir := t.TempDir()
	program := dir + "/program"
	build := exec.Command("go", "build", "-o", program, "./testdata/paged")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program)
	run.Env = append(os.Environ(), "PGAS_QUIET_SINGLETON=1")
	out, err := run.CombinedOutput()
	if err == nil || strings.Count(strings.TrimSpace(string(out)), "\n") != 0 || !strings.Contains(string(out), "mode paged: page faults need Linux and a build with cgo") {
		t.Errorf("%v: it said\n%s", err, out)
	}
}

// TestEventOfTwoGoroutines: of two goroutines that wait for the same PE, or that set an event for it, at the same time
// one is told.
func TestEventOfTwoGoroutines(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Mode: dsm.Soft})
		if err != nil {
			return err
		}
		e, err := dsm.NewEvent(ctx, r)
		if err != nil {
			return err
		}
		for name, call := range map[string]func(context.Context, int) error{"Event.Wait": e.Wait, "Event.Set": e.Set} {
			if name == "Event.Set" { // the first is taken by a Wait, the second one stays
				if err := e.Set(ctx, 0); err != nil {
					return err
				}
			}
			inside, end := context.WithCancel(ctx)
			errs := make(chan string, 2)
			for range 2 {
				go func() { errs <- panicOf(func() { call(inside, 0) }) }()
			}
			if said := <-errs; !strings.Contains(said, "another goroutine of this PE is in "+name+" for PE 0") {
				end()
				return fmt.Errorf("%s of a second goroutine: %q", name, said)
			}
			end()
			if said := <-errs; said != "" {
				return errors.New(said)
			}
			if name == "Event.Set" {
				if err := e.Wait(ctx, 0); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
