package sim_test

// Planted bugs. Each is one edit of a correct protocol, and must be found by adversaries and by exploration;
// what the latter prints must repeat the failure. The correct protocols must pass both.

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// A mutation is an edit of a protocol.
type mutation int

const (
	correct mutation = iota
	armAfterLinking
	clearNextAfterSwap
	reversedCompareSwap
	noFence
	noQuiet
	splitLock
	checkThenSet
)

// mcs is the queue lock of Mellor-Crummey and Scott: the tail is on PE 0, next and turn on each PE.
type mcs struct {
	w                *pgas.World
	m                mutation
	tail, next, turn pgas.Atomic[int64]
}

func newMCS(ctx context.Context, w *pgas.World, m mutation) (*mcs, error) {
	words, err := pgas.Alloc[int64](ctx, w, 3)
	if err != nil {
		return nil, err
	}
	return &mcs{w, m, pgas.AtomicOf(words, 0), pgas.AtomicOf(words, 1), pgas.AtomicOf(words, 2)}, nil
}

func (l *mcs) lock(ctx context.Context) error {
	me := l.w.PE()
	if l.m != clearNextAfterSwap {
		l.next.Swap(me, 0)
	}
	if l.m != armAfterLinking {
		l.turn.Swap(me, 0)
	}
	before := l.tail.Swap(0, int64(me+1))
	if l.m == clearNextAfterSwap {
		l.next.Swap(me, 0)
	}
	if before == 0 {
		return nil
	}
	l.next.Swap(int(before-1), int64(me+1))
	if l.m == armAfterLinking {
		l.turn.Swap(me, 0)
	}
	_, err := l.turn.WaitUntil(ctx, pgas.EQ, 1)
	return err
}

func (l *mcs) unlock(ctx context.Context) error {
	me := l.w.PE()
	next := l.next.Fetch(me)
	if next == 0 {
		cond, v := int64(me+1), int64(0)
		if l.m == reversedCompareSwap {
			cond, v = v, cond
		}
		if l.tail.CompareSwap(0, cond, v) == cond {
			return nil
		}
		var err error
		if next, err = l.next.WaitUntil(ctx, pgas.NE, 0); err != nil {
			return err
		}
	}
	l.turn.Swap(int(next-1), 1)
	return nil
}

var errTwoInside = errors.New("two PEs hold the lock")

