package racecheck

// The detector of a PE: the shadow of its heap, and the clocks of what others acquire from it.

import (
	"slices"
	"sort"
	"sync"
)

// wordClocks are the clocks of the two halves of an aligned 8-byte word, but for the releases that the shadow has. Most
// words are never asked for, so the last releases are kept as they are.
type wordClocks struct {
	clock [2]*Clock
	last  []wordRelease // not yet in clock
}

// wordRelease is an access that has released into a word.
type wordRelease struct {
	entry
	off, bytes uint8 // in the aligned word
}

// add adds a release. It returns how many more bytes the last releases need.
func (w *wordClocks) add(r wordRelease) uint64 {
	a := r.access()
	for i := range w.last {
		x := &w.last[i]
		if e := x.access(); x.off == r.off && x.bytes == r.bytes && e.standsIn(&a) {
			*x = r
			return 0
		}
	}
	if len(w.last) >= mostReleases {
		w.fold()
	}
	had := cap(w.last)
	w.last = append(w.last, r)
	return uint64(cap(w.last)-had) * releaseBytes
}

// fold puts the last releases into the clocks.
func (w *wordClocks) fold() {
	for i := range w.last {
		r := &w.last[i]
		a := r.access()
		lo, hi := halves(uint64(r.off), uint64(r.bytes))
		if lo != hi && w.clock[0] == w.clock[1] {
			w.clock[0] = a.releaseTo(w.clock[0])
			w.clock[1] = w.clock[0]
			continue
		}
		for h := lo; h <= hi; h++ {
			w.clock[h] = a.releaseTo(w.clock[h])
		}
	}
	clear(w.last)
	w.last = w.last[:0]
}

// joinTo returns c with the clock of the bytes from lo to hi of the word at an offset.
func (w *wordClocks) joinTo(c *Clock, off, lo, hi uint64) *Clock {
	for i := range w.clock {
		if at := off + 4*uint64(i); at < hi && lo < at+4 && (i == 0 || w.clock[1] != w.clock[0]) {
			c = c.Join(w.clock[i])
		}
	}
	for i := range w.last {
		r := &w.last[i]
		first, last := halves(uint64(r.off), uint64(r.bytes))
		if off+4*first < hi && lo < off+4*last+4 {
			a := r.access()
			c = a.releaseTo(c)
		}
	}
	return c
}

// A Detector knows the accesses to the memory of one PE.
type Detector struct {
	pe     int
	report func(Report)
	lost   func(Unseen)

	mu     sync.Mutex
	shadow shadow
	exempt []span                 // in order
	words  map[uint64]*wordClocks // by offset
	others *Clock                 // of the words that have no room in words
	notes  map[NoteKey]*noteClocks
	loose  *Clock // of the notes that have no room in notes
	calls  map[team]*callClocks
	weight weight
}

// NewDetector returns the detector of a PE, in a job of npes. report is called for each race, with nothing locked that
// it may need; lost is called for each access or clock that finds no room.
func NewDetector(pe, npes int, report func(Report), lost func(Unseen)) *Detector {
	d := &Detector{
		pe: pe, report: report, lost: lost,
		shadow: shadow{lost: func() { lost(UnseenAccesses) }, deep: accessesOfPE * npes},
		words:  map[uint64]*wordClocks{}, notes: map[NoteKey]*noteClocks{}, calls: map[team]*callClocks{},
		weight: weight{scales: scales{mark: uint64(pe+1) << 32}},
	}
	d.shadow.leave = d.releaseWord
	return d
}

// Apply takes a record.
func (d *Detector) Apply(r *Record) {
	var races []Report
	released := false
	d.mu.Lock()
	if r.Count > 0 {
		released, races = d.access(r)
	}
	if r.Release != 0 {
		d.release(r, released)
	}
	if d.weight.due() {
		d.weigh()
	}
	d.mu.Unlock()
	for _, race := range races {
		d.report(race)
	}
}

