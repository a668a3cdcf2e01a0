package node

// Why a wait cannot succeed: a PE of the job is dead, ctx has ended, the World is closed, or notes have no space.

import (
	"context"
	"errors"
	"syscall"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// EndedError returns the reason why a wait cannot succeed: the World is closed, a PE of the job is dead, or ctx has
// ended. A death goes before the end of ctx: otherwise a caller that waits repeatedly with a short time-out
// would only ever see the time-out. It waits until it is known which PE to blame, but not beyond the end of ctx. Last
// comes congestion of notes: see congestion.go.
func (n *Node) EndedError(ctx context.Context) error {
	if err := context.Cause(n.Ctx); err != nil {
		return FirstError(context.Cause(ctx), err) // the transport may be closed too, so it is not asked
	}
	if err := FirstError(n.AwaitPeerFailure(ctx), context.Cause(ctx)); err != nil {
		return err
	}
	return n.Notes.congestionError()
}

// PeerFailure returns the *PeerError for the first PE known to have died or to be out of reach, or nil. It does not
// wait: it returns nil while it is not known which of several PEs to blame.
func (n *Node) PeerFailure() error {
	if lost, decided := n.suspect(noWait); decided {
		return lost
	}
	return nil
}

// AwaitPeerFailure is PeerFailure, but waits until it is known which PE to blame, or ctx ends.
func (n *Node) AwaitPeerFailure(ctx context.Context) error {
	if lost, decided := n.suspect(ctx); decided {
		return lost
	}
	return nil
}

// noWait is the context of calls that wait for nothing: it has ended.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// suspect returns the *PeerError for a PE that is lost, or nil. decided is false if ctx has ended before it was known
// whether another PE is to blame.
func (n *Node) suspect(ctx context.Context) (lost error, decided bool) {
	h := n.Job.Segment.Header
	f := h.Failed.Load()
	if f == 0 && n.progresser != nil {
		return n.progresser.Fault(ctx)
	}
	if f == 0 {
		return nil, true
	}
	pe := int(f - 1)
	n.Job.Lost(pe)
	return &transport.PeerError{PE: pe, Host: n.HostName(pe), Err: boot.HowDied(h.FailedHow.Load())}, true
}

// LossOf returns why PE pe is lost if it is known to be, or nil: the *PeerError of the first death of the job, which
// the segment has. Of another PE of this host it asks the system whether its process lives; such a PE has ended after
// the first.
func (n *Node) LossOf(pe int) error {
	var first *transport.PeerError
	if !errors.As(n.PeerFailure(), &first) {
		return nil
	}
	if first.PE == pe {
		return first
	}
	i := pe - n.FirstPE
	if i < 0 || i >= len(n.Job.Segment.States) {
		return nil
	}
	st := n.Job.Segment.States[i]
	pid := int(st.Process.Load())
	if boot.Membership(st.Membership.Load()) != boot.Joined || pid == 0 || syscall.Kill(pid, 0) != syscall.ESRCH {
		return nil
	}
	return first
}
