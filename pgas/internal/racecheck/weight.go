package racecheck

// How many bytes a detector keeps, and what it forgets if they are too many.
//
// Accesses share clocks, and clocks components, so no count of them says how many bytes there are. From time to time a
// detector walks over all that it keeps, and counts what it has not come to before.

import (
	"reflect"
	"sync/atomic"
)

const (
	// mostBytes bounds what a detector keeps: it forgets something when it has more, and not sooner than by half as
	// many accesses again.
	mostBytes = 256 << 20
	// weighedAgain is after how many accesses at least it counts again.
	weighedAgain = 1 << 16
)

// weight says when a detector counts its bytes.
type weight struct {
	most  uint64 // bytes; 0: mostBytes
	added int    // accesses and words since the last count
	next  int    // count after so many; 0: weighedAgain
	count uint64 // of counts
}

// scales count bytes. What has mark was counted. Two detectors that count at once may both count what they share.
type scales struct {
	mark     uint64
	bytes    uint64
	accesses int
}

func sizeOf[T any]() uint64 { return uint64(reflect.TypeFor[T]().Size()) }

// clock counts a clock.
func (s *scales) clock(c *Clock) {
	if c == nil || atomic.SwapUint64(&c.mark, s.mark) == s.mark {
		return
	}
	s.bytes += sizeOf[Clock]() + 8*uint64(len(c.of))
	for _, p := range c.of {
		if p == nil || atomic.SwapUint64(&p.mark, s.mark) == s.mark {
			continue
		}
		s.bytes += sizeOf[component]() + 8*uint64(len(p.done))
		for i := range p.to {
			s.bytes += sizeOf[toPE]() + 8*uint64(len(p.to[i].singles))
		}
	}
}

// access counts an access.
func (s *scales) access(a *Access) {
	if a.mark == s.mark {
		return
	}
	a.mark = s.mark
	s.accesses++
	s.bytes += sizeOf[Access]()
	s.clock(a.Clock)
}

// page counts a page.
func (s *scales) page(p *page) {
	s.bytes += sizeOf[page]() + sizeOf[segment]()*uint64(cap(p.segments))
	for i := range p.segments {
		had := p.segments[i].had
		s.bytes += 8 * uint64(cap(had))
		for _, a := range had {
			s.access(a)
		}
	}
}

// due reports whether it is time to count, one access after the last time.
func (w *weight) due() bool {
	w.added++
	return w.added >= max(w.next, weighedAgain)
}

// scales returns scales for a count of the detector of a PE.
func (w *weight) scales(pe int) scales {
	w.count++
	return scales{mark: uint64(pe+1)<<32 | w.count&(1<<32-1)}
}

// counted notes what there is. It returns the share that is to be left, 1 or less.
func (w *weight) counted(s *scales) float64 {
	most := w.most
	if most == 0 {
		most = mostBytes
	}
	w.added, w.next = 0, s.accesses
	switch {
	case s.bytes <= most/4:
		return 1
	case s.bytes <= most:
		w.next /= 2
		return 1
	}
	w.next = 0
	return float64(most/2) / float64(s.bytes)
}
