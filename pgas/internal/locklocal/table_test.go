package locklocal

// The seats of a PE by lock, with their slots, against a twin that has a seat for each lock and no slots.

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// colliding are offsets of locks of which several share a slot.
func colliding() (offs []uintptr) {
	first := uintptr(4096)
	for off := first; len(offs) < 3; off += 8 {
		if slotOf(off) == slotOf(first) {
			offs = append(offs, off)
		}
	}
	for off := first; len(offs) < 5; off += 8 {
		if slotOf(off) != slotOf(first) {
			offs = append(offs, off)
		}
	}
	return offs
}

// A pair is a lockTable and the twin's seats, with who stands in line at each lock.
type pair struct {
	set  Table
	twin map[uintptr]*Queue
	line map[uintptr][][2]*Waiter // the same goroutine, in the set and in the twin
}

// act does one random thing that may happen to the lock at off, with both, and says how they differ.
func (p *pair) act(rng *rand.Rand, off uintptr) string {
	t := p.twin[off]
	if t == nil {
		t = &Queue{}
		p.twin[off] = t
	}
	switch t.state {
	case stateBusy:
		switch rng.IntN(4) {
		case 0:
			p.set.Acquired(off)
			t.Acquired()
		case 1:
			p.set.Left(off)
			t.Left()
		case 2:
			if a, b := p.set.Abandon(off), t.Abandon(); a == b {
				return "who gives up is told different things"
			}
		default:
			return p.come(rng, off, t)
		}
	case stateHeld:
		if rng.IntN(2) == 0 {
			return p.come(rng, off, t)
		}
		if a, b := p.set.Release(off), t.Release(); a != b {
			return "release differs"
		}
	default:
		if rng.IntN(8) == 0 && p.set.Release(off) {
			return "what nobody holds was released"
		}
		return p.come(rng, off, t)
	}
	return p.told(off)
}

// come lets a goroutine arrive or try, or one in line go.
func (p *pair) come(rng *rand.Rand, off uintptr, t *Queue) string {
	if line := p.line[off]; len(line) > 0 && rng.IntN(3) == 0 {
		i := rng.IntN(len(line))
		a, b := p.set.Leave(off, line[i][0]), t.Leave(line[i][1])
		p.line[off] = slices.Delete(line, i, i+1)
		if a != b {
			return "who leaves the line is told different things"
		}
		return ""
	}
	if rng.IntN(3) == 0 {
		return p.take(rng, off, t)
	}
	if rng.IntN(3) == 0 {
		if a, b := p.set.Try(off), t.Try(); a != b {
			return "try differs"
		}
		return ""
	}
	a, mine := p.set.Join(off)
	b, twin := t.Join()
	if a != b || (mine == nil) != (twin == nil) {
		return "who arrives is told different things"
	}
	if mine != nil {
		p.line[off] = append(p.line[off], [2]*Waiter{mine, twin})
	}
	return ""
}

// take takes the lock at once, which may be refused though it could be had, and may give it back.
func (p *pair) take(rng *rand.Rand, off uintptr, t *Queue) string {
	if !p.set.Take(off) {
		return ""
	}
	if !t.Try() {
		return "a lock was taken that another goroutine deals with"
	}
	t.Acquired()
	if rng.IntN(2) == 0 {
		p.set.GiveBack(off)
		t.Left()
	}
	return p.told(off)
}

// told compares what those in line have been told, and dismisses them.
func (p *pair) told(off uintptr) string {
	for len(p.line[off]) > 0 && p.line[off][0][1].Directive != Wait {
		if p.line[off][0][0].Directive != p.line[off][0][1].Directive {
			return "who stood in line is told different things"
		}
		p.line[off] = p.line[off][1:]
	}
	return ""
}

// invariant says what is wrong with the set's slots.
func (p *pair) invariant() string {
	var seated [slotCount]int
	for off := range p.set.queues {
		seated[slotOf(off)]++
	}
	if seated != p.set.used {
		return "seats are counted wrongly"
	}
	for i := range p.set.slots {
		if (p.set.slots[i].Load() == slotShared) != (seated[i] > 0) {
			return "a slot is shared without seats, or has seats and is not"
		}
	}
	for off, t := range p.twin {
		v, s := p.set.slots[slotOf(off)].Load(), p.set.queues[off]
		switch {
		case s != nil && (s.state != t.state || len(s.Line) != len(t.Line)):
			return "a seat differs"
		case s == nil && t.state != stateAbsent && v != inSlot(off, t.state):
			return "a slot differs"
		}
	}
	return ""
}

func TestLockSet(t *testing.T) {
	offs := colliding()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		p := pair{twin: map[uintptr]*Queue{}, line: map[uintptr][][2]*Waiter{}}
		used := offs[:1+rng.IntN(len(offs))]
		for i := range 300 {
			wrong := p.act(rng, used[rng.IntN(len(used))])
			if wrong == "" {
				wrong = p.invariant()
			}
			if wrong != "" {
				t.Fatalf("seed %d, step %d: %s (go test ./pgas/internal/locklocal -run TestLockSet)", seed, i, wrong)
			}
		}
	}
}

// Goroutines at several locks of one slot: one at a time is near each lock.
func TestLockSetTogether(t *testing.T) {
	var s Table
	var wg sync.WaitGroup
	offs := colliding()
	counts := make([]int, len(offs)) // guarded by the locks
	const goroutines, rounds = 6, 2000
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				k := (g + i) % len(offs)
				if o, me := s.Join(offs[k]); o == Wait {
					<-me.Wake
				}
				s.Acquired(offs[k])
				counts[k]++
				if !s.Release(offs[k]) {
					t.Error("the set does not know that a lock is held")
				}
				s.Left(offs[k])
			}
		})
	}
	wg.Wait()
	all := 0
	for _, n := range counts {
		all += n
	}
	if all != goroutines*rounds || len(s.queues) != 0 {
		t.Errorf("%d turns of %d; seats %v", all, goroutines*rounds, s.queues)
	}
}
