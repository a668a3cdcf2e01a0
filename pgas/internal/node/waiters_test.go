package node_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// oneProcessor is what a process has that is bound to one CPU.
const oneProcessor = "GOMAXPROCS=1"

// TestHandOvers: goroutines of a PE that wait for each other do so while they look. If each kept the only
// processor until it has looked for long enough, there would be a wait in vain for each hand-over.
func TestHandOvers(t *testing.T) {
	const rounds = 500
	for _, env := range [][]string{{oneProcessor}, {oneProcessor, "PGAS_SPIN=10us"}} {
		for _, k := range []int{2, 3, 8} {
			t.Run(fmt.Sprint(env[1:], k), func(t *testing.T) {
				pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) error {
					s, err := pgas.Alloc[int64](ctx, w, k)
					if err != nil {
						return err
					}
					before := private.Node(w).PolledInVain()
					if err := handRound(ctx, w, pgas.AtomicsOf(s.All()), rounds); err != nil {
						return err
					}
					if n := private.Node(w).PolledInVain() - before; n > rounds/5 {
						return fmt.Errorf("%d waits for %d hand-overs have looked in vain", n, rounds*k)
					}
					return w.Barrier(ctx)
				}, env...)
			})
		}
	}
}

// handRound lets a goroutine for each word wait for its own and set the next, in a ring.
func handRound(ctx context.Context, w *pgas.World, words pgas.AtomicSlice[int64], rounds int64) error {
	done := make(chan error, words.Len())
	for g := range words.Len() {
		go func() {
			for i := range rounds {
				if _, err := words.At(g).WaitUntil(ctx, pgas.GT, i); err != nil {
					done <- fmt.Errorf("goroutine %d in round %d: %w", g, i, err)
					return
				}
				if g < words.Len()-1 {
					words.At(g+1).Set(w.PE(), i+1)
				} else if i+1 < rounds {
					words.At(0).Set(w.PE(), i+2)
				}
			}
			done <- nil
		}()
	}
	words.At(0).Set(w.PE(), 1)
	for range words.Len() {
		if err := <-done; err != nil {
			return err
		}
	}
	return nil
}

// TestStandBy: a goroutine that does not sleep because another looks is woken by an update of its word by
// another PE, and by the end of its context. The other one looks until then, for as long as it takes.
func TestStandBy(t *testing.T) {
	for _, wake := range []string{"update", "context"} {
		t.Run(wake, func(t *testing.T) {
			pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) error {
				s, err := pgas.Alloc[int64](ctx, w, 2)
				if err != nil {
					return err
				}
				word, asked := pgas.AtomicOf(s, 0), pgas.AtomicOf(s, 1)
				switch {
				case w.PE() == 0 && wake == "update":
					err = standBy(ctx, w, s, func() { asked.Set(1, 1) }, nil)
				case w.PE() == 0:
					short, cancel := context.WithCancel(ctx)
					defer cancel()
					err = standBy(short, w, s, cancel, context.Canceled)
				case wake == "update":
					if _, err = asked.WaitUntil(ctx, pgas.EQ, 1); err == nil {
						word.Set(0, 1)
					}
				}
				return errors.Join(err, w.Barrier(ctx))
			}, oneProcessor)
		})
	}
}

// park waits for word 0 of s in a goroutine that stands by, calls wake, and expects the wait to end
// with want.
func standBy(ctx context.Context, w *pgas.World, s pgas.Sym[int64], wake func(), want error) error {
	stood, looked := make(chan error, 1), make(chan error, 1)
	before := private.Node(w).Slept()
	go func() {
		_, err := pgas.AtomicOf(s, 0).WaitUntil(ctx, pgas.EQ, 1)
		stood <- err
	}()
	for private.Node(w).Slept() == before {
		runtime.Gosched()
	}
	private.Node(w).PollForever()
	look := pgas.AtomicOf(s, 1)
	go func() {
		_, err := look.WaitUntil(context.Background(), pgas.EQ, 2) //pgasvet:ok this wait is to outlast the other
		looked <- err
	}()
	for private.Node(w).Parked() == 0 {
		runtime.Gosched()
	}
	wake()
	if err := <-stood; !errors.Is(err, want) {
		return fmt.Errorf("the wait ended with %v", err)
	}
	look.Set(w.PE(), 2)
	return <-looked
}

// TestYieldsEnd: a waiter that yields notices between two yields that its context has ended. On a busy machine each
// yield lets other programs compute.
func TestYieldsEnd(t *testing.T) {
	pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		private.Node(w).PollForever()
		over := errors.New("over")
		ended, cancel := context.WithCancelCause(ctx)
		cancel(over)
		if _, err := pgas.AtomicOf(s, 0).WaitUntil(ended, pgas.EQ, 1); !errors.Is(err, over) {
			return fmt.Errorf("the wait ended with %v", err)
		}
		return w.Barrier(ctx)
	})
}
