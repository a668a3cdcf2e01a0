package carry

// What a member waits for while items travel: a row of signals, which other members set, and what each of them said
// when this member last looked. A flow has room for the signals of several rings and of a census, so that one wait
// covers all.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Flow is a row of signals of this member.
type Flow struct {
	place, n int
	Object   uint64 // a number that no other flow has, for pgas.Team.Joint
	signals  pgas.SignalSlice
	seen     []uint64 // each signal's value when this member last looked
	changed  *pgas.WaitSet[uint64]
	list     []int // the signals that the last look found changed
}

// NewFlow reserves n signals.
func NewFlow(mem *Memory, n int) *Flow {
	return &Flow{place: Reserve[pgas.Signal](mem, n), n: n}
}

// Bind clears the signals. What shares the flow binds it, too, before it sets any.
func (f *Flow) Bind(mem *Memory) {
	if f.changed != nil {
		return
	}
	f.Object = mem.Object() + uint64(f.place)
	f.seen = make([]uint64, f.n)
	f.signals = pgas.SignalsOf(Cleared[pgas.Signal](mem, f.place, f.n))
	f.changed = f.signals.UntilEach(pgas.NE, f.seen)
}

// Look looks at all signals.
func (f *Flow) Look() {
	f.list = f.changed.TestSome(f.list[:0])
	for _, i := range f.list {
		f.lookAt(i)
	}
}

// lookAt looks at signal i, and returns it.
func (f *Flow) lookAt(i int) uint64 {
	f.seen[i] = f.signals.At(i).Fetch()
	return f.seen[i]
}

// Wait blocks until a signal differs from what this member saw when it last looked. The member has acted on what it
// saw.
func (f *Flow) Wait(ctx context.Context) error {
	_, _, err := f.changed.WaitAny(ctx)
	return err
}
