package node

// What a wait is for. Where a layer above knows better than the wait, that says it: a fence of coherent memory waits
// for a word or for messages to be complete; reports of the job show the fence, the block and the PE instead. Such a
// purpose travels in the context of the wait, so that a goroutine's wait does not show the fence of another one.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Blocked says what a wait is for, for reports.
type Blocked struct {
	Op    boot.BlockedOp
	Peer  int
	Seq   uint64
	Name  string // name of what Seq counts, or empty
	Cause string // the name of a collective; empty: the name of Op
	Party Party  // what the wait is part of, or nil

	purpose Purpose // what reports show in place of this, or nil
}

// Purpose returns what reports show instead of the wait that asks, and false if the wait is for nothing else. It is
// called when a wait has not ended at once, by the goroutine that waits.
type Purpose func() (why Blocked, ok bool)

type purposeKey struct{}

// WithPurpose returns a context whose waits show p.
func WithPurpose(ctx context.Context, p Purpose) context.Context {
	return context.WithValue(ctx, purposeKey{}, p)
}

// Within returns why with the purpose of ctx, if there is one.
func (why Blocked) Within(ctx context.Context) Blocked {
	why.purpose, _ = ctx.Value(purposeKey{}).(Purpose)
	return why
}

// shownParty returns the Party of the purpose of the wait, or nil.
func (why Blocked) shownParty() Party {
	if why.purpose == nil {
		return nil
	}
	return why.shown().Party
}

// shown returns what reports show: the purpose of the wait, or the wait.
func (why Blocked) shown() Blocked {
	if why.purpose == nil {
		return why
	}
	p, ok := why.purpose()
	if !ok {
		return why
	}
	if p.Peer < 0 {
		p.Peer = why.Peer
	}
	return p
}