// access puts the access of r into the shadow. It reports whether that releases into the word what r does, and returns
// the races. Of those with one earlier access it returns the first.
func (d *Detector) access(r *Record) (released bool, races []Report) {
	if d.isExempt(r.Off) {
		return false, nil
	}
	blocks, bytes := r.Count, r.Bytes
	if r.Stride == r.Bytes {
		blocks, bytes = 1, r.Count*r.Bytes
	}
	x := addition{shadow: &d.shadow, a: &r.Access}
	x.e = d.shadow.entry(&r.Access)
	if r.Release&ReleaseWord != 0 && blocks == 1 && bytes > 0 && r.Off&7+bytes <= 8 {
		x.e.own |= releases
	}
	pages, segments, added := len(d.shadow.pages), d.shadow.segments, d.shadow.added
	for i := range blocks {
		x.add(r.Off+i*r.Stride, r.Off+i*r.Stride+bytes)
		for i := range x.met {
			races = d.race(races, &x.met[i], &r.Access)
		}
		x.met = x.met[:0]
	}
	d.weight.bytes += uint64(max(len(d.shadow.pages)-pages, 0))*pageOfBytes + (d.shadow.added-added)*entryBytes +
		uint64(max(d.shadow.segments-segments, 0))*2*segmentBytes // there is room for more of them
	d.weight.common(x.e.common)
	return x.e.releases() && x.left == 0, races
}

// race adds a race to those of an access, unless there is one with the same earlier access.
func (d *Detector) race(races []Report, m *met, later *Access) []Report {
	earlier := m.e.access()
	for i := range races {
		if *races[i].Earlier == earlier {
			return races
		}
	}
	a := *later // the record is used again
	return append(races, Report{PE: d.pe, Off: m.lo, Bytes: m.hi - m.lo, Earlier: &earlier, Later: &a})
}

// isExempt reports whether accesses to the allocation that has off are not judged.
func (d *Detector) isExempt(off uint64) bool {
	i := sort.Search(len(d.exempt), func(i int) bool { return off < d.exempt[i].hi })
	return i < len(d.exempt) && d.exempt[i].lo <= off
}

// release puts what r releases into the clocks where others acquire it, but for what the shadow releases.
func (d *Detector) release(r *Record, released bool) {
	if r.Release&Freed != 0 {
		d.forget(r.Off, r.Stride)
		return
	}
	if r.Release&Exempted != 0 {
		i := sort.Search(len(d.exempt), func(i int) bool { return r.Off < d.exempt[i].hi })
		d.exempt = slices.Insert(d.exempt, i, span{r.Off, r.Stride})
		return
	}
	if r.Release&ReleaseWord != 0 && !released {
		d.releaseWord(d.shadow.entry(&r.Access), r.Off, r.Off+r.Bytes)
	}
	if r.Release&(ReleaseNote|ReleaseCall) == 0 {
		return
	}
	c := r.Access.release()
	d.weight.clock(c)
	if r.Release&ReleaseNote != 0 {
		n := d.notes[r.Key]
		if n == nil {
			n = new(noteClocks)
			d.notes[r.Key] = n
			d.weight.bytes += noteBytes
		}
		n.add(c, r.Mixed)
		d.weight.bytes += 16 // a place in a slice that grows
		d.weight.clock(n.merged)
	}
	if r.Release&ReleaseCall != 0 {
		d.weight.bytes += d.call(r.Call).enter(r.Call, c)
	}
}

// releaseWord puts a release into the clocks of a word, of which it is to the bytes from lo to hi.
func (d *Detector) releaseWord(e entry, lo, hi uint64) {
	w := d.words[lo&^7]
	if w == nil && len(d.words) >= mostWords {
		d.lost(UnseenWords)
		a := e.access()
		d.others = a.releaseTo(d.others)
		return
	}
	if w == nil {
		w = new(wordClocks)
		d.words[lo&^7] = w
		d.weight.bytes += wordBytes
	}
	d.weight.common(e.common)
	d.weight.bytes += w.add(wordRelease{e, uint8(lo & 7), uint8(hi - lo)})
	d.weight.clock(w.clock[0])
	d.weight.clock(w.clock[1])
}

// halves returns which halves of an aligned 8-byte word a word consists of.
func halves(off, bytes uint64) (lo, hi uint64) {
	return off & 7 / 4, (off&7 + max(bytes, 1) - 1) / 4 & 1
}

