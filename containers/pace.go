package containers

// Waiting for words of other PEs, whose changes wake no waiter. A wait polls: at first it only lets other PEs run
// between two polls, then it sleeps for longer and longer, up to a millisecond. A sleep ends with an error when a PE of
// the job is lost or the context ends.

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

const (
	paceYields = 16 // polls before the first sleep
	paceFirst  = time.Microsecond
	paceMost   = time.Millisecond
)

// pace is one wait.
type pace struct {
	polls int
	next  time.Duration // the length of the next sleep
}

// pause returns when it is time for the next poll. Errors: *pgas.PeerError if a PE of the job is lost, and the cause of
// ctx.
func (p *pace) pause(ctx context.Context, w *pgas.World) error {
	d := p.step()
	if d == 0 {
		w.Yield()
		return context.Cause(ctx)
	}
	return w.Sleep(ctx, d)
}

// step counts a poll, and returns how long to sleep before the next one: 0 is not at all.
func (p *pace) step() time.Duration {
	p.polls++
	if p.polls <= paceYields {
		return 0
	}
	d := max(p.next, paceFirst)
	p.next = min(d+d/2+1, paceMost)
	return d
}

// orLost sets *err to the *pgas.PeerError with which an operation has panicked. It is deferred.
func orLost(err *error) {
	p := recover()
	if p == nil {
		return
	}
	e, ok := p.(error)
	var peer *pgas.PeerError
	if !ok || !errors.As(e, &peer) {
		panic(p)
	}
	*err = e
}
