package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
	"github.com/gopgas/gopgas/pgas/sim"
)

// makeALock allocates one with small budgets, so that they are used up.
func makeALock(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	return locks.AllocALock(ctx, w, locks.ALockOptions{RemoteBudget: 2, LocalBudget: 1})
}

//ci:ucx=nic
func TestALock(t *testing.T) { lockstest.Run(t, 4, lockstest.Excludes, makeALock) }

// twoHosts has PE 0, the home, and PE 1 on one host and all others on other ones. What CPUs and NICs do is not
// atomic.
var twoHosts = sim.Config{Topology: "host:2", Atomics: sim.Split}

//ci:weekly
func TestALockExplored(t *testing.T) {
	split := sim.Config{Atomics: sim.Split}
	explore(t, split, makeALock, "l l", "t l", "l t", "c t", "t c")
}

// TestALockUnifiedAdversaries: where the CPU of the home executes atomics, a fence does not wait, so only the order of
// the two operations with which a remote PE enters its queue is left.
func TestALockUnifiedAdversaries(t *testing.T) {
	lockstest.Adversaries(t, sim.Config{Topology: "host:1"}, 3, 6, 100, lockstest.Plan{"l"}, makeALock)
}

func TestALockAdversaries(t *testing.T) {
	for _, plan := range []string{"l", "lcc", "lct"} {
		t.Run(plan, func(t *testing.T) {
			lockstest.Adversaries(t, twoHosts, 5, 6, 100, lockstest.Plan{plan}, makeALock)
		})
	}
}

var alockMutants = []mutant.Bug{
	mutant.New("waits for both (Algorithm 4)", "alock.go", "ALockExplored/l_l",
		"l.other.Fetch(l.home) != 0 && l.victim", "l.other.Fetch(l.home) != 0 || l.victim",
	),
	mutant.New("does not write victim", "alock.go", "ALockExplored/l_l",
		"l.victim.Swap(l.home, l.cohort)", "_ = l.victim",
	),
	mutant.New("looks for the other cohort before it joins its own", "alock.go", "ALockExplored/l_l",
		"\tl.queue.tail.SwapNB(l.home, me, &l.came.before)\n", "",
		"\tl.other.FetchNB(l.home, &l.came.other)\n", "\tl.other.FetchNB(l.home, &l.came.other)\n\tl.w.Fence()\n\tl.queue.tail.SwapNB(l.home, me, &l.came.before)\n",
	),
	mutant.New("enters its queue and looks for the other cohort in any order", "alock.go", "ALockUnified",
		"\tl.w.Fence() // of two heads that come at the same time, one at least sees that the other wants the lock\n", "",
	),
	mutant.New("one queue for CPUs and NICs", "alock.go", "ALockExplored/l_t",
		"q.tail, q.next, q.status = ref.Locals()", "q.tail, q.next, q.status = ref.Remotes()",
		"l.other, l.victim = ref.Remotes()", "l.other, l.victim = ref.Locals()",
	),
	mutant.New("a head that gives up tells no successor", "alock.go", "ALock",
		"\t\t\tl.queue.leave(l.w.PE(), contend)\n",
		"\t\t\tl.queue.tail.CompareSwap(l.home, int64(l.w.PE())+1, 0)\n\t\t\tl.say(idle)\n",
	),
	mutant.New("a head that gives up lets its cohort begin a game of its own", "alock.go", "ALockSecondGo",
		"l.queue.leave(l.w.PE(), contend)", "l.queue.leave(l.w.PE(), compete)",
	),
	mutant.New("a head that goes on with a game writes victim again", "alock.go", "ALockSecondGo",
		"if word != contend {", "if true {",
	),
	mutant.New("passes the lock on without counting", "alock.go", "ALockBudget",
		"passed + l.left - 1", "passed + l.left",
	),
}

// overtaking has the PEs of two hosts lock again and again. No cohort may take the lock too often while the head
// of the other cohort lets it go first: at most until its budget is used up, and once more that often if
// it had let the other one go first just before that did.
func overtaking(budget int) sim.Body {
	const npes = 4
	var all [npes]*locks.ALock
	var inRow [2]int
	return func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocALock(ctx, w, locks.ALockOptions{RemoteBudget: budget, LocalBudget: budget})
		if err != nil {
			return err
		}
		all[w.PE()], inRow = l, [2]int{}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		us, them := w.PE()/2, 1-w.PE()/2
		for range 60 {
			if err := l.Lock(ctx); err != nil {
				return err
			}
			inRow[us], inRow[them] = inRow[us]+1, 0
			if !locks.Contends(all[2*them], all[0]) && !locks.Contends(all[2*them+1], all[0]) {
				inRow[us] = 0
			}
			if inRow[us] > 2*budget {
				return fmt.Errorf("a cohort with a budget of %d took the lock %d times while the other one waited", budget, inRow[us])
			}
			w.Yield()
			l.Unlock()
		}
		return nil
	}
}

func TestALockBudgetAdversaries(t *testing.T) {
	for _, budget := range []int{1, 3} {
		if _, err := sim.Run(t.Context(), twoHosts, 4, overtaking(budget)); err != nil {
			t.Error(err)
		}
		if err := sim.Seeds(t.Context(), twoHosts, 4, 50, overtaking(budget)); err != nil {
			t.Error(err)
		}
	}
}

// secondGo returns a body in which PE 0, the head of the local cohort with PE 1 behind it, lets the remote cohort
// go first. PE 3 waits behind PE 2, which has the lock and passes it on. That uses up the remote cohort's budget,
// so PE 3 lets the local cohort go first. PE 0 gives up about then. PE 1 goes on with the game of PE 0, so it gets
// the lock before PE 3.
func secondGo() sim.Body {
	var all [4]*locks.ALock
	var order []int
	var cancel context.CancelFunc
	return func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocALock(ctx, w, locks.ALockOptions{RemoteBudget: 1, LocalBudget: 1})
		if err != nil {
			return err
		}
		for range 10 {
			me := w.PE()
			all[me], order = l, nil
			impatient := ctx
			if me == 0 {
				impatient, cancel = context.WithCancel(ctx)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			steps := [4]func() bool{
				func() bool { return locks.Holds(all[2]) },
				func() bool { return locks.Contends(all[0], all[0]) },
				func() bool { return locks.Waits(all[1]) && locks.Waits(all[3]) },
				func() bool { return locks.Waits(all[1]) },
			}
			ready := steps[me]
			if me == 2 {
				ready = func() bool { return true }
			}
			for !ready() {
				w.Yield()
			}
			err := l.Lock(impatient)
			if err == nil {
				order = append(order, me)
			} else if me != 0 || ctx.Err() != nil {
				return err
			}
			if me == 2 {
				for !steps[2]() {
					w.Yield()
				}
				l.Unlock()
				if err := w.Sleep(ctx, time.Duration(w.Random()%60_000)); err != nil {
					return err
				}
				cancel()
			} else if err == nil {
				l.Unlock()
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if len(order) == 3 && order[1] == 3 {
				return errors.New("a cohort let the other one go first, and then once more when its head gave up")
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestALockSecondGo(t *testing.T) {
	if err := sim.Seeds(t.Context(), twoHosts, 4, 60, secondGo()); err != nil {
		t.Error(err)
	}
}

func TestALockDeaths(t *testing.T) { lockstest.Deaths(t, twoHosts, 4, 60, makeALock) }
