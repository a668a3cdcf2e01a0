package pgas_test

// Calls with a context that has ended: docs/packages/pgas.md, "When a context ends".

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// errStopped is why the contexts of these tests end.
var errStopped = errors.New("stopped by the test")

// stoppedContext returns a context that has ended.
func stoppedContext(ctx context.Context) context.Context {
	over, stop := context.WithCancelCause(ctx)
	stop(errStopped)
	return over
}

// Calls of one PE fail with the cause of their context and do nothing, even where there is nothing to wait for.
func TestEndedContextLocalCalls(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 2)
		if err != nil {
			return err
		}
		floats, err := pgas.Alloc[float64](ctx, w, 1)
		if err != nil {
			return err
		}
		signals, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		locks, err := pgas.Alloc[pgas.Lock](ctx, w, 2)
		if err != nil {
			return err
		}
		own, err := w.NewContext()
		if err != nil {
			return err
		}
		over, lock := stoppedContext(ctx), pgas.LockOf(locks, w.PE())
		word, set := pgas.AtomicOf(words, 0), pgas.AtomicsOf(words.All()).Until(pgas.EQ, 0)
		for name, call := range map[string]func() error{
			"Quiet":                func() error { return w.Quiet(over) },
			"Context.Quiet":        func() error { return own.Quiet(over) },
			"Context.QuietPE":      func() error { return own.QuietPE(over, 1-w.PE()) },
			"Context.QuietLocal":   func() error { return own.QuietLocal(over) },
			"Sleep":                func() error { return w.Sleep(over, time.Nanosecond) },
			"Atomic.WaitUntil":     func() error { _, err := word.WaitUntil(over, pgas.EQ, 0); return err },
			"Atomic.WaitUntilPred": func() error { _, err := word.WaitUntilPred(over, pgas.EQ, 0, -1, 0); return err },
			"AtomicFloat":          func() error { _, err := pgas.AtomicFloatOf(floats, 0).WaitUntil(over, pgas.EQ, 0); return err },
			"SignalRef.WaitUntil":  func() error { _, err := pgas.SignalOf(signals, 0).WaitUntil(over, pgas.EQ, 0); return err },
			"WaitSet.WaitAll":      func() error { return set.WaitAll(over) },
			"WaitSet.WaitAny":      func() error { _, _, err := set.WaitAny(over); return err },
			"WaitSet.WaitSome":     func() error { _, err := set.WaitSome(over, nil); return err },
			"WaitSet.Arrivals":     func() error { return arrivalsOf(over, set) },
			"Lock":                 func() error { return lock.Lock(over) },
		} {
			if err := call(); !errors.Is(err, errStopped) {
				return fmt.Errorf("%s with a context that has ended: %v", name, err)
			}
		}
		if !lock.TryLock() {
			return errors.New("the lock has been taken all the same")
		}
		return lock.Unlock()
	})
}

func arrivalsOf(ctx context.Context, set *pgas.WaitSet[int64]) error {
	for i := range set.Arrivals(ctx) {
		return fmt.Errorf("word %d has arrived", i)
	}
	return set.Err()
}

// collectiveCalls returns collectives of a team by name. src and dst have an element for each member, large
// spans many pages.
func collectiveCalls(team *pgas.Team, dst, src, large, from pgas.Slice[int64]) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"Sync":            func(ctx context.Context) error { return team.Sync(ctx) },
		"Barrier":         func(ctx context.Context) error { return team.Barrier(ctx) },
		"SplitColor":      func(ctx context.Context) error { _, err := team.SplitColor(ctx, 0, 0); return err },
		"Destroy":         func(ctx context.Context) error { return team.Destroy(ctx) },
		"SumReduce":       func(ctx context.Context) error { return pgas.SumReduce(ctx, team, dst.Range(0, 1), src.Range(0, 1)) },
		"SumReduce large": func(ctx context.Context) error { return pgas.SumReduce(ctx, team, large, from) },
		"in order": func(ctx context.Context) error {
			return pgas.SumReduce(ctx, team, dst.Range(0, 1), src.Range(0, 1), pgas.Reproducible())
		},
		"FCollect": func(ctx context.Context) error { return pgas.FCollect(ctx, team, dst, src.Range(0, 1)) },
		"AllToAll": func(ctx context.Context) error { return pgas.AllToAll(ctx, team, dst, src) },
	}
}

