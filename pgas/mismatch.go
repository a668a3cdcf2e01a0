package pgas

// What happens when the members of a team are not in the same call. Whoever waits sees it in the tag it
// waits for, or, if that never comes, by looking at the others' entries before it goes to sleep. It then
// poisons its own entry, so that all others see it too, and everybody returns the same *MismatchError,
// which says who called what, in place of a hang.

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// outOfStep ends the use of the team: it finds out who called what, unless another member has found that,
// tells the others, and returns the error.
func (g *Group) outOfStep() error {
	u := &g.turns
	if u.broken != nil {
		return u.broken
	}
	start := g.n.now()
	for {
		found, wait := g.findVerdict()
		if found != nil {
			return g.adopt(found)
		}
		// A member that cancels a call publishes the reason at once.
		if !wait || g.n.now()-start > peekTime || g.n.sleep(g.n.ctx, nap) != nil {
			break
		}
	}
	return g.disagree()
}

// disagree finds out which members have called what, and ends the use of the team with that error. After a death
// members may well be in different calls: the death is the reason then, and each finds out about it.
func (g *Group) disagree() error {
	r, err := g.mismatch()
	if found, _ := g.findVerdict(); found != nil { // by another member, meanwhile
		return g.adopt(found)
	}
	if err := firstError(g.n.failure(), err); err != nil {
		return err
	}
	return g.end(r)
}

// findVerdict looks for a member that has found out why the call under way cannot complete. wait reports that a
// member is about to publish it.
func (g *Group) findVerdict() (found *reason, wait bool) {
	for i := range g.pes {
		tag, _, ok := g.peek(i, g.turns.n)
		if !ok || tag>>tagBits != g.turns.n {
			continue
		}
		switch tag & poisoned {
		case poisoned:
			if r := g.verdictOf(i); r != nil {
				return r, false
			}
		case cancelled:
			wait = true
		}
	}
	return nil, wait
}

// end ends the use of the team because of r, for this PE and all other members, and returns the error.
func (g *Group) end(r *reason) error {
	g.tell(r)
	g.stayUntilTold()
	return g.turns.broken
}

// tell is end without waiting until the other members know.
func (g *Group) tell(r *reason) {
	g.board.verdict().store(r)
	g.spread() // before the members on this host know: otherwise other hosts may hear of the end of their processes first
	g.breakOff(g.errorOf(r))
}

// adopt ends the use of the team for this PE because of r, which another member may have found.
func (g *Group) adopt(r *reason) error {
	g.board.verdict().store(r)
	g.breakOff(g.errorOf(r))
	return g.turns.broken
}

// breakOff ends the use of the team because of err.
func (g *Group) breakOff(err error) {
	u := &g.turns
	u.broken = err
	g.board.control().ended.Store(u.n)
	g.board.entry(u.n).tag.Store(u.n<<tagBits | poisoned)
	g.ringLocal()
}

// hasEnded reports whether a member whose control says ended has broken off before it was through with the call
// under way: in the last call of which this PE knows that all were in it, or since.
func (g *Group) hasEnded(ended uint64) bool {
	return ended != 0 && ended >= g.turns.met && ended <= g.turns.n
}

// Check looks at what the other members have called, and returns an error if that is not what this PE
// has: the wait is then for ever. With remote it looks at members of other hosts too, at intervals.
func (g *Group) Check(remote bool) error {
	n, mine := g.turns.n, g.turns.tag
	for k, i := range g.here {
		if i == g.me {
			continue
		}
		if v := g.local[k].entry(n).tag.Load(); v>>tagBits == n && v != mine {
			return g.outOfStep()
		}
		if g.hasEnded(g.local[k].control().ended.Load()) {
			return g.adopt(g.local[k].verdict().load()) // it found out in an earlier call
		}
	}
	if g.hasEnded(g.board.control().told.Load()) {
		return g.lookAround(true)
	}
	if err := g.hasLeft(); err != nil || !remote {
		return err
	}
	return g.lookAround(false)
}

