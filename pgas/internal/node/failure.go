package node

// Why a wait cannot succeed: a PE of the job is dead, ctx has ended, the World is closed, or notes have no space.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// EndedError returns the reason why a wait cannot succeed: the World is closed, a PE of the job is dead, or ctx has
// ended. A death goes before the end of ctx: otherwise a caller that waits repeatedly with a short time-out
// would only ever see the time-out. Last comes congestion of notes: see congestion.go.
func (n *Node) EndedError(ctx context.Context) error {
	if err := context.Cause(n.Ctx); err != nil {
		return FirstError(context.Cause(ctx), err) // the transport may be closed too, so it is not asked
	}
	if err := FirstError(n.PeerFailure(), context.Cause(ctx)); err != nil {
		return err
	}
	return n.Notes.congestionError()
}

// PeerFailure returns the *PeerError for the first PE known to have died or to be out of reach, or nil.
func (n *Node) PeerFailure() error {
	h := n.Job.Segment.Header
	f := h.Failed.Load()
	if f == 0 && n.progresser != nil {
		return n.progresser.Fault()
	}
	if f == 0 {
		return nil
	}
	pe := int(f - 1)
	n.Job.Lost(pe)
	return &transport.PeerError{PE: pe, Host: n.HostName(pe), Err: boot.HowDied(h.FailedHow.Load())}
}
