package lockstest

// Locks in the simulator. PEs there may share variables, so exclusion is seen at once, in the order of
// events in which it breaks.

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// Act is what a PE does with the lock, once.
type Act byte

const (
	Locks    Act = 'l' // Lock, Unlock
	GivesUp  Act = 'c' // the same with a deadline, which may come at any time while it waits
	Tries    Act = 't' // TryLock, and Unlock if it got it
	Reads    Act = 'r' // RLock, RUnlock
	GivesUpR Act = 'q' // the same with a deadline
	TriesR   Act = 's' // TryRLock
)

// Plan is what each PE does: a string of acts for each. "lc ll" has PE 0 lock and then lock with a
// deadline, and PE 1 lock twice.
type Plan []string

// room is the critical section.
type room struct{ readers, writers int }

func (r *room) enter(a Act) error {
	switch a {
	case Reads, GivesUpR, TriesR:
		r.readers++
	default:
		r.writers++
	}
	if r.writers > 1 || r.writers == 1 && r.readers > 0 {
		return fmt.Errorf("%d writers and %d readers are inside", r.writers, r.readers)
	}
	return nil
}

func (r *room) leave(a Act) {
	switch a {
	case Reads, GivesUpR, TriesR:
		r.readers--
	default:
		r.writers--
	}
}

// Program is the plan as a program of the simulator, for tests that expect it to fail.
func Program(plan Plan, rounds int, make Maker) sim.Body { return body(plan, rounds, make) }

// body has the PEs follow the plan; those with many acts do them rounds times.
func body(plan Plan, rounds int, make Maker) sim.Body {
	inside := new(room)
	return func(ctx context.Context, w *pgas.World) error {
		*inside = room{}
		l, err := make(ctx, w)
		if err != nil {
			return err
		}
		sim.Start(ctx)
		for range rounds {
			for _, a := range []byte(plan[w.PE()%len(plan)]) {
				if err := act(ctx, w, l, Act(a), inside); err != nil {
					return fmt.Errorf("%q: %w", a, err)
				}
			}
		}
		return nil
	}
}

func act(ctx context.Context, w *pgas.World, l locks.Lock, a Act, inside *room) error {
	if got, err := take(ctx, w, l, a); err != nil || !got {
		return err
	}
	if err := inside.enter(a); err != nil {
		return err
	}
	w.Yield()
	inside.leave(a)
	switch a {
	case Reads, GivesUpR, TriesR:
		l.(locks.RWLock).RUnlock()
	default:
		l.Unlock()
	}
	return nil
}

// take gets the lock as a says, or gives up.
func take(ctx context.Context, w *pgas.World, l locks.Lock, a Act) (got bool, err error) {
	switch a {
	case Tries:
		return l.TryLock(), nil
	case TriesR:
		return l.(locks.RWLock).TryRLock(), nil
	case Locks:
		return true, l.Lock(ctx)
	case Reads:
		return true, l.(locks.RWLock).RLock(ctx)
	}
	soon, cancel := w.WithTimeout(ctx, time.Duration(1+w.Random()%30_000))
	defer cancel()
	if a == GivesUp {
		err = l.Lock(soon)
	} else {
		err = l.(locks.RWLock).RLock(soon)
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// Adversaries runs the plan with PEs that take any time for anything, with the given number of seeds.
func Adversaries(t *testing.T, cfg sim.Config, npes, rounds, seeds int, plan Plan, make Maker) {
	t.Helper()
	if err := sim.Seeds(t.Context(), cfg, npes, seeds, body(plan, rounds, make)); err != nil {
		t.Fatal(err)
	}
}

// Explore runs the plan in every order of events there is. The number of PEs is that of the plan.
func Explore(t *testing.T, cfg sim.Config, plan Plan, make Maker) {
	t.Helper()
	e, err := sim.Explore(t.Context(), cfg, len(plan), body(plan, 1, make))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %+v", plan, e)
}
