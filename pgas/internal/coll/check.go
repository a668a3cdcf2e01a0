package coll

// Whether the wait inside a call can still end: the answer of a Group as a node.Party.

// Check looks at what the other members have called, and returns an error if that is not what this PE
// has: the wait is then for ever. With remote it looks at members of other hosts too, at intervals.
func (g *Group) Check(remote bool) error {
	n, mine := g.calls.n, g.calls.tag
	for k, i := range g.localMembers {
		if i == g.Me {
			continue
		}
		if v := g.local[k].arrival(n).tag.Load(); v>>tagBits == n && v != mine {
			return g.diverged()
		}
		if g.hasAborted(g.local[k].syncWords().aborted.Load()) {
			return g.adoptAbort(g.local[k].report().load()) // it found out in an earlier call
		}
	}
	if g.hasAborted(g.view.syncWords().abortTold.Load()) {
		return g.checkRemote(true)
	}
	if err := g.hasLeft(); err != nil || !remote {
		return err
	}
	return g.checkRemote(false)
}

// hasLeft returns a *MismatchError if this PE waits in the call under way for one of this host that is leaving
// the job, and nil if not.
func (g *Group) hasLeft() error {
	n := g.calls.n
	for k, i := range g.localMembers {
		if g.local[k].arrival(n).tag.Load()>>tagBits < n && g.hasLeftBefore(i, n) {
			return g.reportDivergence()
		}
	}
	return nil
}