// Answer returns a clock, or nil if nothing has been released there.
func (d *Detector) Answer(q Question) *Clock {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case q.Call != nil:
		c := d.call(*q.Call)
		if n := q.Call.Number; n <= c.upTo && n > c.folded {
			d.lost(UnseenCalls)
		}
		return c.leave(q)
	case q.Note != nil:
		n := d.notes[*q.Note]
		if n == nil {
			return d.loose
		}
		c := d.loose.Join(n.next())
		if q.Stays {
			return c
		}
		n.take()
		if len(n.queued) == 0 && !n.mixed {
			delete(d.notes, *q.Note)
		}
		return c
	}
	lo, hi := q.Word, q.Word+q.Bytes
	c := d.shadow.joinTo(q.Known.Join(d.others), lo, hi)
	if q.Bytes/8 > uint64(len(d.words)) { // most have none
		for off, w := range d.words {
			c = w.joinTo(c, off, lo, hi)
		}
		return c
	}
	for off := lo &^ 7; off < hi; off += 8 {
		if w := d.words[off]; w != nil {
			c = w.joinTo(c, off, lo, hi)
		}
	}
	return c
}

// forget drops what is known of the bytes from lo to hi.
func (d *Detector) forget(lo, hi uint64) {
	d.shadow.forget(lo, hi)
	d.exempt = slices.DeleteFunc(d.exempt, func(s span) bool { return lo <= s.lo && s.hi <= hi })
	for off := range d.words {
		if lo <= off && off+8 <= hi {
			delete(d.words, off)
		}
	}
}

// noteClocks are the clocks of the notes with one key that no request has got, in the order of their records.
type noteClocks struct {
	queued []*Clock
	merged *Clock // what has come without an order, with all before
	mixed  bool   // notes have come without an order: a note may be any of them
}

func (n *noteClocks) add(c *Clock, mixed bool) {
	if n.mixed || mixed {
		n.mixed = true
		for _, q := range append(n.queued, c) {
			n.merged = n.merged.Join(q)
		}
		n.queued = nil
		return
	}
	n.queued = append(n.queued, c)
}

// next returns the clock of the note that a request gets next.
func (n *noteClocks) next() *Clock {
	if n.mixed || len(n.queued) == 0 {
		return n.merged
	}
	return n.queued[0]
}

// take drops the clock of the note that a request has got.
func (n *noteClocks) take() {
	if !n.mixed && len(n.queued) > 0 {
		n.queued = n.queued[1:]
	}
}

// team is a team whose first member the detector's PE is.
type team struct{ home, slot int32 }

// callClocks are the clocks of the last calls of a team.
type callClocks struct {
	calls   map[uint64]*callClock
	earlier *Clock // of calls that are no longer kept apart
	upTo    uint64 // the last of them
	folded  uint64 // the last of those that had no room in bytes
}

// callClock are the clocks of one call.
type callClock struct {
	entered []*Clock // by member
	left    int      // how many members have left
}

func (d *Detector) call(k CallKey) *callClocks {
	t := team{k.Home, k.Slot}
	if d.calls[t] == nil {
		d.calls[t] = &callClocks{calls: map[uint64]*callClock{}}
	}
	return d.calls[t]
}

// enter notes that a member enters a call. It returns how many more bytes that needs.
func (c *callClocks) enter(k CallKey, clock *Clock) (more uint64) {
	if k.Number <= c.upTo {
		c.earlier = c.earlier.Join(clock)
		return 0
	}
	one := c.calls[k.Number]
	if one == nil {
		one = &callClock{entered: make([]*Clock, k.Size)}
		c.calls[k.Number] = one
		more = callBytes + 8*uint64(k.Size)
		for len(c.calls) > mostCalls {
			c.merge()
		}
	}
	if int(k.Member) < len(one.entered) {
		one.entered[k.Member] = clock
	}
	return more
}

// merge no longer keeps the first call apart.
func (c *callClocks) merge() {
	first := ^uint64(0)
	for n := range c.calls {
		first = min(first, n)
	}
	for _, clock := range c.calls[first].entered {
		c.earlier = c.earlier.Join(clock)
	}
	c.upTo = first
	delete(c.calls, first)
}

