package racecheck

// The shadow of a PE's memory: which accesses its bytes have had that later ones may race with.
//
// It consists of segments: intervals of bytes with the same accesses. A range that was accessed as one is one segment
// in each page, and splits where a later access begins or ends in it. An access leaves a segment when a later one
// supersedes it: when whatever races with the one also races with the other.
//
// An access that releases into a word does so as long as the shadow has it. When it leaves, shadow.leave takes over
// what it releases, unless a later release stands in for it.
//
// The number of segments, and of accesses in a segment, is bounded. What finds no room takes the place of something
// else, so races may be missed and none is invented.

import (
	"iter"
	"slices"
)

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
	// mostReleases is how many releases are kept as they are, by a segment and by a word.
	mostReleases = 4
)

// A shadow holds the accesses to memory by address or offset.
type shadow struct {
	pages    map[uint64]*page
	segments int
	added    uint64 // entries that lists of segments have come to have room for
	most     int    // the most segments; 0: mostSegments
	deep     int    // the most accesses of a segment; 0: mostAccesses
	recent   [64]*common
	lost     func()                       // is called when an access finds no room
	leave    func(e entry, lo, hi uint64) // is called when a release leaves, of the bytes from lo to hi of a word
}

// page has the segments of one page, in order. They do not overlap.
type page struct{ segments []segment }

// segment is an interval of a page with the accesses that all its bytes have had.
type segment struct {
	lo, hi uint32 // offsets in the page, hi excluded
	had    entries
}

// entries are accesses, at least one. Most words have only one, which is in the cache line of its segment.
type entries struct {
	first entry
	more  []entry
}

func (l *entries) len() int { return 1 + len(l.more) }

func (l *entries) at(i int) *entry {
	if i == 0 {
		return &l.first
	}
	return &l.more[i-1]
}

func (l *entries) equal(other *entries) bool {
	return l.first == other.first && slices.Equal(l.more, other.more)
}

// cut drops all but the first n.
func (l *entries) cut(n int) {
	clear(l.more[n-1:])
	l.more = l.more[:n-1]
}

// add puts e behind the first n, and drops the others. It returns how many more entries there is room for.
func (l *entries) add(n int, e entry) (more int) {
	if n == 0 {
		l.first = e
		l.cut(1)
		return 0
	}
	l.cut(n)
	had := cap(l.more)
	l.more = append(l.more, e)
	return cap(l.more) - had
}

// An entry is an access in a shadow. It is small, since a table has one for each of its words and PEs.
type entry struct {
	common *common
	own    uint64 // Own, and whether the access releases into the word of its segment
	number uint64 // Number
	fenced uint64 // Fenced[plainStream]
}

// releases is the bit of entry.own that says so.
const releases = 1 << 63

// common is all that an entry does not have itself, of accesses that have it in common.
type common struct {
	Access
	mark uint64 // of scales
}

// entry returns an access as an entry.
func (s *shadow) entry(a *Access) entry {
	e := entry{own: a.Own &^ releases, number: a.Number, fenced: a.Fenced[plainStream]}
	c := *a
	c.Own, c.Number, c.Fenced[plainStream] = 0, 0, 0
	at := &s.recent[(uint(a.From)<<4^uint(a.Stream)<<2^uint(a.How))%uint(len(s.recent))]
	if *at == nil || (*at).Access != c {
		*at = &common{Access: c}
	}
	e.common = *at
	return e
}

// access returns the access of an entry.
func (e *entry) access() (a Access) {
	e.into(&a)
	return a
}

// into sets a to the access.
func (e *entry) into(a *Access) {
	*a = e.common.Access
	a.Own, a.Number, a.Fenced[plainStream] = e.own&^releases, e.number, e.fenced
}

func (e *entry) releases() bool { return e.own&releases != 0 }

// An addition is an access that is added to a shadow.
type addition struct {
	*shadow
	a    *Access
	e    entry  // a
	base uint64 // of the page
	met  []met  // the earlier accesses that a races with
	left int    // pieces of its bytes that do not have it, since it tells nothing new there
}

// met is an earlier access that one races with, on the bytes from lo to hi.
type met struct {
	e      entry
	lo, hi uint64
}

