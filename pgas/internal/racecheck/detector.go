package racecheck

// The detector of a PE: the shadow of its heap, and the clocks of what others acquire from it.

import "sync"

// mostWords is how many words have clocks of their own. All others have one together, so races may be missed.
const mostWords = 1 << 20

// wordClocks are the clocks of the two halves of an aligned 8-byte word. Most words are never asked for, so the last
// releases are kept as they are.
type wordClocks struct {
	clock [2]*Clock
	last  []wordRelease // not yet in clock
}

// wordRelease is a release into a word.
type wordRelease struct {
	Strand
	After
	off, bytes uint8 // in the aligned word
}

// mostReleases is how many releases a word keeps as they are.
const mostReleases = 4

// add adds a release.
func (w *wordClocks) add(r *wordRelease) {
	for i := range w.last {
		if w.last[i].standsIn(r) {
			w.last[i] = *r
			return
		}
	}
	if len(w.last) >= mostReleases {
		w.fold()
	}
	w.last = append(w.last, *r)
}

// standsIn reports whether a later release r by the same context takes the place of e. It comes after e and what e comes
// after, as they are on the same bytes, of which none is as e has left it.
func (e *wordRelease) standsIn(r *wordRelease) bool {
	return e.From == r.From && e.Stream == r.Stream && e.To == r.To && e.off == r.off && e.bytes == r.bytes &&
		e.Own <= r.Own && r.Fenced.has(&e.Fenced)
}

// fold puts the last releases into the clocks.
func (w *wordClocks) fold() {
	for i := range w.last {
		r := &w.last[i]
		a := Access{Strand: r.Strand, After: r.After}
		c := a.release()
		lo, hi := halves(uint64(r.off), uint64(r.bytes))
		if lo != hi && w.clock[0] == w.clock[1] {
			w.clock[0] = w.clock[0].Join(c)
			w.clock[1] = w.clock[0]
			continue
		}
		for h := lo; h <= hi; h++ {
			w.clock[h] = w.clock[h].Join(c)
		}
	}
	w.last = w.last[:0]
}

// A Detector knows the accesses to the memory of one PE.
type Detector struct {
	pe     int
	report func(Report)

	mu     sync.Mutex
	shadow shadow
	words  map[uint64]*wordClocks // by offset
	others *Clock                 // of the words that have no room in words
	notes  map[NoteKey]*noteClocks
	calls  map[team]*callClocks
}

// NewDetector returns the detector of a PE, in a job of npes. report is called for each race, with nothing locked that
// it may need; lost
// is called when the shadow finds no room.
func NewDetector(pe, npes int, report func(Report), lost func()) *Detector {
	return &Detector{
		pe: pe, report: report, shadow: shadow{lost: lost, deep: accessesOfPE * npes},
		words: map[uint64]*wordClocks{}, notes: map[NoteKey]*noteClocks{}, calls: map[team]*callClocks{},
	}
}

// Apply takes a record.
func (d *Detector) Apply(r *Record) {
	var races []Report
	d.mu.Lock()
	if r.Count > 0 {
		races = d.access(r)
	}
	if r.Release != 0 {
		d.release(r)
	}
	d.mu.Unlock()
	for _, race := range races {
		d.report(race)
	}
}

// access puts the access of r into the shadow, and returns the races. Of those with one earlier access it returns the
// first.
func (d *Detector) access(r *Record) []Report {
	blocks, bytes := r.Count, r.Bytes
	if r.Stride == r.Bytes {
		blocks, bytes = 1, r.Count*r.Bytes
	}
	if blocks == 1 && d.shadow.replace(&r.Access, r.Off, r.Off+bytes) {
		return nil
	}
	a := new(Access)
	*a = r.Access
	a.kept = blocks > 1 || r.Off>>pageBits != (r.Off+max(bytes, 1)-1)>>pageBits
	var races []Report
	found := func(e *Access, lo, hi uint64) {
		for i := range races {
			if races[i].Earlier == e {
				return
			}
		}
		a.kept, e.kept = true, true
		races = append(races, Report{PE: d.pe, Off: lo, Bytes: hi - lo, Earlier: e, Later: a})
	}
	alone := []*Access{a}
	for i := range blocks {
		d.shadow.add(a, alone, r.Off+i*r.Stride, r.Off+i*r.Stride+bytes, found)
	}
	return races
}

