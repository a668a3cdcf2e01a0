package pgas_test

// A PE that leaves the job while the others go on.

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
)

// leavesEarly is a body in which PE 2 returns one barrier before the others. The others print the error they get. A PE
// of another host may hear first that PEs have ended because of that error.
func leavesEarly(_ context.Context, w *pgas.World) error {
	if w.PE() == 2 {
		return nil
	}
	err := w.Barrier(context.Background()) //pgasvet:ok tests the mismatch
	var mismatch *pgas.MismatchError
	var ended *pgas.PeerError
	if !errors.As(err, &mismatch) && !errors.As(err, &ended) {
		return fmt.Errorf("unexpected: %v", err)
	}
	return err
}

// saysItLeft matches what every PE says about PE 2.
var saysItLeft = regexp.MustCompile(`PE 0,1,3: barrier.*; PE 2: has left the job \(World\.Close( at [^ ]*_test\.go:\d+)?\)`)

// One PE returns a barrier early. The job ends, and says which, and where.
func TestLeavesEarly(t *testing.T) {
	asPE(t, leavesEarly)
	t.Run("processes", func(t *testing.T) {
		checkLeavesEarly(t, []boot.Host{{Name: launch.Local, PEs: 4}})
	})
	t.Run("hosts", func(t *testing.T) {
		for _, pes := range [][]int{{2, 2}, {3, 1}, {2, 1, 1}} {
			t.Run(fmt.Sprint(pes), func(t *testing.T) {
				hosts := pgastest.NewHosts(t, len(pes))
				var at []boot.Host
				for i, n := range pes {
					at = append(at, boot.Host{Name: hosts.Names[i], PEs: n})
				}
				checkLeavesEarly(t, at)
			})
		}
	})
	t.Run("goroutines", func(t *testing.T) {
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		if err := pgastest.Goroutines(ctx, 4, pgastest.Options{}, leavesEarly); err == nil || !saysItLeft.MatchString(err.Error()) {
			t.Errorf("the job ended with %v", err)
		}
	})
	t.Run("sim", func(t *testing.T) {
		_, err := sim.Run(t.Context(), sim.Config{}, 4, leavesEarly)
		if err == nil || !saysItLeft.MatchString(err.Error()) {
			t.Errorf("the job ended with %v", err)
		}
	})
}

func checkLeavesEarly(t *testing.T, hosts []boot.Host) {
	t.Helper()
	res, _, errs := startJob(t, "TestLeavesEarly", hosts)
	if res.Status != 1 || !saysItLeft.MatchString(errs) || strings.Contains(errs, "unexpected") {
		t.Errorf("%v: status %d; it said\n%s", hosts, res.Status, errs)
	}
}

// A PE that leaves while others are in a call of another team is reported at once, and not as a deadlock.
func TestLeavesTeam(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	err := pgastest.Goroutines(ctx, 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitStrided(ctx, 0, 1, 3)
		if err != nil || w.PE() == 2 {
			return err
		}
		return team.Sync(ctx)
	})
	if err == nil || !regexp.MustCompile(`PE 2: has left the job \(World\.Close`).MatchString(err.Error()) {
		t.Errorf("the job ended with %v", err)
	}
}

// Calls after Close fail with ErrClosed, or panic where they return no error.
func TestAfterClose(t *testing.T) {
	for _, npes := range []int{1, 2} {
		ctx, cancel := hang.Context(t.Context())
		defer cancel()
		if err := pgastest.Goroutines(ctx, npes, pgastest.Options{}, afterClose); err != nil {
			t.Errorf("%d PEs: %v", npes, err)
		}
	}
}

func afterClose(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[int64](ctx, w, 2)
	if err != nil {
		return err
	}
	locks, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
	if err != nil {
		return err
	}
	other := (w.PE() + 1) % w.NPEs()
	if err := w.Close(); err != nil {
		return err
	}
	word := pgas.AtomicOf(words, 0)
	for name, call := range map[string]func() error{
		"Barrier":    func() error { return w.Barrier(ctx) },
		"Sync":       func() error { return w.Sync(ctx) },
		"Quiet":      func() error { return w.Quiet(ctx) },
		"Alloc":      func() error { _, err := pgas.Alloc[int64](ctx, w, 1); return err },
		"Free":       func() error { return words.Free(ctx) },
		"SplitColor": func() error { _, err := w.Team().SplitColor(ctx, 0, 0); return err },
		"SumReduce":  func() error { return pgas.SumReduce(ctx, w.Team(), words.Range(0, 1), words.Range(1, 2)) },
		"Lock":       func() error { return pgas.LockOf(locks, 0).Lock(ctx) },
		"WaitUntil":  func() error { _, err := word.WaitUntil(ctx, pgas.EQ, 0); return err },
		"WaitAny":    func() error { _, _, err := pgas.AtomicsOf(words.All()).Until(pgas.EQ, 0).WaitAny(ctx); return err },
		"NewContext": func() error { _, err := w.NewContext(); return err },
		"Sleep":      func() error { return w.Sleep(ctx, time.Nanosecond) },
		"Put":        func() error { return misused(func() error { words.At(0).Put(other, 1); return nil }) },
		"Get":        func() error { return misused(func() error { words.At(0).Get(other); return nil }) },
		"Add":        func() error { return misused(func() error { word.Add(other, 1); return nil }) },
		"FetchAdd":   func() error { return misused(func() error { word.FetchAdd(other, 1); return nil }) },
		"TryLock":    func() error { return misused(func() error { pgas.LockOf(locks, 0).TryLock(); return nil }) },
		"Unlock":     func() error { return misused(func() error { return pgas.LockOf(locks, 0).Unlock() }) },
	} {
		err := call()
		var misuse *pgas.UsageError
		if !errors.Is(err, pgas.ErrClosed) && (!errors.As(err, &misuse) || !strings.Contains(err.Error(), "closed")) {
			return fmt.Errorf("%s after Close: %v", name, err)
		}
	}
	return nil
}
