package racecheck

// The shadow of a PE's memory: which accesses its bytes have had that later ones may race with.
//
// It consists of segments: intervals of bytes with the same accesses. A range that was accessed as one is one segment
// in each page, and splits where a later access begins or ends in it. An access leaves a segment when a later one
// supersedes it: when whatever races with the one also races with the other.
//
// The number of segments, and of accesses in a segment, is bounded. What finds no room takes the place of something
// else, so races may be missed and none is invented.

import "slices"

const (
	pageBits  = 12
	pageBytes = 1 << pageBits

	// mostSegments bounds the segments of a shadow.
	mostSegments = 1 << 20
	// mostAccesses bounds the accesses of a segment, in a job of few PEs.
	mostAccesses = 32
	// accessesOfPE is how many accesses of each PE a segment has room for: by steps, and by
	// operations of some contexts.
	accessesOfPE = 4
)

// A shadow holds the accesses to memory by address or offset.
type shadow struct {
	pages    map[uint64]*page
	segments int
	most     int    // the most segments; 0: mostSegments
	deep     int    // the most accesses of a segment; 0: mostAccesses
	lost     func() // is called when an access finds no room
}

// page has the segments of one page, in order. They do not overlap.
type page struct{ segments []segment }

// segment is an interval of a page with the accesses that all its bytes have had.
type segment struct {
	lo, hi uint32    // offsets in the page, hi excluded
	had    []*Access // is never changed in place
}

// add adds an access to the bytes from lo to hi, and calls found for each earlier one that it races with, with the
// bytes of both. alone is a slice with a alone.
func (s *shadow) add(a *Access, alone []*Access, lo, hi uint64, found func(e *Access, lo, hi uint64)) {
	for lo < hi {
		end := min(hi, lo&^(pageBytes-1)+pageBytes)
		p := s.page(lo >> pageBits)
		before := len(p.segments)
		base := lo &^ (pageBytes - 1)
		p.add(s, a, alone, uint32(lo-base), uint32(end-base), func(e *Access, lo, hi uint32) {
			found(e, base+uint64(lo), base+uint64(hi))
		})
		s.segments += len(p.segments) - before
		lo = end
	}
}

// replace is add in the most frequent case: the bytes from lo to hi are a segment, of which an access that only this
// segment has is superseded, or a tells nothing new. It returns the access in the shadow, or nil if that needs none. In
// other cases it does nothing and reports false. releases says that a releases into the word.
func (s *shadow) replace(a *Access, lo, hi uint64, releases bool) (at *Access, ok bool) {
	p := s.pages[lo>>pageBits]
	base := lo &^ (pageBytes - 1)
	if p == nil || hi-base > pageBytes || hi <= lo {
		return nil, false
	}
	x := p.exact(uint32(lo-base), uint32(hi-base))
	if x == nil {
		return nil, false
	}
	needed := true
	for _, e := range x.had {
		switch {
		case e.repeats(a):
			needed = false
		case race(a, e):
			return nil, false
		case a.supersedes(e):
			if at != nil || e.kept || e.word && !(releases && e.standsIn(a)) {
				return nil, false
			}
			at = e
		case e.supersedes(a):
			needed = false
		}
	}
	switch {
	case !needed:
		return nil, at == nil
	case at == nil:
		return nil, false
	}
	word := at.word
	*at = *a
	at.word = word
	return at, true
}

// exact returns the segment of those bytes, or nil if there is none.
func (p *page) exact(lo, hi uint32) *segment {
	n := len(p.segments)
	if n == 0 || lo < p.segments[0].lo || hi == lo {
		return nil
	}
	i := int(lo-p.segments[0].lo) / int(hi-lo) // if all are of one size, without a gap
	if i >= n || p.segments[i].lo != lo {
		if i = p.find(lo); i == n {
			return nil
		}
	}
	if x := &p.segments[i]; x.lo == lo && x.hi == hi {
		return x
	}
	return nil
}

// page returns a page. If there is no room for a new one, another page is forgotten.
func (s *shadow) page(number uint64) *page {
	p := s.pages[number]
	if p != nil {
		return p
	}
	most := s.most
	if most == 0 {
		most = mostSegments
	}
	for other, q := range s.pages {
		if s.segments < most {
			break
		}
		s.segments -= len(q.segments)
		delete(s.pages, other)
		s.forgot()
	}
	if s.pages == nil {
		s.pages = map[uint64]*page{}
	}
	p = new(page)
	s.pages[number] = p
	return p
}

