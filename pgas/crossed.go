package pgas

// Collectives of overlapping teams in different orders: PE 0 is in a call of team A and waits for PE 1,
// which is in a call of team B and waits for PE 0. Nobody has called anything wrong on either team, so no
// tag shows it. A PE that waits in a collective for long says so in words at the start of its heap: which
// call, of which team, for whom. One that has waited longer than a dead host would be given follows these
// words from PE to PE; if they lead in a circle of PEs that have all waited that long, it returns a
// *MismatchError with what each is in.

import (
	"fmt"
	"time"
)

// Edge returns the wait edge of this PE in the call under way.
func (g *Group) Edge(peer int) WaitEdge {
	return WaitEdge{
		Peer:  g.missing(peer),
		Kind:  uint8(g.board.entry(g.turns.n).call),
		Call:  g.turns.n,
		Slot:  g.slot,
		First: g.pes[0],
		Size:  len(g.pes),
	}
}

// missing is the first PE of this host that has not entered the call under way, or pe if all have.
func (g *Group) missing(pe int) int {
	for k, i := range g.here {
		if g.local[k].entry(g.turns.n).tag.Load()>>tagBits < g.turns.n {
			return g.pes[i]
		}
	}
	return pe
}

// describeEdge returns a wait edge in words.
func describeEdge(e WaitEdge) string {
	k := kind(e.Kind)
	if k >= numKinds {
		k = kindNone
	}
	return fmt.Sprintf("in %s, call %d of the team of %d from PE %d, waiting for PE %d", k, e.Call, e.Size, e.First, e.Peer)
}

// lookAround does the part of stuck that takes messages. It runs at growing intervals, but at once if a member
// has announced that the call was given up.
func (g *Group) lookAround(told bool) error {
	u, now := &g.turns, g.n.wall()
	if u.lookTag != u.tag {
		u.lookTag, u.lookSince, u.nextLook = u.tag, now, now.Add(firstLook)
	}
	if now.Before(u.nextLook) && !told {
		return nil
	}
	waited := now.Sub(u.lookSince)
	g.n.updateEdge(g.missing)
	u.nextLook = now.Add(min(waited, g.n.patience()/4))
	for i := range g.pes {
		tag, _, ok := g.peek(i, u.n)
		if ok && tag>>tagBits == u.n && tag != u.tag {
			return g.outOfStep()
		}
		ended, err := g.n.peekWord(g.pes[i], uint64(slotOff(g.slot)+controlOff+endedOff))
		if err == nil && g.hasEnded(ended) {
			if r := g.verdictOf(i); r != nil {
				return g.adopt(r)
			}
		}
		if ok && tag>>tagBits < u.n && g.isLeaving(i) { // checked last: a member may leave because of its verdict
			return g.disagree()
		}
	}
	if waited < g.n.patience() {
		return nil
	}
	return g.crossed(now)
}

// crossed follows the waits from this PE on, and returns an error if they lead in a circle.
func (g *Group) crossed(now time.Time) error {
	place := map[int]int{} // of a PE in lines
	var lines []string
	for pe := g.n.job.PE; ; {
		if from, seen := place[pe]; seen {
			g.letOthersFind()
			u := &g.turns
			return g.end(&reason{
				call:  fmt.Sprintf("%s (call %d of team %s)", kind(g.board.entry(u.n).call&0xff), u.n, g.name),
				calls: lines[from:],
			})
		}
		e, ok := g.n.edgeOf(pe)
		if !ok || now.UnixNano()-e.Since < int64(g.n.patience()) || e.Peer < 0 || e.Peer >= g.n.job.NPEs {
			return nil
		}
		place[pe] = len(lines)
		lines = append(lines, fmt.Sprintf("PE %d: %s", pe, describeEdge(e)))
		pe = e.Peer
	}
}

// letOthersFind waits for as long as may be between two looks of the others, who find the circle by what this
// PE says it waits for. If it went at once, they would see its end instead of the reason.
func (g *Group) letOthersFind() {
	if g.n.sched == nil { // what ends in the simulator does not take others along
		_ = g.n.sleep(g.n.ctx, g.n.patience()/4+2*longNap)
	}
}
