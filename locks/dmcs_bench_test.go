package locks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

type lockMaker struct {
	name string
	make lockstest.Maker
}

var ours = []lockMaker{
	{"Spin", makeSpin},
	{"SpinRW", makeSpinRW},
	{"D-MCS", makeDMCS},
	{"RMA-MCS", makeRMAMCS()},
	{"RMA-RW", makeRMARW(locks.RMARWOptions{})},
	{"ALock", makeALock},
	{"N-CoSED", makeNCoSED},
	{"DQNL", makeDQNL},
	{"name of a Service", makeNamed},
}

// BenchmarkUncontended is a lock and an unlock of the only PE, which has the lock's words.
func BenchmarkUncontended(b *testing.B) {
	for _, o := range ours {
		b.Run(o.name, func(b *testing.B) {
			alone(b, o.make, func(ctx context.Context, l locks.Lock) error {
				b.ReportAllocs()
				for b.Loop() {
					if err := l.Lock(ctx); err != nil {
						return err
					}
					l.Unlock()
				}
				return nil
			})
		})
	}
	b.Run("RMA-RW reader", func(b *testing.B) {
		alone(b, makeRMARW(locks.RMARWOptions{}), func(ctx context.Context, l locks.Lock) error {
			rw := l.(locks.RWLock)
			for b.Loop() {
				if err := rw.RLock(ctx); err != nil {
					return err
				}
				rw.RUnlock()
			}
			return nil
		})
	})
}

// BenchmarkContended is a lock and an unlock of each of two PEs that want the same lock all the time.
func BenchmarkContended(b *testing.B) {
	for _, o := range ours {
		b.Run(o.name, func(b *testing.B) {
			pgastest.Bench(b, 2, func(ctx context.Context, w *pgas.World, b *pgastest.B) error {
				l, err := o.make(ctx, w)
				if err != nil {
					return err
				}
				for b.Loop() {
					if err := l.Lock(ctx); err != nil {
						return err
					}
					l.Unlock()
				}
				return nil
			})
		})
	}
}

// alone runs body on a job of one PE.
func alone(t testing.TB, make lockstest.Maker, body func(context.Context, locks.Lock) error) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		l, err := make(ctx, w)
		if err != nil {
			return err
		}
		return body(ctx, l)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAllocs: a lock without contention allocates nothing.
func TestAllocs(t *testing.T) {
	for _, o := range ours {
		t.Run(o.name, func(t *testing.T) {
			alone(t, o.make, func(ctx context.Context, l locks.Lock) error {
				var failed error
				n := testing.AllocsPerRun(100, func() {
					failed = errors.Join(failed, l.Lock(ctx))
					l.Unlock()
					if rw, ok := l.(locks.RWLock); ok {
						failed = errors.Join(failed, rw.RLock(ctx))
						rw.RUnlock()
					}
				})
				if n != 0 {
					t.Errorf("%v allocations", n)
				}
				return failed
			})
		})
	}
}
