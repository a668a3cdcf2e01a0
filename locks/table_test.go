package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

var tableKinds = []struct {
	name string
	kind locks.TableKind
}{{"ALock", locks.TableALock}, {"MCS", locks.TableMCS}, {"spin", locks.TableSpin}, {"DQNL", locks.TableDQNL}}

// TestTableLocks has the last lock of a table, whose home is not PE 0, pass what every lock must.
func TestTableLocks(t *testing.T) {
	for _, k := range tableKinds {
		t.Run(k.name, func(t *testing.T) {
			lockstest.Run(t, 4, lockstest.Excludes, inTable(k.kind))
		})
	}
}

func TestTableLocksSimulated(t *testing.T) {
	for _, k := range tableKinds {
		t.Run(k.name, func(t *testing.T) {
			lockstest.Adversaries(t, twoHosts, 5, 6, 50, lockstest.Plan{"lct"}, inTable(k.kind))
			lockstest.Deaths(t, twoHosts, 4, 40, inTable(k.kind))
		})
	}
}

func inTable(kind locks.TableKind) lockstest.Maker {
	return func(ctx context.Context, w *pgas.World) (locks.Lock, error) {
		t, err := locks.AllocTable(ctx, w, 4, locks.TableOptions{Kind: kind})
		if err != nil {
			return nil, err
		}
		return t.Lock(3), nil
	}
}

// endingContext ends when its Err is called for the n-th time.
type endingContext struct {
	context.Context
	n int
}

func (c *endingContext) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestTableSpinGivesUp has a PE that wants a held spin lock give up each time it looks at its context.
func TestTableSpinGivesUp(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		l, err := inTable(locks.TableSpin)(ctx, w)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			err = l.Lock(ctx)
		}
		if err := errors.Join(err, w.Barrier(ctx)); err != nil {
			return err
		}
		for n := 0; w.PE() == 1 && n < 10; n++ {
			if err := l.Lock(&endingContext{ctx, n}); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("with a context that ends when it is looked at for the %dth time, Lock returned %v", n+1, err)
			}
			if l.Waiting() != 0 {
				return fmt.Errorf("a PE whose context ended when it was looked at for the %dth time seems to wait", n+1)
			}
		}
		if err := w.Barrier(ctx); err != nil || w.PE() == 1 {
			return err
		}
		l.Unlock()
		return nil
	})
}

// TestTableWork has every PE add to words that the locks of a table protect, near ones more often.
func TestTableWork(t *testing.T) {
	for _, k := range tableKinds {
		t.Run(k.name, func(t *testing.T) {
			body := func(ctx context.Context, w *pgas.World) error { return addUnderTable(ctx, w, k.kind) }
			pgastest.RunGoroutines(t, 4, body)
			pgastest.RunProcesses(t, 4, body)
			pgastest.RunHosts(t, 4, 2, body)
		})
	}
}

func addUnderTable(ctx context.Context, w *pgas.World, kind locks.TableKind) error {
	const n, rounds = 6, 200
	t, err := locks.AllocTable(ctx, w, n, locks.TableOptions{Kind: kind})
	if err != nil {
		return err
	}
	sums, err := pgas.Alloc[int64](ctx, w, n)
	if err != nil {
		return err
	}
	for range rounds {
		i := t.Pick(0.7)
		if err := t.Lock(i).Lock(ctx); err != nil {
			return err
		}
		sum := sums.At(i)
		sum.Put(t.Home(i), sum.Get(t.Home(i))+1)
		t.Lock(i).Unlock()
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	total := int64(0)
	for i := range t.Len() {
		total += sums.At(i).Get(t.Home(i))
	}
	if want := int64(rounds * w.NPEs()); total != want {
		return fmt.Errorf("%d were added under the locks, want %d", total, want)
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return t.Free(ctx)
}

// TestTableSpread: every host has as many locks, every PE of a host too, and what is near is on this host.
func TestTableSpread(t *testing.T) {
	const hosts, each, n = 5, 4, 40
	cfg := sim.Config{Topology: fmt.Sprintf("host:%d", each)}
	_, err := sim.Run(t.Context(), cfg, hosts*each, func(ctx context.Context, w *pgas.World) error {
		t, err := locks.AllocTable(ctx, w, n, locks.TableOptions{})
		if err != nil {
			return err
		}
		if len(t.Near()) != n/hosts || len(t.Far()) != n-n/hosts {
			return fmt.Errorf("%d locks are near and %d far", len(t.Near()), len(t.Far()))
		}
		homes := map[int]int{}
		for i := range t.Len() {
			homes[t.Home(i)]++
		}
		for pe := range w.NPEs() {
			if homes[pe] != n/hosts/each {
				return fmt.Errorf("PE %d has %d locks, want %d", pe, homes[pe], n/hosts/each)
			}
		}
		for _, i := range t.Near() {
			if w.HostOf(t.Home(i)) != w.Host() {
				return fmt.Errorf("lock %d is on PE %d, which is not near", i, t.Home(i))
			}
		}
		return picks(w, t)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// picks compares what Pick picks with what it was told: the numbers follow from the seed.
func picks(w *pgas.World, t *locks.Table) error {
	const tries = 10_000
	for _, locality := range []float64{0, 0.85, 1} {
		near := 0
		for range tries {
			if w.HostOf(t.Home(t.Pick(locality))) == w.Host() {
				near++
			}
		}
		if got := float64(near) / tries; got < locality-0.03 || got > locality+0.03 {
			return fmt.Errorf("%v of the picks are near, want %v", got, locality)
		}
	}
	return nil
}