// add adds an access to the bytes from lo to hi.
func (x *addition) add(lo, hi uint64) {
	for lo < hi {
		end := min(hi, lo&^(pageBytes-1)+pageBytes)
		p := x.page(lo >> pageBits)
		before := len(p.segments)
		x.base = lo &^ (pageBytes - 1)
		x.addTo(p, uint32(lo-x.base), uint32(end-x.base))
		x.segments += len(p.segments) - before
		lo = end
	}
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
	for other := range s.pages {
		if s.segments < most {
			break
		}
		s.drop(other)
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
	if n := len(p.segments); n > 0 && lo >= p.segments[0].lo {
		x := &p.segments[0]
		i := int((lo - x.lo) / (x.hi - x.lo)) // if all are of one size, without a gap
		if i < n && p.segments[i].lo <= lo && lo < p.segments[i].hi {
			return i
		}
	}
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

// addTo adds the access to bytes of a page.
func (x *addition) addTo(p *page, lo, hi uint32) {
	i := p.find(lo)
	if i < len(p.segments) && p.segments[i].lo == lo && p.segments[i].hi == hi { // the most frequent case
		x.meet(&p.segments[i])
		return
	}
	if i == len(p.segments) || p.segments[i].lo >= hi {
		p.segments = slices.Insert(p.segments, i, segment{lo, hi, x.alone()})
		return
	}
	x.split(p, i, lo, hi)
}

// alone returns the access alone.
func (x *addition) alone() entries { return entries{first: x.e} }

// split is addTo where segments from i on overlap the bytes in part.
func (x *addition) split(p *page, i int, lo, hi uint32) {
	var pieces []segment
	put := func(lo, hi uint32, had entries) {
		if n := len(pieces); n > 0 && pieces[n-1].hi == lo && pieces[n-1].had.equal(&had) {
			pieces[n-1].hi = hi
		} else {
			pieces = append(pieces, segment{lo, hi, had})
		}
	}
	at, end := lo, i
	for ; end < len(p.segments) && p.segments[end].lo < hi; end++ {
		y := p.segments[end]
		if y.lo < lo {
			put(y.lo, lo, x.clone(y.had))
		}
		if at < y.lo {
			put(at, y.lo, x.alone())
		}
		both, behind := segment{max(y.lo, lo), min(y.hi, hi), y.had}, entries{}
		if y.hi > hi {
			behind = x.clone(y.had)
		}
		x.meet(&both)
		put(both.lo, both.hi, both.had)
		if y.hi > hi {
			put(hi, y.hi, behind)
		}
		at = both.hi
	}
	if at < hi {
		put(at, hi, x.alone())
	}
	p.segments = slices.Replace(p.segments, i, end, pieces...)
}

// clone returns a copy.
func (s *shadow) clone(had entries) entries {
	s.added += uint64(len(had.more))
	return entries{had.first, slices.Clone(had.more)}
}

// meet compares the access with those of a segment, and adds it to them.
func (x *addition) meet(y *segment) {
	needed, n := true, 0
	var e Access
	for i := range y.had.len() {
		had := y.had.at(i)
		had.into(&e)
		switch {
		case e.repeats(x.a):
			needed = false
		case race(x.a, &e):
			x.met = append(x.met, met{*had, x.base + uint64(y.lo), x.base + uint64(y.hi)})
		case x.a.supersedes(&e):
			if had.releases() && !(x.e.releases() && e.standsIn(x.a)) {
				x.leave(*had, x.base+uint64(y.lo), x.base+uint64(y.hi))
			}
			continue
		case e.supersedes(x.a):
			needed = false
		}
		if n != i {
			*y.had.at(n) = *had
		}
		n++
	}
	if needed {
		x.added += uint64(y.had.add(n, x.e))
	} else {
		x.left++
		y.had.cut(n)
	}
	if y.had.len() > mostReleases {
		x.limit(y)
	}
}

// limit bounds the accesses and the releases of a segment.
func (x *addition) limit(y *segment) {
	if n := y.had.len() - max(x.deep, mostAccesses); n > 0 {
		x.forgot()
		x.release(y, n, x.base)
		y.had.first = *y.had.at(n)
		y.had.more = slices.Delete(y.had.more, 0, n)
	}
	n := 0
	for i := range y.had.len() {
		if y.had.at(i).releases() {
			n++
		}
	}
	if n > mostReleases {
		x.release(y, y.had.len(), x.base)
	}
}

// release has the releases among the first n accesses of a segment leave.
func (s *shadow) release(y *segment, n int, base uint64) {
	for i := range n {
		if e := y.had.at(i); e.releases() {
			e.own &^= releases
			s.leave(*e, base+uint64(y.lo), base+uint64(y.hi))
		}
	}
}

// drop forgets a page. What its accesses release leaves.
func (s *shadow) drop(number uint64) {
	p := s.pages[number]
	for i := range p.segments {
		s.release(&p.segments[i], p.segments[i].had.len(), number<<pageBits)
	}
	s.segments -= len(p.segments)
	delete(s.pages, number)
}

// within returns the pages that have some of the bytes from lo to hi.
func (s *shadow) within(lo, hi uint64) iter.Seq2[uint64, *page] {
	return func(yield func(uint64, *page) bool) {
		if lo >= hi {
			return
		}
		first, last := lo>>pageBits, (hi-1)>>pageBits
		if last-first < uint64(len(s.pages)) {
			for number := first; number <= last; number++ {
				if p := s.pages[number]; p != nil && !yield(number, p) {
					return
				}
			}
			return
		}
		for number, p := range s.pages {
			if first <= number && number <= last && !yield(number, p) {
				return
			}
		}
	}
}

// joinTo returns c with what accesses have released into the halves of words that have some of the bytes from lo to hi.
func (s *shadow) joinTo(c *Clock, lo, hi uint64) *Clock {
	lo, hi = lo&^3, (hi+3)&^3
	for number, p := range s.within(lo, hi) {
		base := number << pageBits
		for i := p.find(uint32(max(lo, base) - base)); i < len(p.segments) && base+uint64(p.segments[i].lo) < hi; i++ {
			had := &p.segments[i].had
			for j := range had.len() {
				if e := had.at(j); e.releases() {
					a := e.access()
					c = a.releaseTo(c)
				}
			}
		}
	}
	return c
}

// forget drops what is known of the bytes from lo to hi.
func (s *shadow) forget(lo, hi uint64) {
	for number, p := range s.within(lo, hi) {
		s.segments -= len(p.segments)
		if s.forgetIn(p, number<<pageBits, lo, hi); len(p.segments) == 0 {
			delete(s.pages, number)
		}
		s.segments += len(p.segments)
	}
}

// forgetIn is forget in a page, of a base.
func (s *shadow) forgetIn(p *page, base, lo, hi uint64) {
	var left []segment
	for _, x := range p.segments {
		from, to := base+uint64(x.lo), base+uint64(x.hi)
		if from < lo {
			left = append(left, segment{x.lo, uint32(min(to, lo) - base), x.had})
		}
		if to > hi {
			left = append(left, segment{uint32(max(from, hi) - base), x.hi, s.clone(x.had)})
		}
	}
	p.segments = left
}
