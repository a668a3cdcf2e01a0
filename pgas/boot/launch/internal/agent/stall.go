package agent

// Whether every PE of this host is stalled.

import (
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Bounds of how often an agent looks: a word for each PE.
const (
	mostStallLooks  = 20 * time.Millisecond
	leastStallLooks = time.Second
)

// stallLooks returns a channel that says when to look whether the PEs are stalled, or nil.
func stallLooks(stall time.Duration) <-chan time.Time {
	if stall <= 0 {
		return nil
	}
	return time.Tick(min(max(stall/4, mostStallLooks), leastStallLooks))
}

// everyPEStalled reports whether the PEs of this host that have not ended are stalled.
func everyPEStalled(states []*boot.State, pes []pe) bool {
	some := false
	for i, st := range states {
		if pes[i].ended != nil {
			continue
		}
		if st.Blocked.Stalled.Load() == 0 || boot.BlockedOp(st.Blocked.Op.Load()) == boot.NotBlocked {
			return false
		}
		some = true
	}
	return some
}
