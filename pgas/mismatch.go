package pgas

// What happens when the members of a team are not in the same call. Whoever waits sees it in the tag it
// waits for, or, if that never comes, by looking at the others' entries before it goes to sleep. It then
// poisons its own entry, so that all others see it too, and everybody returns the same *MismatchError,
// which says who called what, in place of a hang.

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// outOfStep ends the use of the team: it poisons this PE's entry, wakes the others, and returns the error
// that says who called what.
func (t *Team) outOfStep() error {
	if t.turns.broken == nil {
		t.turns.broken = t.mismatch()
		t.board.entry(t.turns.n).tag.Store(t.turns.n<<tagBits | poisoned)
		t.ringLocal()
	}
	return t.turns.broken
}

// stuck looks at what the other members have called, and returns an error if that is not what this PE
// has: the wait is then for ever. A look at members of other hosts is a message to each.
func (t *Team) stuck(everywhere bool) error {
	n, mine := t.turns.n, t.turns.tag
	for k, i := range t.here {
		if i == t.me {
			continue
		}
		if v := t.local[k].entry(n).tag.Load(); v>>tagBits == n && v != mine || t.wasPoisoned(t.local[k], n) {
			return t.outOfStep()
		}
	}
	if !everywhere {
		return nil
	}
	for i := range t.pes {
		tag, _, ok := t.peek(i, n)
		if ok && tag>>tagBits == n && tag != mine {
			return t.outOfStep()
		}
	}
	return nil
}

// wasPoisoned reports whether the owner of b found out in the call before n.
func (t *Team) wasPoisoned(b board, n uint64) bool {
	return b.entry(n-1).tag.Load() == (n-1)<<tagBits|poisoned
}

// peek reads the entry of member i for call n, wherever it is.
func (t *Team) peek(i int, n uint64) (tag uint64, c call, ok bool) {
	off := uint64(slotOff(t.slot) + entryOff(n))
	var words [4]uint64
	to := t.pes[i]
	ctx, cancel := context.WithTimeout(t.w.ctx, peekTime)
	defer cancel()
	for k := range words {
		v, err := t.w.def.courier(to).Atomic(ctx, to, opFetch, word8(off+8*uint64(k)), 0, 0)
		if err != nil {
			return 0, call{}, false
		}
		if words[k] = v; k == 0 && v>>tagBits != n {
			break // the rest may be about to change
		}
	}
	return words[0], unpackCall(words[1], words[2], words[3]), true
}

// peekTime is how long a look at another host's member may take, and how long those who are late are
// waited for.
const peekTime = time.Second

// mismatch is the error that says who called what in call n.
func (t *Team) mismatch() error {
	n := t.turns.n
	_, mine, _ := t.peek(t.me, n)
	e := &MismatchError{Call: fmt.Sprintf("%s (call %d of team %s)", mine, n, t.name)}
	said := make([]string, len(t.pes))
	start := time.Now()
	for i := range t.pes {
		said[i] = t.said(i, n, start)
	}
	e.Calls = whoSaid(said)
	return e
}

// said is what member i has called as its call n. One that has not got there yet is given a moment from
// start on: the list says more when it is there.
func (t *Team) said(i int, n uint64, start time.Time) string {
	for {
		tag, c, ok := t.peek(i, n)
		switch {
		case !ok:
			return "does not answer"
		case tag>>tagBits == n:
			return c.String()
		case tag>>tagBits > n:
			return "is in a later call"
		case time.Since(start) > peekTime:
			return "has not got there"
		}
		time.Sleep(nap)
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
	case kindAgree, kindSync, kindNone:
		return s
	case kindReduce, kindInscan, kindExscan:
		s = operatorNames[c.op&0xf] + " " + s
	case kindBroadcast:
		s += fmt.Sprintf(" from PE %d", c.root)
	}
	if c.size == 0 {
		return s
	}
	s += fmt.Sprintf(" of %d × %d bytes", c.count, c.size)
	if c.where != 0 {
		s += fmt.Sprintf(" (ranges %#x)", c.where)
	}
	return s
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
