package pgas

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

// A pair is a lockSet and the twin's seats, with who stands in line at each lock.
type pair struct {
	set  lockSet
	twin map[uintptr]*seat
	line map[uintptr][][2]*lockWaiter // the same goroutine, in the set and in the twin
}

// act does one random thing that may happen to the lock at off, with both, and says how they differ.
func (p *pair) act(rng *rand.Rand, off uintptr) string {
	t := p.twin[off]
	if t == nil {
		t = &seat{}
		p.twin[off] = t
	}
	switch t.stage {
	case stageBusy:
		switch rng.IntN(4) {
		case 0:
			p.set.got(off)
			t.got()
		case 1:
			p.set.away(off)
			t.away()
		case 2:
			if a, b := p.set.abandon(off), t.abandon(); a == b {
				return "who gives up is told different things"
			}
		default:
			return p.come(rng, off, t)
		}
	case stageHeld:
		if rng.IntN(2) == 0 {
			return p.come(rng, off, t)
		}
		if a, b := p.set.release(off), t.release(); a != b {
			return "release differs"
		}
	default:
		if rng.IntN(8) == 0 && p.set.release(off) {
			return "what nobody holds was released"
		}
		return p.come(rng, off, t)
	}
	return p.told(off)
}

// come lets a goroutine arrive or try, or one in line go.
func (p *pair) come(rng *rand.Rand, off uintptr, t *seat) string {
	if line := p.line[off]; len(line) > 0 && rng.IntN(3) == 0 {
		i := rng.IntN(len(line))
		a, b := p.set.withdraw(off, line[i][0]), t.withdraw(line[i][1])
		p.line[off] = slices.Delete(line, i, i+1)
		if a != b {
			return "who leaves the line is told different things"
		}
		return ""
	}
	if rng.IntN(3) == 0 {
		if a, b := p.set.try(off), t.try(); a != b {
			return "try differs"
		}
		return ""
	}
	a, mine := p.set.arrive(off)
	b, twin := t.arrive()
	if a != b || (mine == nil) != (twin == nil) {
		return "who arrives is told different things"
	}
	if mine != nil {
		p.line[off] = append(p.line[off], [2]*lockWaiter{mine, twin})
	}
	return ""
}

// told compares what those in line have been told, and dismisses them.
func (p *pair) told(off uintptr) string {
	for len(p.line[off]) > 0 && p.line[off][0][1].told != orderWait {
		if p.line[off][0][0].told != p.line[off][0][1].told {
			return "who stood in line is told different things"
		}
		p.line[off] = p.line[off][1:]
	}
	return ""
}

// invariant says what is wrong with the set's slots.
func (p *pair) invariant() string {
	var seated [lockSlots]int
	for off := range p.set.seats {
		seated[slotOf(off)]++
	}
	if seated != p.set.seated {
		return "seats are counted wrongly"
	}
	for i := range p.set.slots {
		if (p.set.slots[i].Load() == slotShared) != (seated[i] > 0) {
			return "a slot is shared without seats, or has seats and is not"
		}
	}
	for off, t := range p.twin {
		v, s := p.set.slots[slotOf(off)].Load(), p.set.seats[off]
		switch {
		case s != nil && (s.stage != t.stage || len(s.line) != len(t.line)):
			return "a seat differs"
		case s == nil && t.stage != stageAway && v != inSlot(off, t.stage):
			return "a slot differs"
		}
	}
	return ""
}

func TestLockSet(t *testing.T) {
	offs := colliding()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		p := pair{twin: map[uintptr]*seat{}, line: map[uintptr][][2]*lockWaiter{}}
		used := offs[:1+rng.IntN(len(offs))]
		for i := range 300 {
			wrong := p.act(rng, used[rng.IntN(len(used))])
			if wrong == "" {
				wrong = p.invariant()
			}
			if wrong != "" {
				t.Fatalf("seed %d, step %d: %s (go test ./pgas -run TestLockSet)", seed, i, wrong)
			}
		}
	}
}

// Goroutines at several locks of one slot: one at a time is near each lock.
func TestLockSetTogether(t *testing.T) {
	var s lockSet
	var wg sync.WaitGroup
	offs := colliding()
	counts := make([]int, len(offs)) // guarded by the locks
	const goroutines, rounds = 6, 2000
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				k := (g + i) % len(offs)
				if o, me := s.arrive(offs[k]); o == orderWait {
					<-me.wake
				}
				s.got(offs[k])
				counts[k]++
				if !s.release(offs[k]) {
					t.Error("the set does not know that a lock is held")
				}
				s.away(offs[k])
			}
		})
	}
	wg.Wait()
	all := 0
	for _, n := range counts {
		all += n
	}
	if all != goroutines*rounds || len(s.seats) != 0 {
		t.Errorf("%d turns of %d; seats %v", all, goroutines*rounds, s.seats)
	}
}