// The context of one PE has ended when it calls a collective. It returns the cause, and every other member an error
// that names it; and so does every later call of the team, while other teams go on.
func TestEndedContextCollectives(t *testing.T) {
	onEvery(t, 4, func(ctx context.Context, w *pgas.World) error {
		mem, err := pgas.Alloc[int64](ctx, w, 2*w.NPEs()+20_000)
		if err != nil {
			return err
		}
		n := w.NPEs()
		dst, src, large, from := mem.Range(0, n), mem.Range(n, 2*n), mem.Range(2*n, 2*n+10_000), mem.Range(2*n+10_000, 2*n+20_000)
		names := []string{"Broadcast"}
		for name := range collectiveCalls(w.Team(), dst, src, large, from) {
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			team, err := w.Team().SplitStrided(ctx, 0, 1, n)
			if err != nil {
				return err
			}
			call := collectiveCalls(team, dst, src, large, from)[name]
			if name == "Broadcast" { // the root's context has ended: it waits for no member, others wait for it
				call = func(ctx context.Context) error {
					return pgas.Broadcast(ctx, team, dst.Range(0, 1), src.Range(0, 1), i%n)
				}
			}
			if err := oneEnds(ctx, w, i%n, name, call); err != nil {
				return err
			}
			if err := team.Sync(ctx); err == nil {
				return fmt.Errorf("after %s was given up, the team goes on", name)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// oneEnds makes the call with an ended context on PE quits, and checks the error of every PE.
func oneEnds(ctx context.Context, w *pgas.World, quits int, name string, call func(context.Context) error) error {
	if w.PE() == quits {
		if err := call(stoppedContext(ctx)); !errors.Is(err, errStopped) {
			return fmt.Errorf("%s with a context that has ended: %v", name, err)
		}
		return nil
	}
	err := call(ctx)
	var aborted *pgas.AbortedError
	if !errors.As(err, &aborted) || aborted.PE != quits || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), errStopped.Error()) {
		return fmt.Errorf("%s that PE %d has given up: %v", name, quits, err)
	}
	return nil
}

// Calls of all PEs of the job: they end the use of the World, and Close says so.
func TestEndedContextAlloc(t *testing.T) {
	for name, call := range map[string]func(context.Context, *pgas.World, pgas.Sym[int64]) error{
		"Alloc": func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error {
			_, err := pgas.Alloc[int64](ctx, w, 1)
			return err
		},
		"Realloc": func(ctx context.Context, _ *pgas.World, s pgas.Sym[int64]) error {
			_, err := s.Realloc(ctx, 9)
			return err
		},
		"Free":    func(ctx context.Context, _ *pgas.World, s pgas.Sym[int64]) error { return s.Free(ctx) },
		"Barrier": func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error { return w.Barrier(ctx) },
		"Sync":    func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error { return w.Sync(ctx) },
		"SumReduceNB": func(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
			return pgas.SumReduceNB(ctx, w.Team(), s.Range(0, 1), s.Range(1, 2)).Wait(context.Background()) //pgasvet:ok the collective has the context that ends
		},
	} {
		t.Run(name, func(t *testing.T) {
			var checked sync.WaitGroup
			checked.Add(3)
			limited, cancel := hang.Context(t.Context())
			defer cancel()
			err := pgastest.Goroutines(limited, 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				s, err := pgas.Alloc[int64](ctx, w, 4)
				if err != nil {
					return err
				}
				used := w.HeapUsage()
				if err := oneEnds(ctx, w, 1, name, func(ctx context.Context) error { return call(ctx, w, s) }); err != nil {
					return err
				}
				if now := w.HeapUsage(); now.InUse != used.InUse || s.At(0).Get(w.PE()) != 0 {
					return fmt.Errorf("the heap has changed: %+v, was %+v", now, used)
				}
				checked.Done()
				checked.Wait() // the error of Close would end the wait of another PE
				return nil
			})
			var aborted *pgas.AbortedError
			if !errors.As(err, &aborted) && !errors.Is(err, errStopped) { // PE 1 has its own
				t.Fatalf("the job ended with %v", err)
			}
		})
	}
}

// Contexts of some PEs end at random times around a collective. Either all members return nil, or all return an error.
func TestEndedContextKeepsStep(t *testing.T) {
	onEvery(t, 4, func(ctx context.Context, w *pgas.World) error {
		const rounds = 24
		n := w.NPEs()
		mem, err := pgas.Alloc[int64](ctx, w, 2*n+20_000)
		if err != nil {
			return err
		}
		outcomes, err := pgas.Alloc[int64](ctx, w, n)
		if err != nil {
			return err
		}
		dst, src, large, from := mem.Range(0, n), mem.Range(n, 2*n), mem.Range(2*n, 2*n+10_000), mem.Range(2*n+10_000, 2*n+20_000)
		calls := []string{"Sync", "Barrier", "SumReduce", "SumReduce large", "AllToAll", "in order"}
		var team *pgas.Team
		for round := range rounds {
			if team == nil {
				if team, err = w.Team().SplitStrided(ctx, n-1, -1, n); err != nil {
					return err
				}
			}
			name := calls[round%len(calls)]
			err := atRandom(ctx, w, collectiveCalls(team, dst, src, large, from)[name])
			outcome := int64(0)
			if err != nil {
				outcome, team = 1, nil
			}
			outcomes.At(w.PE()).Put(0, outcome)
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if w.PE() == 0 {
				if all := outcomes.Local(); slices.Min(all) != slices.Max(all) {
					return fmt.Errorf("round %d: %s failed (1) on some PEs only: %v; here: %v", round, name, all, err)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// atRandom makes a call at a random time, with a context that ends at a random time.
func atRandom(ctx context.Context, w *pgas.World, call func(context.Context) error) error {
	const most = 300 * time.Microsecond
	soon, cancel := ctx, func() {}
	if w.Random()%2 == 0 {
		soon, cancel = w.WithTimeout(ctx, time.Duration(w.Random()%uint64(most)))
	}
	defer cancel()
	if err := w.Sleep(ctx, time.Duration(w.Random()%uint64(most))); err != nil {
		return err
	}
	return call(soon)
}