// leave returns the clock of the members of a question, for a member that leaves a call.
func (c *callClocks) leave(q Question) *Clock {
	one := c.calls[q.Call.Number]
	if one == nil {
		return c.earlier
	}
	var clock *Clock
	for i := max(q.First, 0); i <= q.Last && int(i) < len(one.entered); i++ {
		clock = clock.Join(one.entered[i])
	}
	if one.left++; one.left == len(one.entered) {
		delete(c.calls, q.Call.Number)
	}
	return clock
}

// Sizes of what orders, with its place in a map.
var (
	wordBytes    = sizeOf[wordClocks]() + mapBytes
	releaseBytes = sizeOf[wordRelease]()
	noteBytes    = sizeOf[noteClocks]() + sizeOf[NoteKey]() + mapBytes
	callBytes    = sizeOf[callClock]() + mapBytes
	teamBytes    = sizeOf[callClocks]() + mapBytes
)

// word counts the clocks of a word.
func (s *scales) word(w *wordClocks) {
	s.bytes += wordBytes + releaseBytes*uint64(cap(w.last))
	for i := range w.last {
		s.common(w.last[i].common)
	}
	s.clock(w.clock[0])
	s.clock(w.clock[1])
}

// note counts the clocks of notes.
func (s *scales) note(n *noteClocks) {
	s.bytes += noteBytes + 8*uint64(cap(n.queued))
	for _, c := range n.queued {
		s.clock(c)
	}
	s.clock(n.merged)
}

// team counts the clocks of calls of a team.
func (s *scales) team(c *callClocks) {
	s.bytes += teamBytes
	for _, one := range c.calls {
		s.bytes += callBytes + 8*uint64(len(one.entered))
		for _, clock := range one.entered {
			s.clock(clock)
		}
	}
	s.clock(c.earlier)
}

// weigh counts what the detector keeps. If that is too much, it forgets some.
func (d *Detector) weigh() {
	d.weight.scales = d.counted()
	if d.weight.share() < 1 && d.weight.orders > d.weight.limit()/4 {
		d.lost(UnseenOrders)
		d.fold()
		d.weight.scales = d.counted()
	}
	for first := true; d.weight.share() < 1 && (first || len(d.shadow.pages) > 0); first = false {
		d.lighten(d.weight.share())
		d.weight.scales = d.counted()
	}
	d.weight.next = d.weight.bytes + d.weight.limit()/4
}

// counted counts what the detector keeps.
func (d *Detector) counted() scales {
	s := d.weight.start(d.pe)
	s.clock(d.loose)
	for _, n := range d.notes {
		s.note(n)
	}
	for _, c := range d.calls {
		s.team(c)
	}
	s.orders = s.bytes
	for _, p := range d.shadow.pages {
		s.page(p)
	}
	for _, w := range d.words {
		s.word(w)
	}
	s.clock(d.others)
	return s
}

// fold makes all notes have one clock, and the calls of each team so far.
func (d *Detector) fold() {
	for key, n := range d.notes {
		for _, c := range append(n.queued, n.merged) {
			d.loose = d.loose.Join(c)
		}
		delete(d.notes, key)
	}
	for _, c := range d.calls {
		for len(c.calls) > 0 {
			c.merge()
		}
		c.folded = c.upTo
	}
}

// lighten forgets pages, so that a share of them is left. The words of the others have one clock together.
func (d *Detector) lighten(share float64) {
	d.shadow.forgot()
	d.shadow.leave = func(e entry, _, _ uint64) {
		a := e.access()
		d.others = a.releaseTo(d.others)
	}
	drop := len(d.shadow.pages) - int(share*float64(len(d.shadow.pages)))
	for number := range d.shadow.pages {
		if drop--; drop < 0 {
			break
		}
		d.shadow.drop(number)
	}
	d.shadow.leave = d.releaseWord
	for off, w := range d.words {
		if d.shadow.pages[off>>pageBits] == nil {
			w.fold()
			d.others = d.others.Join(w.clock[0]).Join(w.clock[1])
			delete(d.words, off)
		}
	}
}