// release puts what r releases into the clocks where others acquire it.
func (d *Detector) release(r *Record) {
	if r.Release&Freed != 0 {
		d.forget(r.Off, r.Stride)
		return
	}
	if r.Release&ReleaseWord != 0 {
		d.releaseWord(r)
	}
	if r.Release&(ReleaseNote|ReleaseCall) == 0 {
		return
	}
	c := r.Access.release()
	if r.Release&ReleaseNote != 0 {
		n := d.notes[r.Key]
		if n == nil {
			n = new(noteClocks)
			d.notes[r.Key] = n
		}
		n.add(c, r.Mixed)
	}
	if r.Release&ReleaseCall != 0 {
		d.call(r.Call).enter(r.Call, c)
	}
}

// releaseWord puts a release into the clocks of a word.
func (d *Detector) releaseWord(r *Record) {
	w := d.words[r.Off&^7]
	if w == nil && len(d.words) >= mostWords {
		if d.others == nil {
			d.shadow.forgot()
		}
		d.others = d.others.Join(r.Access.release())
		return
	}
	if w == nil {
		w = new(wordClocks)
		d.words[r.Off&^7] = w
	}
	w.add(&wordRelease{r.Strand, r.After, uint8(r.Off & 7), uint8(r.Bytes)})
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
		return d.call(*q.Call).leave(q)
	case q.Note != nil:
		n := d.notes[*q.Note]
		if n == nil {
			return nil
		}
		c := n.next()
		if q.Stays {
			return c
		}
		n.take()
		if len(n.queued) == 0 && !n.mixed {
			delete(d.notes, *q.Note)
		}
		return c
	}
	if q.Bytes/8 > uint64(len(d.words)) {
		return d.span(q.Word, q.Word+q.Bytes)
	}
	c := d.others
	for off := q.Word &^ 7; off < q.Word+q.Bytes; off += 8 {
		w := d.words[off]
		if w == nil {
			continue
		}
		w.fold()
		for i := range w.clock {
			if at := off + 4*uint64(i); at < q.Word+q.Bytes && q.Word < at+4 {
				c = c.Join(w.clock[i])
			}
		}
	}
	return c
}

// span returns the clock of the words from lo to hi, of which most have none.
func (d *Detector) span(lo, hi uint64) *Clock {
	c := d.others
	for off, w := range d.words {
		if off < hi && lo < off+8 {
			w.fold()
			c = c.Join(w.clock[0]).Join(w.clock[1])
		}
	}
	return c
}

// forget drops what is known of the bytes from lo to hi.
func (d *Detector) forget(lo, hi uint64) {
	d.shadow.forget(lo, hi)
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

// mostCalls is how many calls of a team a detector keeps apart. Of earlier ones it keeps one clock for all.
const mostCalls = 64

// callClocks are the clocks of the last calls of a team.
type callClocks struct {
	calls   map[uint64]*callClock
	earlier *Clock // of calls that are no longer kept apart
	upTo    uint64 // the last of them
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

// enter notes that a member enters a call.
func (c *callClocks) enter(k CallKey, clock *Clock) {
	if k.Number <= c.upTo {
		c.earlier = c.earlier.Join(clock)
		return
	}
	one := c.calls[k.Number]
	if one == nil {
		one = &callClock{entered: make([]*Clock, k.Size)}
		c.calls[k.Number] = one
		for len(c.calls) > mostCalls {
			c.merge()
		}
	}
	if int(k.Member) < len(one.entered) {
		one.entered[k.Member] = clock
	}
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
