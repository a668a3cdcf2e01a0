package coll

// Collectives of overlapping teams in different orders: PE 0 is in a call of team A and waits for PE 1,
// which is in a call of team B and waits for PE 0. No PE has called anything wrong on either team, so no
// tag shows it. A PE that waits in a collective for long publishes a wait edge at the start of its heap: in which
// call, of which team, and for which PE it waits. A PE that has waited longer than the time after which a silent
// host counts as dead follows these edges from PE to PE. If they form a cycle of PEs that have all waited that
// long, it returns a *MismatchError with the call of each. An edge counts only if its PE has found it after its peer's
// wait began: the peer may have entered the very call in which an older edge missed it.

import (
	"fmt"
	"time"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// Edge returns the wait edge of this PE in the call under way.
func (g *Group) Edge(peer int) node.WaitEdge {
	return node.WaitEdge{
		Peer:  g.firstAbsent(peer),
		Kind:  uint8(g.view.arrival(g.calls.n).call),
		Call:  g.calls.n,
		Slot:  g.Slot,
		First: g.PEs[0],
		Size:  len(g.PEs),
	}
}

// firstAbsent returns the first PE of this host that has not entered the call under way, or pe if all have.
func (g *Group) firstAbsent(pe int) int {
	for k, i := range g.localMembers {
		if g.local[k].arrival(g.calls.n).tag.Load()>>tagBits < g.calls.n {
			return g.PEs[i]
		}
	}
	return pe
}

// describeEdge returns a wait edge in words.
func describeEdge(e node.WaitEdge) string {
	k := Kind(e.Kind)
	if k >= numKinds {
		k = kindNone
	}
	return fmt.Sprintf("in %s, call %d of the team of %d from PE %d, waiting for PE %d", k, e.Call, e.Size, e.First, e.Peer)
}

// membersAtOnce is how many members of other hosts one check looks at. Each may take a connection, and a job that is
// slow because its CPUs are shared would be slower still if every PE connected to every other.
const membersAtOnce = 8

// checkRemote does the part of Check that takes messages. It runs at growing intervals, but at once if a member
// has announced that the call was given up. One PE of a host does it for the others, which read in its slot what it
// finds.
func (g *Group) checkRemote(told bool) error {
	u, now := &g.calls, g.n.Wall()
	if u.watchedTag != u.tag {
		u.watchedTag, u.watchedSince, u.nextCheck, u.nextMember = u.tag, now, now.Add(node.FirstRemoteCheck), g.Me
	}
	if now.Before(u.nextCheck) && !told {
		return nil
	}
	waited := now.Sub(u.watchedSince)
	awaited := g.n.UpdateEdge(g.firstAbsent)
	u.nextCheck = now.Add(min(waited, g.n.CycleTimeout()/4))
	if told || !g.isCheckedByOther() {
		for _, i := range g.membersToCheck(awaited, told) {
			if err := g.checkMember(i); err != nil {
				return err
			}
		}
	}
	if waited < g.n.CycleTimeout() {
		return nil
	}
	return g.findCycle(now)
}

// isCheckedByOther reports whether a member of a lower rank on this host waits in the same call.
func (g *Group) isCheckedByOther() bool {
	for _, i := range g.localMembers[:g.localRank] {
		e, ok := g.n.EdgeOf(g.PEs[i])
		if ok && e.Call == g.calls.n && e.First == g.PEs[0] && e.Size == len(g.PEs) {
			return true
		}
	}
	return false
}

// membersToCheck returns the members that a check looks at: all of them if told, else the PE that this one waits for
// and a few others, which are different ones at every check. In Close it is the first alone: others may have left the
// job, but not a PE whose part is still to come.
func (g *Group) membersToCheck(awaited int, told bool) []int {
	members := make([]int, 0, membersAtOnce)
	for i, pe := range g.PEs {
		if told || pe == awaited {
			members = append(members, i)
		}
	}
	if Kind(g.view.arrival(g.calls.n).call&0xff) == KindClose {
		return members
	}
	for range g.PEs {
		if len(members) >= membersAtOnce {
			break
		}
		i := g.calls.nextMember % len(g.PEs)
		g.calls.nextMember = i + 1
		if g.PEs[i] != awaited && g.n.Shm.Heap(g.PEs[i]) == nil {
			members = append(members, i)
		}
	}
	return members
}

// checkMember returns an error if member i is in another call, has given up, or has left.
func (g *Group) checkMember(i int) error {
	u := &g.calls
	tag, _, ok := g.peekArrival(i, u.n)
	if ok && tag>>tagBits == u.n && tag != u.tag {
		return g.diverged()
	}
	ended, err := g.n.PeekWord(g.PEs[i], uint64(slotOff(g.Slot)+syncOff+abortedOff))
	if err == nil && g.hasAborted(ended) {
		if r := g.reportOf(i); r != nil {
			return g.adoptAbort(r)
		}
	}
	if ok && tag>>tagBits < u.n && g.hasLeftBefore(i, u.n) { // checked last: a member may leave because of its report
		return g.reportDivergence()
	}
	return nil
}

// findCycle follows the wait edges from this PE on, and returns an error if they form a cycle.
func (g *Group) findCycle(now time.Time) error {
	cycle := g.cycle(now)
	if cycle == nil {
		return nil
	}
	g.linger()
	u := &g.calls
	r := &reason{call: fmt.Sprintf("%s (call %d of team %s)", Kind(g.view.arrival(u.n).call&0xff), u.n, g.Name)}
	for _, c := range cycle {
		r.calls = append(r.calls, fmt.Sprintf("PE %d: %s", c.pe, describeEdge(c.WaitEdge)))
	}
	return g.abort(r)
}

// A waiter is a PE with its wait edge.
type waiter struct {
	pe int
	node.WaitEdge
}

// cycle returns the PEs of the cycle to which the wait edges lead from this PE, or nil.
func (g *Group) cycle(now time.Time) []waiter {
	var path []waiter
	seen := now.UnixNano() // of the edge that leads to pe
	for pe := g.n.Job.PE; ; {
		for k, w := range path {
			if w.pe == pe && seen >= w.Since {
				return path[k:]
			} else if w.pe == pe {
				return nil
			}
		}
		e, ok := g.n.EdgeOf(pe)
		if !ok || now.UnixNano()-e.Since < int64(g.n.CycleTimeout()) || seen < e.Since || e.Peer < 0 || e.Peer >= g.n.Job.NPEs {
			return nil
		}
		path = append(path, waiter{pe, e})
		pe, seen = e.Peer, e.Seen
	}
}

// linger waits for the longest time between two checks of the other members, which find the cycle by this PE's
// wait edge. If this PE ended at once, they would see its end instead of the reason.
func (g *Group) linger() {
	if g.n.Sched == nil { // what ends in the simulator does not take others along
		_ = g.n.Sleep(g.n.Ctx, g.n.CycleTimeout()/4+2*node.MaxSleep)
	}
}
