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
func (t *Team) Edge(peer int) WaitEdge {
	return WaitEdge{
		Peer:  t.missing(peer),
		Kind:  uint8(t.board.entry(t.turns.n).call),
		Call:  t.turns.n,
		Slot:  t.slot,
		First: t.pes[0],
		Size:  len(t.pes),
	}
}

// missing is the first PE of this host that has not entered the call under way, or pe if all have.
func (t *Team) missing(pe int) int {
	for k, i := range t.here {
		if t.local[k].entry(t.turns.n).tag.Load()>>tagBits < t.turns.n {
			return t.pes[i]
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
func (t *Team) lookAround(told bool) error {
	u, now := &t.turns, t.w.n.wall()
	if u.lookTag != u.tag {
		u.lookTag, u.lookSince, u.nextLook = u.tag, now, now.Add(firstLook)
	}
	if now.Before(u.nextLook) && !told {
		return nil
	}
	waited := now.Sub(u.lookSince)
	t.w.n.updateEdge(t.missing)
	u.nextLook = now.Add(min(waited, t.w.n.patience()/4))
	for i := range t.pes {
		tag, _, ok := t.peek(i, u.n)
		if ok && tag>>tagBits == u.n && tag != u.tag {
			return t.outOfStep()
		}
		ended, err := t.w.n.peekWord(t.pes[i], uint64(slotOff(t.slot)+controlOff+endedOff))
		if err == nil && t.hasEnded(ended) {
			if e := t.verdictOf(i); e != nil {
				return t.adopt(e)
			}
		}
		if ok && tag>>tagBits < u.n && t.isLeaving(i) { // checked last: a member may leave because of its verdict
			return t.disagree()
		}
	}
	if waited < t.w.n.patience() {
		return nil
	}
	return t.crossed(now)
}

// crossed follows the waits from this PE on, and returns an error if they lead in a circle.
func (t *Team) crossed(now time.Time) error {
	place := map[int]int{} // of a PE in lines
	var lines []string
	for pe := t.w.n.job.PE; ; {
		if from, seen := place[pe]; seen {
			t.letOthersFind()
			u := &t.turns
			return t.end(&MismatchError{
				Call:  fmt.Sprintf("%s (call %d of team %s)", kind(t.board.entry(u.n).call&0xff), u.n, t.name),
				Calls: lines[from:],
			})
		}
		e, ok := t.w.n.edgeOf(pe)
		if !ok || now.UnixNano()-e.Since < int64(t.w.n.patience()) || e.Peer < 0 || e.Peer >= t.w.n.job.NPEs {
			return nil
		}
		place[pe] = len(lines)
		lines = append(lines, fmt.Sprintf("PE %d: %s", pe, describeEdge(e)))
		pe = e.Peer
	}
}

// letOthersFind waits for as long as may be between two looks of the others, who find the circle by what this
// PE says it waits for. If it went at once, they would see its end instead of the reason.
func (t *Team) letOthersFind() {
	if t.w.n.sched == nil { // what ends in the simulator does not take others along
		_ = t.w.n.sleep(t.w.n.ctx, t.w.n.patience()/4+2*longNap)
	}
}