// peek reads the entry of member i for call n, wherever it is.
func (g *Group) peek(i int, n uint64) (tag uint64, c call, ok bool) {
	off := uint64(slotOff(g.slot) + entryOff(n))
	var words [4]uint64
	for k, at := range [...]uintptr{0, callOff, callOff + 8, callOff + 16} {
		v, err := g.n.peekWord(g.pes[i], off+uint64(at))
		if err != nil {
			return 0, call{}, false
		}
		if words[k] = v; k == 0 && (v>>tagBits != n || v&poisoned == cancelled) {
			break // the rest may be about to change
		}
	}
	return words[0], unpackCall(words[1], words[2], words[3]), true
}

// peekTime is how long a look at another host's member may take, and how long those who are late are
// waited for.
const peekTime = time.Second

// mismatch lists which members called what in the call under way. If all members report the same call, they do not
// disagree: then the reason is unknown, or a *PeerError is returned.
func (g *Group) mismatch() (*reason, error) {
	n := g.turns.n
	_, mine, _ := g.peek(g.me, n)
	r := &reason{call: fmt.Sprintf("%s (call %d of team %s)", mine, n, g.name)}
	said, exactly := make([]string, len(g.pes)), make([]string, len(g.pes))
	start := g.n.now()
	for i := range g.pes {
		var where string
		said[i], where = g.said(i, n, start)
		exactly[i] = said[i] + where
	}
	if r.calls = whoSaid(said); len(r.calls) == 1 {
		r.calls = whoSaid(exactly)
	}
	if len(r.calls) == 1 {
		if err := g.n.failure(); err != nil {
			return nil, err
		}
		return &reason{call: r.call, pe: -1, err: errors.New("a member has left the call, and no member says why")}, nil
	}
	return r, nil
}

// said is what member i has called as its call n. One that has not got there yet is given a moment from
// start on: the list says more when it is there. where is the memory that it concerns.
func (g *Group) said(i int, n uint64, start time.Duration) (what, where string) {
	for {
		tag, c, ok := g.peek(i, n)
		switch {
		case !ok:
			return "does not answer", ""
		case tag>>tagBits == n && tag&poisoned == cancelled:
			return "has not got there", ""
		case tag>>tagBits == n && c.kind == kindClose:
			site, _ := g.n.leavingAt(g.pes[i])
			return leftText(site), ""
		case tag>>tagBits == n:
			return c.String(), fmt.Sprintf(" (to offset %#x, from %#x)", c.where>>32, c.where&0xffffffff)
		case tag>>tagBits > n:
			return "is in a later call", ""
		case g.n.now()-start > peekTime:
			return "has not got there", ""
		}
		if site, leaves := g.n.leavingAt(g.pes[i]); leaves && g.slot != worldSlot {
			return leftText(site), ""
		}
		if g.n.sleep(g.n.ctx, nap) != nil { // the World has ended, or a PE has
			return "has not got there", ""
		}
	}
}

// whoSaid groups the PEs that said the same, in order of the first.
func whoSaid(said []string) []string {
	var lines []string
	done := map[string]bool{}
	for _, s := range said {
		if done[s] {
			continue
		}
		done[s] = true
		var who []string
		for i := range said {
			if said[i] == s {
				who = append(who, fmt.Sprint(i))
			}
		}
		lines = append(lines, fmt.Sprintf("PE %s: %s", strings.Join(who, ","), s))
	}
	return lines
}

func (c call) String() string {
	s := c.kind.String()
	switch c.kind {
	case kindSplit:
		return splitNames[c.op&3] + " " + s
	case kindAgree, kindSync, kindNone, kindClose:
		return s
	case kindReduce, kindInscan, kindExscan:
		s = operatorNames[c.op&0xf] + " " + s + optionsIn(c.op>>4)
		if c.root == 1 {
			s += " in the order of the team"
		}
	case kindBroadcast:
		s += fmt.Sprintf(" from PE %d", c.root)
		fallthrough
	default:
		s += optionsIn(c.op)
	}
	if c.size == 0 {
		return s
	}
	return s + fmt.Sprintf(" of %d × %d bytes", c.count, c.size)
}
