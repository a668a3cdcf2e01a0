package containers

// What a member waits for while items travel: a row of signals, which other members set, and what each of them said
// when this member last looked. A flow has room for the signals of several rings and of a census, so that one wait
// covers all.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// flow is a row of signals of this member.
type flow struct {
	place, n int
	object   uint64 // tells what the flow belongs to from others
	signals  pgas.SignalSlice
	seen     []uint64 // each signal's value when this member last looked
	changed  *pgas.WaitSet[uint64]
	list     []int // of look
}

// newFlow reserves n signals.
func newFlow(mem *memory, n int) *flow {
	return &flow{place: reserve[pgas.Signal](mem, n), n: n}
}

// bind clears the signals. What shares the flow binds it, too, before it sets any.
func (f *flow) bind(mem *memory) {
	if f.changed != nil {
		return
	}
	f.object = mem.lines.All().Offset() + uint64(f.place)
	f.seen = make([]uint64, f.n)
	f.signals = pgas.SignalsOf(cleared[pgas.Signal](mem, f.place, f.n))
	f.changed = f.signals.UntilEach(pgas.NE, f.seen)
}

// look looks at all signals.
func (f *flow) look() {
	f.list = f.changed.TestSome(f.list[:0])
	for _, i := range f.list {
		f.lookAt(i)
	}
}

// lookAt looks at signal i, and returns it.
func (f *flow) lookAt(i int) uint64 {
	f.seen[i] = f.signals.At(i).Fetch()
	return f.seen[i]
}

// wait blocks until a signal differs from what this member saw when it last looked. The member has acted on what it
// saw.
func (f *flow) wait(ctx context.Context) error {
	_, _, err := f.changed.WaitAny(ctx)
	return err
}
