package racecheck

// How many bytes a detector keeps.
//
// Accesses share clocks, and clocks components, so no count of them says how many bytes there are. A detector adds up
// what it comes to keep and has not counted yet. It does not notice what it keeps no longer. When the sum is too large,
// it walks over all that it keeps, and counts anew.

import (
	"reflect"
	"sync/atomic"
)

// mostBytes bounds what a detector keeps. With more it forgets something.
const mostBytes = 256 << 20

// weight is what a detector has counted since its last walk, that included.
type weight struct {
	scales
	most  uint64 // bytes; 0: mostBytes
	walks uint64
	next  uint64 // walk with more bytes than so many; 0: most
}

// scales count bytes. What has mark was counted. Two detectors that share something may both count it.
type scales struct {
	mark   uint64
	bytes  uint64
	orders uint64 // of them what a walk has found of notes and calls
}

func sizeOf[T any]() uint64 { return uint64(reflect.TypeFor[T]().Size()) }

// Sizes, with what a map or a slice needs to hold one.
var (
	clockBytes     = sizeOf[Clock]()
	componentBytes = sizeOf[component]()
	toBytes        = sizeOf[toPE]()
	commonBytes    = sizeOf[common]()
	entryBytes     = sizeOf[entry]()
	segmentBytes   = sizeOf[segment]()
	pageOfBytes    = sizeOf[page]() + mapBytes
)

// mapBytes is about what a map needs for a key and a pointer.
const mapBytes = 32

// clock counts a clock.
func (s *scales) clock(c *Clock) {
	if c == nil || atomic.LoadUint64(&c.mark) == s.mark {
		return
	}
	atomic.StoreUint64(&c.mark, s.mark)
	s.bytes += clockBytes + 8*uint64(len(c.of))
	for _, p := range c.of {
		if p == nil || atomic.LoadUint64(&p.mark) == s.mark {
			continue
		}
		atomic.StoreUint64(&p.mark, s.mark)
		s.bytes += componentBytes + 8*uint64(len(p.done))
		for i := range p.to {
			s.bytes += toBytes + 8*uint64(len(p.to[i].singles))
		}
	}
}

// common counts what accesses have in common.
func (s *scales) common(c *common) {
	if c.mark == s.mark {
		return
	}
	c.mark = s.mark
	s.bytes += commonBytes
	s.clock(c.Clock)
}

// page counts a page.
func (s *scales) page(p *page) {
	s.bytes += pageOfBytes + segmentBytes*uint64(cap(p.segments))
	for i := range p.segments {
		had := &p.segments[i].had
		s.bytes += entryBytes * uint64(cap(had.more))
		for j := range had.len() {
			s.common(had.at(j).common)
		}
	}
}

// start returns scales for the next walk of the detector of a PE.
func (w *weight) start(pe int) scales {
	w.walks++
	return scales{mark: uint64(pe+1)<<32 | w.walks&(1<<32-1)}
}

func (w *weight) limit() uint64 {
	if w.most == 0 {
		return mostBytes
	}
	return w.most
}

// due reports whether it is time for a walk.
func (w *weight) due() bool { return w.bytes > max(w.next, w.limit()) }

// share returns the share of what a walk has counted that is to be left: 1, or less if it is so much that the next walk
// would be due soon.
func (w *weight) share() float64 {
	if w.bytes <= w.limit()/4*3 {
		return 1
	}
	return float64(w.limit()/2) / float64(w.bytes)
}
