package pgas

// Collectives of overlapping teams in different orders: PE 0 is in a call of team A and waits for PE 1,
// which is in a call of team B and waits for PE 0. Nobody has called anything wrong on either team, so no
// tag shows it. A PE that waits in a collective for long says so in words at the start of its heap: which
// call, of which team, for whom. One that has waited longer than a dead host would be given follows these
// words from PE to PE; if they lead in a circle of PEs that have all waited that long, it returns a
// *MismatchError with what each is in.

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// waitsOff is where a PE's words are.
const (
	waitsOff   = 2048
	waitsWords = 5
)

type waitWords [waitsWords]atomic.Uint64

// A waiting is what a PE that waits in a collective says.
type waiting struct {
	since int64 // Unix nanoseconds; 0: it does not wait
	peer  int   // for this PE of the job
	kind  kind
	n     uint64 // number of the call
	first int    // first PE of the team, in the job
	size  int    // members
}

func (w *World) waitWords() *waitWords { return (*waitWords)(w.own(waitsOff)) }

// sayWaiting fills in the words; since comes last, and is cleared first.
func (w *World) sayWaiting(why blockedIn) {
	t := why.team
	if t == nil {
		return
	}
	words := w.waitWords()
	e := t.board.entry(t.turns.n)
	words[1].Store(uint64(t.missing(why.peer)))
	words[2].Store(e.call & 0xff)
	words[3].Store(why.seq)
	words[4].Store(uint64(t.pes[0])<<32 | uint64(len(t.pes)))
	words[0].Store(uint64(w.wall().UnixNano()))
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

func (w *World) stopWaiting() { w.waitWords()[0].Store(0) }

// waitingOf reads the words of a PE of the job.
func (w *World) waitingOf(pe int) (waiting, bool) {
	var v [waitsWords]uint64
	for i := range v {
		x, err := w.peekWord(pe, waitsOff+8*uint64(i))
		if err != nil || i == 0 && x == 0 {
			return waiting{}, false
		}
		v[i] = x
	}
	k := kind(v[2])
	if k >= numKinds {
		k = kindNone
	}
	return waiting{int64(v[0]), int(v[1]), k, v[3], int(v[4] >> 32), int(v[4] & 0xffffffff)}, true
}

func (x waiting) String() string {
	return fmt.Sprintf("in %s, call %d of the team of %d from PE %d, waiting for PE %d", x.kind, x.n, x.size, x.first, x.peer)
}

// firstLook is how long a wait lasts before its PE looks at members of other hosts.
const firstLook = 500 * time.Millisecond

// patience is how long PEs must have waited in a circle for it to count as one.
func (w *World) patience() time.Duration {
	if d := w.job.Settings.PeerTimeout; d > 0 {
		return d
	}
	return boot.DefaultPeerTimeout
}

// lookAround does the part of stuck that takes messages. It runs at growing intervals, but at once if a member
// has announced that the call was given up.
func (t *Team) lookAround(told bool) error {
	u, now := &t.turns, t.w.wall()
	if u.lookTag != u.tag {
		u.lookTag, u.lookSince, u.nextLook = u.tag, now, now.Add(firstLook)
	}
	if now.Before(u.nextLook) && !told {
		return nil
	}
	waited := now.Sub(u.lookSince)
	peer := &t.w.waitWords()[1]
	peer.Store(uint64(t.missing(int(peer.Load()))))
	u.nextLook = now.Add(min(waited, t.w.patience()/4))
	for i := range t.pes {
		tag, _, ok := t.peek(i, u.n)
		if ok && tag>>tagBits == u.n && tag != u.tag {
			return t.outOfStep()
		}
		ended, err := t.w.peekWord(t.pes[i], uint64(slotOff(t.slot)+controlOff+endedOff))
		if err == nil && t.hasEnded(ended) {
			if e := t.verdictOf(i); e != nil {
				return t.adopt(e)
			}
		}
		if ok && tag>>tagBits < u.n && t.isLeaving(i) { // checked last: a member may leave because of its verdict
			return t.disagree()
		}
	}
	if waited < t.w.patience() {
		return nil
	}
	return t.crossed(now)
}

// crossed follows the waits from this PE on, and returns an error if they lead in a circle.
func (t *Team) crossed(now time.Time) error {
	place := map[int]int{} // of a PE in lines
	var lines []string
	for pe := t.w.job.PE; ; {
		if from, seen := place[pe]; seen {
			t.w.letOthersFind()
			u := &t.turns
			return t.end(&MismatchError{
				Call:  fmt.Sprintf("%s (call %d of team %s)", kind(t.board.entry(u.n).call&0xff), u.n, t.name),
				Calls: lines[from:],
			})
		}
		x, ok := t.w.waitingOf(pe)
		if !ok || now.UnixNano()-x.since < int64(t.w.patience()) || x.peer < 0 || x.peer >= t.w.job.NPEs {
			return nil
		}
		place[pe] = len(lines)
		lines = append(lines, fmt.Sprintf("PE %d: %s", pe, x))
		pe = x.peer
	}
}

// letOthersFind waits for as long as may be between two looks of the others, who find the circle by what this
// PE says it waits for. If it went at once, they would see its end instead of the reason.
func (w *World) letOthersFind() {
	if w.sched == nil { // what ends in the simulator does not take others along
		_ = w.Sleep(w.ctx, w.patience()/4+2*longNap)
	}
}
