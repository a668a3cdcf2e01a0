package coll

// Leaving the job. Close is a collective of all PEs, and a call of its own: a PE that returns from its body one
// barrier early is in another call than the others, and all of them learn so. In calls of other teams a PE that
// is leaving publishes that, so that members which wait for it find the reason.

// hasLeft returns a *MismatchError if this PE waits in the call under way for one of this host that is leaving
// the job, and nil if not.
func (g *Group) hasLeft() error {
	for k, i := range g.localMembers {
		if g.local[k].arrival(g.calls.n).tag.Load()>>tagBits < g.calls.n && g.isLeaving(i) {
			return g.reportDivergence()
		}
	}
	return nil
}

// isLeaving reports whether member i, which has not entered the call under way, has called Close. In the team
// of all PEs the check is not needed: Close is one of its calls.
func (g *Group) isLeaving(i int) bool {
	if g.Slot == WorldSlot || i == g.Me {
		return false
	}
	_, leaves := g.n.LeavingAt(g.PEs[i])
	return leaves
}
