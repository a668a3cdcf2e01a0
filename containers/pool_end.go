package containers

// How the members of a WorkPool find out that no task is left.
//
// They vote in waves. In a wave every member votes once, at a moment at which it has no task: white, if it has run no
// task since its vote before; otherwise black. Votes go up a tree, the
// root knows the result of the wave, and starts the next one, down the tree, when all have voted. A wave in which all
// votes are white is the last one.
//
// That is right: consider a moment between two waves, when all have voted in the first and none in the second, and
// suppose that there is a task then, at a member or on its way to it. The member had no task when it voted in the first
// wave, so it has stolen since, and it runs one of the tasks that it steals at once, before it votes again. So its
// second vote is black, whatever becomes of the others. If all are white there was no task at that moment, and since
// only tasks make tasks, there is none later. The first vote of a run is black, as there is none before. Model:
// pool.pml.
//
// A member that has voted goes on trying to steal: what it runs then is told by its next vote.

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

type poolEnd struct {
	w        *pgas.World
	me       int
	children []int
	parent   int                   // the parent in the tree, -1 at the root
	down     pgas.Atomic[uint64]   // this member's word: the last wave that is over, and whether all is over
	up       []pgas.Atomic[uint64] // this member's words with the votes of its children and those below
	mine     pgas.Atomic[uint64]   // the place of this member's vote at the parent
	wave     uint64                // the vote that is under way
	waves    uint64                // votes so far
	voted    bool
	active   bool // a task has been run since the last vote
}

func newPoolEnd(m *carry.Members, control pgas.AtomicSlice[uint64]) poolEnd {
	e := poolEnd{w: m.World, me: m.Me, parent: -1, wave: 1, down: control.At(poolDown)}
	for i := range poolArity {
		if child := poolArity*m.Me + 1 + i; child < m.N {
			e.children = append(e.children, child)
			e.up = append(e.up, control.At(poolUp+i))
		}
	}
	if m.Me > 0 {
		e.parent = (m.Me - 1) / poolArity
		e.mine = control.At(poolUp + (m.Me-1)%poolArity)
	}
	return e
}

// begin begins a run.
func (e *poolEnd) begin() { e.active = true }

// restart begins with a wave that no member has begun yet, after a run that has ended before the last wave.
func (e *poolEnd) restart(wave uint64) { e.wave, e.voted = wave&(1<<63-1), false }

// step takes part in the wave under way, of a member that has no task. It reports whether anything has changed, and
// whether the run is finished.
func (e *poolEnd) step() (moved, finished bool) {
	if !e.voted {
		black, all := e.votes()
		if !all {
			return false, false
		}
		black = black || e.active
		e.active, e.voted = false, true
		e.waves++
		if e.parent < 0 {
			return true, e.next(!black)
		}
		e.mine.Set(e.parent, poolWave(e.wave, black))
	}
	if down := e.down.Fetch(e.me); down>>1 == e.wave {
		return true, e.next(down&1 != 0)
	}
	return false, false
}

// votes returns the votes of the children, if they have all voted.
func (e *poolEnd) votes() (black, all bool) {
	for _, up := range e.up {
		v := up.Fetch(e.me)
		if v>>1 != e.wave {
			return false, false
		}
		black = black || v&1 != 0
	}
	return black, true
}

// next tells the children that the wave is over, and begins the next one. It returns last.
func (e *poolEnd) next(last bool) bool {
	for _, child := range e.children {
		e.down.Set(child, poolWave(e.wave, last))
	}
	e.wave = (e.wave + 1) & (1<<63 - 1)
	e.voted = false
	return last
}

// poolWave returns the word of a wave and a bit.
func poolWave(wave uint64, bit bool) uint64 {
	if bit {
		return wave<<1 | 1
	}
	return wave << 1
}

// pause rests until the wave goes on, at the longest for the next step of idle.
func (e *poolEnd) pause(ctx context.Context, idle *pace) error {
	d := idle.step()
	if d == 0 {
		e.w.Yield()
		return context.Cause(ctx)
	}
	word, seen := e.down, e.down.Fetch(e.me)
	if !e.voted {
		for _, up := range e.up {
			if v := up.Fetch(e.me); v>>1 != e.wave {
				word, seen = up, v
				break
			}
		}
	}
	soon, cancel := e.w.WithTimeout(ctx, d)
	defer cancel()
	_, err := word.WaitUntil(soon, pgas.NE, seen)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
