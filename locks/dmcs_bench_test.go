package locks_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// A lockMaker makes a lock of a kind, or a name of a Service.
type lockMaker struct {
	name string
	make lockstest.Maker
}

// ours are all locks that need no server.
var ours = append(makersOf(withoutServer()), lockMaker{"name of a Service", makeNamed})

// withoutServer returns the kinds that work alone.
func withoutServer() []kinds.Kind {
	return slices.DeleteFunc(kinds.All(), func(k kinds.Kind) bool { return k.Serves })
}

// makersOf returns a maker for each kind. The last PE has the words of the lock.
func makersOf(all []kinds.Kind) (makers []lockMaker) {
	for _, k := range all {
		makers = append(makers, lockMaker{k.Name, func(ctx context.Context, w *pgas.World) (locks.Lock, error) {
			l, _, err := k.Alloc(ctx, w, kinds.Options{Home: w.NPEs() - 1, RemoteBudget: 2, LocalBudget: 1})
			return l, err
		}})
	}
	return makers
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
	t.Setenv("PGAS_RACE", "plain") // what shows operations to the race detector allocates
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
