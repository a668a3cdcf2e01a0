package lockstest

// Locks in the simulator. Its PEs may share variables, so exclusion is seen at once, in the order of
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

// room is the critical section. It knows the PEs inside, and what is written on PE 0.
type room struct {
	readers, writers int
	written          int64
}

// Where PE 0 has what writers write. It is no atomic: what a lock does not complete is lost.
func (r *room) write(page pgas.Ref[int64]) error {
	if got := page.Get(0); got != r.written {
		return fmt.Errorf("a writer found %d, the last one wrote %d", got, r.written)
	}
	r.written++
	page.Put(0, r.written)
	return nil
}

func (r *room) read(page pgas.Ref[int64]) error {
	if got := page.Get(0); got != r.written {
		return fmt.Errorf("a reader found %d, the last writer wrote %d", got, r.written)
	}
	return nil
}

func (a Act) reads() bool { return a == Reads || a == GivesUpR || a == TriesR }

func (r *room) enter(a Act) error {
	if a.reads() {
		r.readers++
	} else {
		r.writers++
	}
	if r.writers > 1 || r.writers == 1 && r.readers > 0 {
		return fmt.Errorf("%d writers and %d readers are inside", r.writers, r.readers)
	}
	return nil
}

func (r *room) leave(a Act) {
	if a.reads() {
		r.readers--
	} else {
		r.writers--
	}
}

// body makes the PEs follow the plan, rounds times. With writing, they also write to memory inside, which is
// more to explore than one can wait for.
func body(plan Plan, rounds int, writing bool, make Maker) sim.Body {
	inside := new(room)
	return func(ctx context.Context, w *pgas.World) error {
		*inside = room{}
		l, err := make(ctx, w)
		if err != nil {
			return err
		}
		page, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		sim.Start(ctx)
		for range rounds {
			for _, a := range []byte(plan[w.PE()%len(plan)]) {
				work := w.Yield
				var wrong error
				if writing {
					work = func() { wrong = inside.work(Act(a), page.At(0)) }
				}
				err := act(ctx, w, l, Act(a), inside, work)
				if err := errors.Join(err, wrong); err != nil {
					return fmt.Errorf("%q: %w", a, err)
				}
			}
		}
		return nil
	}
}

func (r *room) work(a Act, page pgas.Ref[int64]) error {
	if a.reads() {
		return r.read(page)
	}
	return r.write(page)
}

func act(ctx context.Context, w *pgas.World, l locks.Lock, a Act, inside *room, work func()) error {
	if got, err := take(ctx, w, l, a); err != nil || !got {
		return err
	}
	sim.Shares(ctx)
	if err := inside.enter(a); err != nil {
		return err
	}
	work()
	sim.Shares(ctx)
	inside.leave(a)
	if a.reads() {
		l.(locks.RWLock).RUnlock()
	} else {
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
	if cfg.MaxEvents == 0 {
		cfg.MaxEvents = 1_000_000 // some run in circles where others stand still
	}
	if err := sim.Seeds(t.Context(), cfg, npes, fewer(seeds), body(plan, rounds, true, make)); err != nil {
		t.Fatal(err)
	}
}

// fewer returns the number of seeds to try: all, or some in short runs, which are for the race detector.
func fewer(seeds int) int {
	if testing.Short() {
		return max(1, seeds/10)
	}
	return seeds
}

// Deaths makes PE 1 die at any moment of a run in which all PEs want the lock. All others must learn of
// it, by name, and none may hang.
func Deaths(t *testing.T, cfg sim.Config, npes, seeds int, make Maker) {
	t.Helper()
	cfg.Adversary, cfg.MaxEvents = true, 1_000_000
	for seed := range uint64(fewer(seeds)) {
		cfg.Seed = seed
		cfg.Deaths = []sim.Death{{PE: 1, At: joined + time.Duration(seed)*20*time.Microsecond}}
		_, err := sim.Run(t.Context(), cfg, npes, func(ctx context.Context, w *pgas.World) error {
			return learnsOfDeath(ctx, w, make)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// joined is when all PEs have surely joined the job.
const joined = 5 * time.Millisecond

// enough is when the death of any PE has been known for long.
const enough = 500 * time.Millisecond

// learnsOfDeath locks and unlocks until PE 1 has died. A PE that never has to wait does not learn of it by the lock.
func learnsOfDeath(ctx context.Context, w *pgas.World, make Maker) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = aboutPE1(p)
		default:
			panic(p)
		}
	}()
	l, err := make(ctx, w)
	for err == nil && w.Now() < enough {
		if err = l.Lock(ctx); err == nil {
			l.Unlock()
		}
	}
	if err == nil {
		err = w.Barrier(ctx)
	}
	return aboutPE1(err)
}

func aboutPE1(err error) error {
	var peer *pgas.PeerError
	if errors.As(err, &peer) && peer.PE == 1 {
		return nil
	}
	return fmt.Errorf("PE 1 has died, and this is not about it: %w", err)
}

// Explore runs the plan in every order of events there is, or that matters (sim.Config.Reduce). The number of
// PEs is that of the plan.
func Explore(t *testing.T, cfg sim.Config, plan Plan, make Maker) {
	t.Helper()
	if testing.Short() {
		t.Skip("short tests are for the race detector, to which one PE at a time is dull, and slow")
	}
	e, err := sim.Explore(t.Context(), cfg, len(plan), body(plan, 1, false, make))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %+v", plan, e)
}
