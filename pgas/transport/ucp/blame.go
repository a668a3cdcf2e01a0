//go:build cgo

package ucp

// Which PE to blame. PEs that learn of a death exit too, so a third PE may lose its connections to them before the
// launcher's report of the first death arrives. So a PE that loses a peer waits up to reportWithin for the launcher to
// name the first failure. If the launcher does not, because it has heard no certain accusation yet, the PE names the
// loss that was first reported on its host: that report may be why others have ended since.
//
// A PE that finds another silent may be the one that is cut off. If it ended before the launcher has heard the PEs
// of other hosts, they would hear of its end, and the launcher could not tell any more which of the two was silent.
// So it waits until the launcher has decided.

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
	closed <-chan struct{} // the transport is
	gone   atomic.Int64    // Unix nanoseconds until which calls wait for a report, since the first loss; 0: no loss
	silent atomic.Int64    // the same for silence
}

// peerError returns the error about a PE that the engine has lost, with the names of the PE to blame and of its host, and
// what the launcher knows. It may wait for that, but not beyond the end of ctx.
func (b *blame) peerError(ctx context.Context, lost *engine.LostError) *transport.PeerError {
	if b.job.Launched {
		b.awaitReport(ctx, b.reportUntil(lost))
	}
	head := b.job.Segment.Header
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
	b.job.Lost(pe)
	return &transport.PeerError{PE: pe, Host: b.job.Hosts[b.job.HostOf(pe)].Name, Err: why}
}

// reportUntil returns when the launcher has had its time to report why a PE is lost. It counts from the first such loss, so that
// calls wait once, each with its own context. A PE that leaves the job is not heard.
func (b *blame) reportUntil(lost *engine.LostError) time.Time {
	until, most := &b.gone, reportWithin
	state := b.job.Segment.States[b.job.PE-int(b.job.Segment.Header.First)]
	if lost.Reason == engine.Silent && boot.Membership(state.Membership.Load()) == boot.Joined {
		until, most = &b.silent, boot.HearingTime(b.job.Settings.PeerTimeout)+reportWithin
	}
	until.CompareAndSwap(0, time.Now().Add(most).UnixNano())
	return time.Unix(0, until.Load())
}

func (b *blame) awaitReport(ctx context.Context, until time.Time) {
	over := time.After(time.Until(until))
	for b.job.Segment.Header.Failed.Load() == 0 && !b.job.EndRequested() {
		select {
		case <-time.After(reportPoll):
		case <-over:
			return
		case <-b.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}
