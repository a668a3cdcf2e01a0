package containers

// What a member waits for while items travel: a row of signals, which other members set, and what each of them said when
// this member last looked. A flow has room for the signals of several rings and of a census, so that one wait covers all.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// flow is a row of signals of this member.
type flow struct {
	row     pgas.Sym[pgas.Signal]
	signals pgas.SignalSlice
	seen    []uint64 // each signal's value when this member last looked
	changed *pgas.WaitSet[uint64]
}

// newFlow allocates n signals on every PE. It is collective over all PEs of the job.
func newFlow(ctx context.Context, m *members, over bool, n int) (*flow, error) {
	row, err := allocate[pgas.Signal](ctx, m, over, n)
	if err != nil {
		return nil, err
	}
	f := &flow{row: row}
	if m.team != nil {
		f.seen = make([]uint64, n)
		f.signals = pgas.SignalsOf(row.Range(0, n))
		f.changed = f.signals.UntilEach(pgas.NE, f.seen)
	}
	return f, nil
}

// look looks at all signals.
func (f *flow) look() {
	for i := range f.seen {
		f.lookAt(i)
	}
}

// lookAt looks at signal i, and returns it.
func (f *flow) lookAt(i int) uint64 {
	f.seen[i] = f.signals.At(i).Fetch()
	return f.seen[i]
}

// wait blocks until a signal differs from what this member saw when it last looked. The member has acted on what it saw.
func (f *flow) wait(ctx context.Context) error {
	_, _, err := f.changed.WaitAny(ctx)
	return err
}