func (s *shadow) forgot() {
	if s.lost != nil {
		s.lost()
	}
}

// find returns the index of the first segment that ends behind an offset.
func (p *page) find(lo uint32) int {
	i, end := 0, len(p.segments)
	for i < end {
		if m := int(uint(i+end) >> 1); p.segments[m].hi <= lo {
			i = m + 1
		} else {
			end = m
		}
	}
	return i
}

// add adds an access to bytes of the page.
func (p *page) add(s *shadow, a *Access, alone []*Access, lo, hi uint32, found func(e *Access, lo, hi uint32)) {
	i := p.find(lo)
	if i < len(p.segments) && p.segments[i].lo == lo && p.segments[i].hi == hi { // the most frequent case
		p.segments[i].had = s.meet(a, alone, &p.segments[i], lo, hi, found)
		return
	}
	if i == len(p.segments) || p.segments[i].lo >= hi {
		p.segments = slices.Insert(p.segments, i, segment{lo, hi, alone})
		return
	}
	p.split(s, i, a, alone, lo, hi, found)
}

// split is add where segments from i on overlap the bytes in part.
func (p *page) split(s *shadow, i int, a *Access, alone []*Access, lo, hi uint32, found func(e *Access, lo, hi uint32)) {
	a.kept = true // it may be in several pieces, as those that they had
	var pieces []segment
	put := func(x segment) {
		if n := len(pieces); n > 0 && pieces[n-1].hi == x.lo && same(pieces[n-1].had, x.had) {
			pieces[n-1].hi = x.hi
		} else if x.lo < x.hi {
			pieces = append(pieces, x)
		}
	}
	at, end := lo, i
	for ; end < len(p.segments) && p.segments[end].lo < hi; end++ {
		x := p.segments[end]
		for _, e := range x.had {
			e.kept = true
		}
		put(segment{x.lo, min(x.hi, max(x.lo, lo)), x.had})
		put(segment{at, max(at, x.lo), alone})
		from, to := max(x.lo, lo), min(x.hi, hi)
		put(segment{from, to, s.meet(a, alone, &x, from, to, found)})
		put(segment{to, max(to, x.hi), x.had})
		at = to
	}
	put(segment{at, max(at, hi), alone})
	p.segments = slices.Replace(p.segments, i, end, pieces...)
}

// same reports whether two lists of accesses are equal. Lists are kept short, and most are of one access.
func same(a, b []*Access) bool { return slices.Equal(a, b) }

// meet compares a with the accesses of x, and returns those that x has afterwards.
func (s *shadow) meet(a *Access, alone []*Access, x *segment, lo, hi uint32, found func(e *Access, lo, hi uint32)) []*Access {
	needed, superseded := true, 0
	for _, e := range x.had {
		switch {
		case e.repeats(a):
			needed = false
		case race(a, e):
			found(e, lo, hi)
		case a.supersedes(e):
			superseded++
		case e.supersedes(a):
			needed = false
		}
	}
	switch {
	case !needed && superseded == 0:
		return x.had
	case needed && superseded == len(x.had):
		return alone
	}
	var left []*Access
	for _, e := range x.had {
		if e.repeats(a) || race(a, e) || !a.supersedes(e) {
			left = append(left, e)
		}
	}
	if needed {
		left = append(left, a)
	}
	if n := len(left) - max(s.deep, mostAccesses); n > 0 {
		s.forgot()
		left = slices.Clip(left[n:])
	}
	return left
}

// forget drops what is known of the bytes from lo to hi.
func (s *shadow) forget(lo, hi uint64) {
	for number, p := range s.pages {
		base := number << pageBits
		if base+pageBytes <= lo || base >= hi {
			continue
		}
		s.segments -= len(p.segments)
		if p.forget(base, lo, hi); len(p.segments) == 0 {
			delete(s.pages, number)
		}
		s.segments += len(p.segments)
	}
}

func (p *page) forget(base, lo, hi uint64) {
	var left []segment
	for _, x := range p.segments {
		from, to := base+uint64(x.lo), base+uint64(x.hi)
		if from < lo && lo < to || from < hi && hi < to {
			for _, e := range x.had {
				e.kept = true
			}
		}
		if from < lo {
			left = append(left, segment{x.lo, uint32(min(to, lo) - base), x.had})
		}
		if to > hi {
			left = append(left, segment{uint32(max(from, hi) - base), x.hi, x.had})
		}
	}
	p.segments = left
}
