package coll

// Waking the PEs of this host that sleep in a call.

// wakeLocal wakes the members of this host that sleep in a call.
func (g *Group) wakeLocal() {
	for _, i := range g.localMembers {
		if i != g.Me {
			g.n.StateOf(g.PEs[i]).RingGroup()
		}
	}
}
