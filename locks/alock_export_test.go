package locks

// Broken copies of ALock, one edit each, for tests that must find them.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// ALockFlaw is an edit.
type ALockFlaw int

const (
	Flawless     ALockFlaw = iota
	WaitsForBoth           // waits as Algorithm 4 says: for the other cohort to go and for victim
	NeverYields            // does not write victim
	LooksFirst             // looks for the other cohort before it joins its queue
	OneQueue               // both cohorts are in one queue
	Spends0                // passes the lock on without counting
	LeavesQuiet            // leaves without telling the next one when it gives up against the other cohort
)

type flawedALock struct {
	*ALock
	flaw ALockFlaw
}

// AllocFlawedALock allocates an ALock with a flaw.
func AllocFlawedALock(ctx context.Context, w *pgas.World, o ALockOptions, flaw ALockFlaw) (Lock, error) {
	l, err := AllocALock(ctx, w, o)
	if err != nil {
		return nil, err
	}
	if flaw == OneQueue {
		l.queue.tail = l.state.Remotes()
		if l.cohort == localCohort {
			l.queue.tail = l.queue.tail.On(cpuOf(l))
		}
		l.other = l.state.Locals()
	}
	return &flawedALock{l, flaw}, nil
}

// cpuOf opens another context for l's PE.
func cpuOf(l *ALock) *pgas.Context {
	c, err := l.w.NewContext(pgas.ByCPU)
	if err != nil {
		panic(err)
	}
	return c
}

// Lock is ALock.Lock, with the flaw.
func (l *flawedALock) Lock(ctx context.Context) error {
	if err := l.turns.enter(ctx); err != nil {
		return err
	}
	alone := l.flaw == LooksFirst && l.other.Fetch(l.home) == 0
	word, err := l.queue.enter(ctx)
	if err == nil && !(alone && word == 0) {
		err = l.win(ctx, word)
	}
	if err != nil {
		l.turns.leave()
		return err
	}
	l.left = max(l.left, 1)
	l.turns.got()
	return nil
}

func (l *flawedALock) win(ctx context.Context, word int64) error {
	if word >= passed {
		l.left = word - passed
		return nil
	}
	l.left = l.budget
	if l.other.Fetch(l.home) == 0 && l.flaw != WaitsForBoth {
		if word != 0 {
			l.say(passed + l.left)
		}
		return nil
	}
	l.say(contend)
	if word != contend && l.flaw != NeverYields {
		l.victim.Swap(l.home, l.cohort)
	}
	if err := l.await(ctx); err != nil {
		if l.flaw == LeavesQuiet {
			l.queue.tail.CompareSwap(l.home, int64(l.w.PE())+1, 0)
			l.say(idle)
			return err
		}
		l.queue.leave(l.w.PE(), contend)
		return err
	}
	l.say(passed + l.left)
	return nil
}

func (l *flawedALock) await(ctx context.Context) error {
	look := look{far: l.cohort == remoteCohort}
	for {
		wanted, mine := l.other.Fetch(l.home) != 0, l.victim.Fetch(l.home) == l.cohort
		if l.flaw == WaitsForBoth && !wanted && !mine || l.flaw != WaitsForBoth && (!wanted || !mine) {
			return nil
		}
		if err := look.again(ctx, l.w, l.queue.mine.status, contend); err != nil {
			return err
		}
	}
}

// Unlock is ALock.Unlock, with the flaw.
func (l *flawedALock) Unlock() {
	if l.flaw == Spends0 {
		l.left = l.budget + 1
	}
	l.ALock.Unlock()
}

// Contends says whether l's PE is the head of its cohort and has let the other one go first. home is the
// handle of the home's PE. It looks at the simulator's memory.
func Contends(l, home Lock) bool {
	a := l.(*flawedALock).ALock
	return a.state.Local().Status == contend && home.(*flawedALock).state.Local().Victim == a.cohort
}
