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
func (t *Team) outOfStep() error {
	u := &t.turns
	if u.broken != nil {
		return u.broken
	}
	start := t.w.n.now()
	for {
		found, wait := t.findVerdict()
		if found != nil {
			return t.adopt(found)
		}
		// A member that cancels a call publishes the reason at once.
		if !wait || t.w.n.now()-start > peekTime || t.w.n.sleep(t.w.n.ctx, nap) != nil {
			break
		}
	}
	return t.disagree()
}

// disagree finds out which members have called what, and ends the use of the team with that error. After a death
// members may well be in different calls: the death is the reason then, and each finds out about it.
func (t *Team) disagree() error {
	e := t.mismatch()
	if found, _ := t.findVerdict(); found != nil { // by another member, meanwhile
		return t.adopt(found)
	}
	if err := t.w.n.failure(); err != nil {
		return err
	}
	return t.end(e)
}

// findVerdict looks for a member that has found out why the call under way cannot complete. wait reports that a
// member is about to publish it.
func (t *Team) findVerdict() (found error, wait bool) {
	for i := range t.pes {
		tag, _, ok := t.peek(i, t.turns.n)
		if !ok || tag>>tagBits != t.turns.n {
			continue
		}
		switch tag & poisoned {
		case poisoned:
			if e := t.verdictOf(i); e != nil {
				return e, false
			}
		case cancelled:
			wait = true
		}
	}
	return nil, wait
}

// end ends the use of the team with e, for this PE and all other members.
func (t *Team) end(e error) error {
	t.tell(e)
	t.stayUntilTold()
	return e
}

// tell is end without waiting until the other members know.
func (t *Team) tell(e error) {
	t.board.verdict().store(e)
	t.spread() // before the members on this host know: otherwise other hosts may hear of the end of their processes first
	t.breakOff(e)
}

// adopt ends the use of the team for this PE with e, which another member may have found.
func (t *Team) adopt(e error) error {
	t.board.verdict().store(e)
	t.breakOff(e)
	return e
}

// breakOff ends the use of the team because of err.
func (t *Team) breakOff(err error) {
	u := &t.turns
	u.broken = err
	t.board.control().ended.Store(u.n)
	t.board.entry(u.n).tag.Store(u.n<<tagBits | poisoned)
	t.ringLocal()
}

// hasEnded reports whether a member whose control says ended has broken off before it was through with the call
// under way: in the last call of which this PE knows that all were in it, or since.
func (t *Team) hasEnded(ended uint64) bool {
	return ended != 0 && ended >= t.turns.met && ended <= t.turns.n
}

// Check looks at what the other members have called, and returns an error if that is not what this PE
// has: the wait is then for ever. With remote it looks at members of other hosts too, at intervals.
func (t *Team) Check(remote bool) error {
	n, mine := t.turns.n, t.turns.tag
	for k, i := range t.here {
		if i == t.me {
			continue
		}
		if v := t.local[k].entry(n).tag.Load(); v>>tagBits == n && v != mine {
			return t.outOfStep()
		}
		if t.hasEnded(t.local[k].control().ended.Load()) {
			return t.adopt(t.local[k].verdict().load()) // it found out in an earlier call
		}
	}
	if t.hasEnded(t.board.control().told.Load()) {
		return t.lookAround(true)
	}
	if err := t.hasLeft(); err != nil || !remote {
		return err
	}
	return t.lookAround(false)
}

// peek reads the entry of member i for call n, wherever it is.
func (t *Team) peek(i int, n uint64) (tag uint64, c call, ok bool) {
	off := uint64(slotOff(t.slot) + entryOff(n))
	var words [4]uint64
	for k, at := range [...]uintptr{0, callOff, callOff + 8, callOff + 16} {
		v, err := t.w.n.peekWord(t.pes[i], off+uint64(at))
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

// mismatch returns the error that lists which members called what in the call under way. If all members report the
// same call, they do not disagree, and the reason is unknown.
func (t *Team) mismatch() error {
	n := t.turns.n
	_, mine, _ := t.peek(t.me, n)
	e := &MismatchError{Call: fmt.Sprintf("%s (call %d of team %s)", mine, n, t.name)}
	said, exactly := make([]string, len(t.pes)), make([]string, len(t.pes))
	start := t.w.n.now()
	for i := range t.pes {
		var where string
		said[i], where = t.said(i, n, start)
		exactly[i] = said[i] + where
	}
	if e.Calls = whoSaid(said); len(e.Calls) == 1 {
		e.Calls = whoSaid(exactly)
	}
	if len(e.Calls) == 1 {
		if err := t.w.n.failure(); err != nil {
			return err
		}
		return &AbortedError{PE: -1, Call: e.Call, Err: errors.New("a member has left the call, and no member says why")}
	}
	return e
}

// said is what member i has called as its call n. One that has not got there yet is given a moment from
// start on: the list says more when it is there. where is the memory that it concerns.
func (t *Team) said(i int, n uint64, start time.Duration) (what, where string) {
	for {
		tag, c, ok := t.peek(i, n)
		switch {
		case !ok:
			return "does not answer", ""
		case tag>>tagBits == n && tag&poisoned == cancelled:
			return "has not got there", ""
		case tag>>tagBits == n && c.kind == kindClose:
			site, _ := t.w.n.leavingAt(t.pes[i])
			return leftText(site), ""
		case tag>>tagBits == n:
			return c.String(), fmt.Sprintf(" (to offset %#x, from %#x)", c.where>>32, c.where&0xffffffff)
		case tag>>tagBits > n:
			return "is in a later call", ""
		case t.w.n.now()-start > peekTime:
			return "has not got there", ""
		}
		if site, leaves := t.w.n.leavingAt(t.pes[i]); leaves && t.slot != worldSlot {
			return leftText(site), ""
		}
		if t.w.n.sleep(t.w.n.ctx, nap) != nil { // the World has ended, or a PE has
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

// The operators of reductions and scans, as they stand in entries.
const (
	operatorNone = iota
	operatorAnd
	operatorOr
	operatorXor
	operatorMin
	operatorMax
	operatorSum
	operatorProd
	operatorFunc
)

var operatorNames = [16]string{"", "and", "or", "xor", "min", "max", "sum", "prod", "func"}
