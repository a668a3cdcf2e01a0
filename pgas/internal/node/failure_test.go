package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// undecided is a transport that has lost PE 1, and decides which PE to blame when it is told.
type undecided struct {
	transport.Progresser // nil: nothing else is called
	decision             chan struct{}
}

func (u undecided) Fault(ctx context.Context) (lost error, decided bool) {
	select {
	case <-u.decision:
	case <-ctx.Done():
	}
	select {
	case <-u.decision:
		return &transport.PeerError{PE: 0}, true
	default:
		return &transport.PeerError{PE: 1}, false
	}
}

// TestUndecidedFailure: calls that must not wait learn nothing of a loss while it is not known which PE to blame, and a
// call that waits ends with its context. Then all name the PE to blame.
func TestUndecidedFailure(t *testing.T) {
	u := undecided{decision: make(chan struct{})}
	n := &Node{Job: &boot.Job{Segment: boot.NewSegment(2, 1, 1<<20)}, Ctx: t.Context(), progresser: u}
	if err := n.PeerFailure(); err != nil {
		t.Errorf("before the decision: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := n.EndedError(short); err != context.DeadlineExceeded {
		t.Errorf("a wait of a millisecond ends with %v", err)
	}
	if err := n.peekError(1); err == nil {
		t.Error("a PE that may be lost is asked for a word")
	}
	close(u.decision)
	for name, err := range map[string]error{"PeerFailure": n.PeerFailure(), "AwaitPeerFailure": n.AwaitPeerFailure(t.Context()), "EndedError": n.EndedError(t.Context())} {
		if lost := (*transport.PeerError)(nil); !errors.As(err, &lost) || lost.PE != 0 {
			t.Errorf("%s after the decision: %v", name, err)
		}
	}
}
