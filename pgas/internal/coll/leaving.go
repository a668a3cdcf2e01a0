package coll

// Leaving the job. Close is a collective of all PEs, and a call of its own: a PE that returns from its body one
// barrier early is in another call than the others, and all of them learn so. In calls of other teams a PE that
// is leaving publishes that, so that members which wait for it find the reason.

import "fmt"

// hasLeftBefore reports whether member i has called Close without entering call n. It reads the member's tag after it
// has seen that the member leaves: between two looks a member may enter the call, complete it, and leave. In the team
// of all PEs the check is not needed: Close is one of its calls.
func (g *Group) hasLeftBefore(i int, n uint64) bool {
	if g.Slot == WorldSlot || i == g.Me {
		return false
	}
	if _, leaves := g.n.LeavingAt(g.PEs[i]); !leaves {
		return false
	}
	tag, _, ok := g.peekArrival(i, n)
	return ok && tag>>tagBits < n
}

// leftText returns what reports say about a PE that is leaving; site is where it has called Close.
func leftText(site string) string {
	if site == "" {
		return "has left the job (World.Close)"
	}
	return fmt.Sprintf("has left the job (World.Close at %s)", site)
}
