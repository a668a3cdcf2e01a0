package agent

// Whether every PE of this host is stalled.

import (
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// Bounds of how often an agent looks: a word for each PE.
const (
	mostStallLooks  = 20 * time.Millisecond
	leastStallLooks = time.Second
)

// stallLooks returns a channel that says when to look whether the PEs are stalled, or nil.
func (a *Agent) stallLooks() <-chan time.Time {
	if a.cfg.Stall <= 0 {
		return nil
	}
	return time.Tick(min(max(a.cfg.Stall/4, mostStallLooks), leastStallLooks))
}

// reportStall tells the launcher whether every PE of this host is stalled, if that has changed.
func (a *Agent) reportStall() {
	if now := a.everyPEStalled(); now != a.stalled {
		a.stalled = now
		var b byte
		if now {
			b = 1
		}
		a.out.Send(frame.FromStalled, []byte{b})
	}
}

// everyPEStalled reports whether the PEs of this host that have not ended are stalled.
func (a *Agent) everyPEStalled() bool {
	some := false
	for i, st := range a.segment.States {
		if a.pes[i].ended {
			continue
		}
		if st.Blocked.Stalled.Load() == 0 || boot.BlockedOp(st.Blocked.Op.Load()) == boot.NotBlocked {
			return false
		}
		some = true
	}
	return some
}
