//go:build cgo

package ucp

// Which PE to blame. PEs that learn of a death exit too, so a third PE may lose its connections to them before the
// launcher's report of the first death arrives. So a PE that loses a peer waits up to reportWithin for the launcher to
// name the first failure. If the launcher does not, because it has heard no certain accusation yet, the PE names the
// loss that was first reported on its host: that report may be why others have ended since.
//
// A PE that finds another silent may be the one that is cut off. If it ended before the launcher has heard the PEs
// of other hosts, they would hear of its end, and the launcher could not tell any more which of the two was silent.
// So it waits until the launcher has decided. In a job without pgasrun the arbiter does that, and may be silent itself:
// a PE also waits until the arbiter has answered since the loss, or is lost (pgas/boot/join/arbiter.go).

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/ucx/engine"
)

const (
	reportWithin = 200 * time.Millisecond
	reportPoll   = time.Millisecond
)

// blame finds the PE to name.
type blame struct {
	job    *boot.Job
	way    string          // what to add to the error about a PE that UCX does not reach
	closed <-chan struct{} // closed when the transport is
	gone   atomic.Int64    // boot.Clock when a call first found a PE lost; 0: none has
	silent atomic.Int64    // boot.Clock when a call first found a PE silent; 0: none has
}

// peerError returns the error about a PE that the engine has lost, with the names of the PE to blame and of its host,
// and what the launcher knows. It may wait for that, but not beyond the end of ctx.
func (b *blame) peerError(ctx context.Context, lost *engine.LostError) *transport.PeerError {
	b.awaitReport(ctx, lost)
	err := b.known(lost)
	b.job.Lost(err.PE)
	return err
}

// fault is peerError for calls that report a loss only when it is known which PE to blame. decided is false if ctx has
// ended before.
func (b *blame) fault(ctx context.Context, lost *engine.LostError) (err *transport.PeerError, decided bool) {
	decided = b.awaitReport(ctx, lost)
	err = b.known(lost)
	if decided {
		b.job.Lost(err.PE)
	}
	return err, decided
}

// known returns the error with what is known now.
func (b *blame) known(lost *engine.LostError) *transport.PeerError {
	head := b.job.Segment.Header
	if lost.Reason == engine.Unreachable {
		told := *lost
		told.Way, lost = b.way+boot.FilesUsedUp(), &told
	}
	pe, why := lost.PE, error(lost)
	if first := head.Failed.Load(); first == 0 {
		if earlier, by, ok := b.job.FirstLost(); ok && earlier != lost.PE {
			pe, why = earlier, fmt.Errorf("PE %d has lost it; since then PE %d is lost too: %w", by, lost.PE, lost)
		}
	} else {
		why = fmt.Errorf("%w; the launcher says: %w", lost, boot.HowDied(head.FailedHow.Load()))
		if pe = int(first - 1); pe != lost.PE {
			why = fmt.Errorf("%w; since then PE %d is lost too: %w", boot.HowDied(head.FailedHow.Load()), lost.PE, lost)
		}
	}
	return &transport.PeerError{PE: pe, Host: b.job.Hosts[b.job.HostOf(pe)].Name, Err: why}
}

// awaitReport waits until the launcher has reported which PE is lost, or has had its time to. It reports false if ctx
// has ended before.
func (b *blame) awaitReport(ctx context.Context, lost *engine.LostError) bool {
	if !b.job.Launched {
		return true
	}
	at, within := b.firstLoss(lost)
	for !b.reported(at, within) {
		select {
		case <-time.After(reportPoll):
		case <-b.closed:
			return true
		case <-ctx.Done():
			return b.reported(at, within)
		}
	}
	return true
}

// reported reports whether no more is to come about a loss at the time at.
func (b *blame) reported(at int64, within time.Duration) bool {
	answered := b.job.ArbiterAnswered(at) // first: it has the arbiter asked
	return b.job.Segment.Header.Failed.Load() != 0 || b.job.EndRequested() || answered && boot.Clock()-at >= int64(within)
}

// firstLoss returns when a call has first found such a loss, and how long after that the launcher may take to report
// it. It counts from the first, so that calls wait once, each with its own context. A PE that leaves the job is not
// heard.
func (b *blame) firstLoss(lost *engine.LostError) (at int64, within time.Duration) {
	first, within := &b.gone, reportWithin
	state := b.job.Segment.States[b.job.PE-int(b.job.Segment.Header.First)]
	if lost.Reason == engine.Silent && boot.Membership(state.Membership.Load()) == boot.Joined {
		first, within = &b.silent, boot.HearingTime(b.job.Settings.PeerTimeout)+reportWithin
	}
	first.CompareAndSwap(0, boot.Clock())
	return first.Load(), within
}
