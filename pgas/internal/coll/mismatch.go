package coll

// What happens when the members of a team are not in the same call. A waiter sees it in the tag that it
// waits for, or, if that never comes, by reading the others' arrival records before it sleeps. It then
// poisons its own record, so that all others see it too. All members return the same *MismatchError,
// which says which members called what, in place of a hang.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// diverged ends the use of the team: it finds out which members called what, unless another member has found
// that, tells the others, and returns the error.
func (g *Group) diverged() error {
	u := &g.calls
	if u.failed != nil {
		return u.failed
	}
	start := g.n.Now()
	for {
		found, wait := g.findReport()
		if found != nil {
			return g.adoptAbort(found)
		}
		// A member that cancels a call publishes the reason at once.
		if !wait || g.n.Now()-start > node.PeekTime || g.n.Sleep(g.n.Ctx, node.MinSleep) != nil {
			break
		}
	}
	return g.reportDivergence()
}

// reportDivergence finds out which members have called what, and ends the use of the team with that error. After a
// death members may well be in different calls: the death is the reason then, and each finds out about it.
func (g *Group) reportDivergence() error {
	r, err := g.mismatch()
	if found, _ := g.findReport(); found != nil { // by another member, meanwhile
		return g.adoptAbort(found)
	}
	if err := node.FirstError(g.n.AwaitPeerFailure(g.n.Ctx), err); err != nil {
		return err
	}
	return g.abort(r)
}

// findReport looks for a member that has found out why the call under way cannot complete. wait reports that a
// member is about to publish it.
func (g *Group) findReport() (found *reason, wait bool) {
	for i := range g.PEs {
		tag, _, ok := g.peekArrival(i, g.calls.n)
		if !ok {
			continue
		}
		if tag>>tagBits != g.calls.n {
			tag = 0
		}
		switch tag & poisoned {
		case poisoned:
			if r := g.reportOf(i); r != nil {
				return r, false
			}
		case cancelled:
			wait = true
		}
		ended, err := g.n.PeekWord(g.PEs[i], uint64(slotOff(g.Slot)+syncOff+abortedOff))
		if err == nil && g.hasAborted(ended) {
			if r := g.reportOf(i); r != nil { // it found out in an earlier call
				return r, false
			}
		}
	}
	return nil, wait
}

// abort ends the use of the team because of r, for this PE and all other members, and returns the error.
func (g *Group) abort(r *reason) error {
	g.publishAbort(r)
	g.LingerUntilTold()
	return g.calls.failed
}

// publishAbort does abort's work without waiting until the other members know. If the use of the team has ended before,
// that reason stays: other members may be reading the report.
func (g *Group) publishAbort(r *reason) {
	if g.calls.failed != nil {
		return
	}
	g.view.report().store(r)
	// before the members on this host know: otherwise other hosts may hear of the end of their processes first
	g.notifyRemote()
	g.markAborted(g.errorOf(r))
}

// adoptAbort ends the use of the team for this PE because of r, which another member may have found. A wait whose
// condition comes true while the waiter looks for such a member goes on. Then the next wait of the call comes here
// again, and the first reason stays: other members may be reading the report.
func (g *Group) adoptAbort(r *reason) error {
	if g.calls.failed != nil {
		return g.calls.failed
	}
	g.view.report().store(r)
	g.markAborted(g.errorOf(r))
	return g.calls.failed
}

// markAborted ends the use of the team because of err.
func (g *Group) markAborted(err error) {
	u := &g.calls
	u.failed = err
	g.view.syncWords().aborted.Store(u.n)
	g.view.arrival(u.n).tag.Store(u.n<<tagBits | poisoned)
	g.wakeLocal()
}

// hasAborted reports whether a member with the value ended in its word aborted has given up before it was through
// with the call under way: in the last call of which this PE knows that all members entered it, or since.
func (g *Group) hasAborted(ended uint64) bool {
	return ended != 0 && ended >= g.calls.syncedCall && ended <= g.calls.n
}

// mismatch lists which members called what in the first call in which they differ. If all members report the same call,
// they do not disagree: then the reason is unknown, or a *PeerError is returned.
func (g *Group) mismatch() (*reason, error) {
	n := g.firstDifference()
	r := &reason{call: fmt.Sprintf("%s (call %d of team %s)", g.recordedCall(g.Me, n), n, g.Name)}
	said, exactly := make([]string, len(g.PEs)), make([]string, len(g.PEs))
	start := g.n.Now()
	for i := range g.PEs {
		var where string
		said[i], where = g.callOf(i, n, start)
		exactly[i] = said[i] + where
		if n < g.calls.n {
			said[i] += fmt.Sprintf(" as call %d", n)
		}
	}
	if r.calls = GroupByCall(said); len(r.calls) == 1 {
		r.calls = GroupByCall(exactly)
	}
	if len(r.calls) == 1 {
		if err := g.n.AwaitPeerFailure(g.n.Ctx); err != nil {
			return nil, err
		}
		return &reason{call: r.call, pe: -1, err: errors.New("a member has left the call, and no member says why")}, nil
	}
	return r, nil
}

// callOf returns what member i has called as its call n. A member that has not entered it yet is given a moment
// from start on: the list says more once it has. where is the memory that the call concerns.
func (g *Group) callOf(i int, n uint64, start time.Duration) (what, where string) {
	for {
		tag, c, ok := g.peekArrival(i, n)
		switch {
		case !ok:
			return "does not answer", ""
		case tag>>tagBits == n && tag&poisoned == cancelled:
			return "has not got there", ""
		case tag>>tagBits == n && c.Kind == KindClose:
			site, _ := g.n.LeavingAt(g.PEs[i])
			return leftText(site), ""
		case tag>>tagBits == n:
			return g.recordedCall(i, n).String(), fmt.Sprintf(" (to offset %#x, from %#x)", c.bufferHash>>32, c.bufferHash&0xffffffff)
		case tag>>tagBits > n:
			return "is in a later call", ""
		case g.n.Now()-start > node.PeekTime:
			return "has not got there", ""
		}
		if g.hasLeftBefore(i, n) {
			site, _ := g.n.LeavingAt(g.PEs[i])
			return leftText(site), ""
		}
		if g.n.Sleep(g.n.Ctx, node.MinSleep) != nil { // the World has ended, or a PE has
			return "has not got there", ""
		}
	}
}

// firstDifference returns the first call whose tags differ, of those up to the one under way of which members still
// have their records.
func (g *Group) firstDifference() uint64 {
	first := g.calls.n
	for n := first - 1; n > g.calls.base && g.differIn(n); n-- {
		first = n
	}
	return first
}

// differIn reports whether two members that have called call n have different tags of it.
func (g *Group) differIn(n uint64) bool {
	var seen uint64
	for _, pe := range g.PEs {
		tag, err := g.n.PeekWord(pe, uint64(slotOff(g.Slot)+arrivalOff(n)))
		if err != nil || tag>>tagBits != n || isAbortedTag(tag, n) {
			continue
		}
		if seen != 0 && tag != seen {
			return true
		}
		seen = tag
	}
	return false
}

// GroupByCall groups the PEs that said the same, in order of the first.
func GroupByCall(said []string) []string {
	var lines []string
	done := map[string]bool{}
	for _, s := range said {
		if done[s] {
			continue
		}
		done[s] = true
		var members []string
		for i := range said {
			if said[i] == s {
				members = append(members, fmt.Sprint(i))
			}
		}
		lines = append(lines, fmt.Sprintf("PE %s: %s", strings.Join(members, ","), s))
	}
	return lines
}