// locked takes the lock a few times on every PE. inside counts the holders: PEs of the simulator may share
// variables.
func locked(m mutation, rounds int) func() sim.Body {
	return func() sim.Body {
		inside := 0
		return func(ctx context.Context, w *pgas.World) error {
			inside = 0
			l, err := newMCS(ctx, w, m)
			if err != nil {
				return err
			}
			sim.Start(ctx)
			for range rounds {
				if err := l.lock(ctx); err != nil {
					return err
				}
				sim.Shares(ctx)
				if inside++; inside > 1 {
					return errTwoInside
				}
				w.Yield()
				sim.Shares(ctx)
				inside--
				if err := l.unlock(ctx); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// message sends data and then a flag.
func message(m mutation) func() sim.Body {
	return func() sim.Body {
		return func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 2)
			if err != nil {
				return err
			}
			flag := pgas.AtomicOf(words, 1)
			sim.Start(ctx)
			if w.PE() == 0 {
				words.At(0).Put(1, 42)
				if m != noFence {
					w.Fence()
				}
				flag.Set(1, 1)
				return nil
			}
			if w.PE() > 1 {
				return nil
			}
			if _, err := flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
				return err
			}
			sim.Shares(ctx) // its own memory
			if got := words.Local()[0]; got != 42 {
				return fmt.Errorf("the flag came before the data: %d", got)
			}
			return nil
		}
	}
}

// relay sends data to PE 2 and tells PE 1, which looks at it: a fence is not enough.
func relay(m mutation) func() sim.Body {
	return func() sim.Body {
		return func(ctx context.Context, w *pgas.World) error {
			words, err := pgas.Alloc[int64](ctx, w, 2)
			if err != nil {
				return err
			}
			flag := pgas.AtomicOf(words, 1)
			sim.Start(ctx)
			switch w.PE() {
			case 0:
				words.At(0).Put(2, 42)
				if m == noQuiet {
					w.Fence()
				} else if err := w.Quiet(ctx); err != nil {
					return err
				}
				flag.Set(1, 1)
			case 1:
				if _, err := flag.WaitUntil(ctx, pgas.EQ, 1); err != nil {
					return err
				}
				if got := words.At(0).Get(2); got != 42 {
					return fmt.Errorf("the news came before the data: %d", got)
				}
			}
			return nil
		}
	}
}

// spin runs a lock of compare-swaps at PE 0, whose own are the CPU's if the lock is split. checkThenSet looks
// first and sets later.
func spin(m mutation) func() sim.Body {
	return func() sim.Body {
		inside := 0
		return func(ctx context.Context, w *pgas.World) error {
			inside = 0
			words, err := pgas.Alloc[int64](ctx, w, 1)
			if err != nil {
				return err
			}
			word := pgas.AtomicOf(words, 0)
			if m == splitLock && w.PE() == 0 {
				c, err := w.NewContext(pgas.ByCPU())
				if err != nil {
					return err
				}
				word = word.On(c)
			}
			sim.Start(ctx)
			for {
				if m == checkThenSet {
					if word.Fetch(0) == 0 {
						word.Swap(0, 1)
						break
					}
				} else if word.CompareSwap(0, 0, 1) == 0 {
					break
				}
				w.Yield()
			}
			sim.Shares(ctx)
			if inside++; inside > 1 {
				return errTwoInside
			}
			w.Yield()
			sim.Shares(ctx)
			inside--
			word.Swap(0, 0)
			return nil
		}
	}
}

var protocols = []struct {
	name string
	npes int
	body func() sim.Body
	bad  bool
}{
	{"mcs", 3, locked(correct, 1), false},
	{"mcs twice", 2, locked(correct, 2), false},
	{"message", 2, message(correct), false},
	{"relay", 3, relay(correct), false},
	{"spin", 3, spin(correct), false},
	{"mcs arms its flag after linking", 2, locked(armAfterLinking, 1), true},
	{"mcs clears next after the swap", 2, locked(clearNextAfterSwap, 1), true},
	{"mcs with reversed compare-swap", 2, locked(reversedCompareSwap, 1), true},
	{"message without a fence", 2, message(noFence), true},
	{"relay without a quiet", 3, relay(noQuiet), true},
	{"spin by CPU and NIC", 2, spin(splitLock), true},
	{"spin that checks and then sets", 2, spin(checkThenSet), true},
}

func TestExplore(t *testing.T) {
	for _, p := range protocols {
		for _, reduce := range []bool{false, true} {
			if testing.Short() && !reduce && !p.bad {
				continue // every schedule, which takes long under the race detector
			}
			t.Run(fmt.Sprintf("%s/reduce=%t", p.name, reduce), func(t *testing.T) {
				cfg := sim.Config{Atomics: sim.Split, Reduce: reduce}
				e, err := sim.Explore(t.Context(), cfg, p.npes, p.body())
				t.Logf("%+v", e)
				if !p.bad {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				var f *sim.Failure
				if !errors.As(err, &f) {
					t.Fatalf("not found: %v", err)
				}
				t.Log(err)
				t.Logf("caught by exploration: %v", f.Err)
				again := sim.Replay(t.Context(), cfg, p.npes, f.Schedule, p.body())
				var g *sim.Failure
				if !errors.As(again, &g) || g.Err.Error() != f.Err.Error() || fmt.Sprint(g.Steps) != fmt.Sprint(f.Steps) {
					t.Fatalf("the schedule repeats something else: %v", again)
				}
			})
		}
	}
}

func TestAdversary(t *testing.T) {
	const seeds = 200
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			cfg := sim.Config{Atomics: sim.Split}
			err := sim.Seeds(t.Context(), cfg, p.npes, seeds, p.body())
			if !p.bad {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var f *sim.Failure
			if !errors.As(err, &f) {
				t.Fatalf("not found: %v", err)
			}
			t.Logf("caught by the adversary of seed %d: %v", f.Seed, f.Err)
			cfg.Seed, cfg.Adversary = f.Seed, true
			_, again := sim.Run(t.Context(), cfg, p.npes, p.body())
			if again == nil || again.Error() != err.Error() {
				t.Fatalf("seed %d repeats something else: %v, was %v", f.Seed, again, err)
			}
		})
	}
}
