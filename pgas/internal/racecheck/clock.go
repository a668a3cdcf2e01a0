package racecheck

// Clocks. A clock is a set of accesses: those that come before a moment. It has a component for each PE: how many of
// the PE's own steps, of which streams all operations up to a number, and of which single operations or operations to
// one PE more than that.
//
// Clocks are values that never change. Those that follow from each other share the components that are equal, so a
// clock is a slice of pointers, and to join two of them looks at the components that differ.

import "slices"

// A context of a PE has five streams: of its plain operations; of its notified ones; of gets that do not wait, which no
// fence orders; of the reads of sources that an operation may read later than at its call; and of what operations fill
// later. The context in slot s has the streams from streams*s on.
const (
	plainStream = iota
	notifiedStream
	getStream
	sourceStream
	fillStream
	streams
)

// requested returns the stream of the collectives that do not wait of the team in a slot. No context has this stream.
func requested(slot int) uint16 { return uint16(streams * (mostContexts + slot)) }

// ofRequest reports whether the access is one of a collective that does not wait.
func (s *Strand) ofRequest() bool { return s.Number != 0 && s.Stream >= requested(0) }

// A Mark is how far a context is.
type Mark [streams]uint64

// maxSingles is how many single operations of a stream a clock lists for a target. With more, all operations up to the
// first of them count: what is reported can only become less.
const maxSingles = 16

// A Strand is what makes an access: a PE itself, or an operation of it that is under way. PEs are numbers of the job.
// The steps of a PE are counted in epochs. One ends with each operation that the PE issues and with each release.
type Strand struct {
	From   int32  // the PE that has issued the access
	To     int32  // the PE that the operation goes to
	Stream uint16 // the stream of From's operations that the access belongs to
	Number uint64 // its number in that stream, from 1; 0: the access is a step of From itself
	Own    uint64 // the epoch of From at the call
}

// A Clock is what comes before a moment. The nil Clock is empty.
type Clock struct {
	of   []*component // by PE; nil: nothing of that PE
	mark uint64       // of scales
}

// component is what a clock holds of one PE.
type component struct {
	own  uint64   // steps of the PE
	done []uint64 // by stream: all operations up to this number, to any PE
	to   []toPE   // operations beyond done, ordered by stream and target
	mark uint64   // of scales
}

// toPE is what a component holds of a stream's operations to one PE beyond done.
type toPE struct {
	stream  uint16
	target  int32
	upTo    uint64   // all operations to the target up to this number
	singles []uint64 // and these
}

// before compares the places of two entries.
func (e *toPE) compare(stream uint16, target int32) int {
	if e.stream != stream {
		return int(e.stream) - int(stream)
	}
	return int(e.target) - int(target)
}

// component returns what c holds of a PE, never nil.
func (c *Clock) component(pe int32) *component {
	if c == nil || int(pe) >= len(c.of) || c.of[pe] == nil {
		return &component{}
	}
	return c.of[pe]
}

// has reports whether the access of a strand comes before c.
func (c *Clock) has(s *Strand) bool {
	if c == nil || int(s.From) >= len(c.of) || c.of[s.From] == nil {
		return false
	}
	p := c.of[s.From]
	if s.Number == 0 {
		return p.own >= s.Own
	}
	return p.has(s)
}

func (p *component) has(s *Strand) bool {
	if int(s.Stream) < len(p.done) && p.done[s.Stream] >= s.Number {
		return true
	}
	i, found := p.find(s.Stream, s.To)
	return found && (p.to[i].upTo >= s.Number || slices.Contains(p.to[i].singles, s.Number))
}

func (p *component) find(stream uint16, target int32) (int, bool) {
	return slices.BinarySearchFunc(p.to, 0, func(e toPE, _ int) int { return e.compare(stream, target) })
}

// with returns c with another component for a PE.
func (c *Clock) with(pe int32, p *component) *Clock {
	n := &Clock{}
	if c != nil {
		n.of = slices.Clone(c.of)
	}
	for int(pe) >= len(n.of) {
		n.of = append(n.of, nil)
	}
	n.of[pe] = p
	return n
}

// withOwn returns c with the steps of a PE up to one.
func (c *Clock) withOwn(pe int32, own uint64) *Clock {
	p := c.component(pe)
	if p.own >= own {
		return c
	}
	return c.with(pe, &component{own: own, done: p.done, to: p.to})
}

// withMark returns c with all operations of a context's streams, from the stream on, up to a mark.
func (c *Clock) withMark(pe int32, stream uint16, m *Mark) *Clock {
	p := c.component(pe)
	last := -1
	for s, upTo := range m {
		if upTo > p.doneOf(stream+uint16(s)) {
			last = s
		}
	}
	if last < 0 {
		return c
	}
	q := &component{own: p.own, to: p.to}
	q.done = make([]uint64, max(len(p.done), int(stream)+last+1))
	copy(q.done, p.done)
	for s, upTo := range m[:last+1] {
		d := &q.done[int(stream)+s]
		*d = max(*d, upTo)
	}
	q.prune()
	return c.with(pe, q)
}

// withTo returns c with the operations of a stream to one PE up to a number, and one more unless single is 0.
func (c *Clock) withTo(pe int32, stream uint16, target int32, upTo, single uint64) *Clock {
	p := c.component(pe)
	if max(upTo, single) <= p.doneOf(stream) {
		return c
	}
	if i, found := p.find(stream, target); found && p.to[i].upTo >= max(upTo, single) {
		return c
	}
	e := toPE{stream: stream, target: target, upTo: upTo}
	if single > upTo {
		e.singles = []uint64{single}
	}
	if q := p.joinTo([]toPE{e}); q != p {
		return c.with(pe, q)
	}
	return c
}

// joinTo returns p with entries, which are ordered. It returns p itself if that adds nothing.
func (p *component) joinTo(entries []toPE) *component {
	q := p
	for _, e := range entries {
		e = e.beyond(p.doneOf(e.stream))
		if e.upTo == 0 && len(e.singles) == 0 {
			continue
		}
		i, found := q.find(e.stream, e.target)
		if found {
			if e = q.to[i].join(e); e.equal(&q.to[i]) {
				continue
			}
		}
		e.settle(p.doneOf(e.stream))
		if q == p {
			q = &component{own: p.own, done: p.done, to: slices.Clone(p.to)}
		}
		if found {
			q.to[i] = e
		} else {
			q.to = slices.Insert(q.to, i, e)
		}
	}
	return q
}

func (p *component) doneOf(stream uint16) uint64 {
	if int(stream) < len(p.done) {
		return p.done[stream]
	}
	return 0
}

// prune drops what done has.
func (p *component) prune() {
	var left []toPE
	for _, e := range p.to {
		if e = e.beyond(p.doneOf(e.stream)); e.upTo != 0 || len(e.singles) != 0 {
			left = append(left, e)
		}
	}
	p.to = left
}

// beyond returns what e has beyond the operations up to a number.
func (e toPE) beyond(done uint64) toPE {
	if e.upTo <= done {
		e.upTo = 0
	}
	e.singles = above(e.singles, max(e.upTo, done))
	return e
}

// above returns the numbers that are greater than n, of numbers in order.
func above(numbers []uint64, n uint64) []uint64 {
	i, found := slices.BinarySearch(numbers, n)
	if found {
		i++
	}
	return numbers[i:]
}

// settle counts single operations that follow the others, of which done are in the component, as these.
func (e *toPE) settle(done uint64) {
	for len(e.singles) > 0 && e.singles[0] == max(e.upTo, done)+1 {
		e.upTo, e.singles = e.singles[0], e.singles[1:]
	}
}

func (e *toPE) equal(other *toPE) bool {
	return e.upTo == other.upTo && slices.Equal(e.singles, other.singles)
}

// join returns the operations of both.
func (e toPE) join(other toPE) toPE {
	e.upTo = max(e.upTo, other.upTo)
	singles := slices.Concat(above(e.singles, e.upTo), above(other.singles, e.upTo))
	slices.Sort(singles)
	singles = slices.Compact(singles)
	if n := len(singles) - maxSingles; n > 0 {
		e.upTo, singles = singles[n-1], singles[n:]
	}
	e.singles = singles
	return e
}

// Join returns what comes before either. It returns one of the two, if one has all of the other, and c if both do.
func (c *Clock) Join(other *Clock) *Clock {
	switch {
	case c == nil || c == other:
		return other
	case other == nil:
		return c
	}
	var n *Clock                // nil as long as one of the two will do
	first, second := true, true // the first will, the second will
	for pe := range max(len(c.of), len(other.of)) {
		mine, theirs := c.at(pe), other.at(pe)
		if mine == theirs {
			continue
		}
		has, had := mine.includes(theirs), theirs.includes(mine)
		switch {
		case n == nil && (first && has || second && had):
			first, second = first && has, second && had
			continue
		case n == nil:
			n = c.start(other, pe, first)
		}
		switch {
		case has:
			n.of[pe] = mine
		case had:
			n.of[pe] = theirs
		default:
			n.of[pe] = mine.join(theirs)
		}
	}
	switch {
	case n != nil:
		return n
	case first:
		return c
	}
	return other
}

// start returns a clock for what Join finds from a PE on. Up to there it is c, or else the other one.
func (c *Clock) start(other *Clock, pe int, first bool) *Clock {
	n := &Clock{of: make([]*component, max(len(c.of), len(other.of)))}
	copy(n.of, c.of)
	for i := range other.of {
		if i < pe && !first || i >= len(c.of) || n.of[i] == nil {
			n.of[i] = other.of[i]
		}
	}
	return n
}

// at returns the component of a PE, nil if there is none.
func (c *Clock) at(pe int) *component {
	if pe >= len(c.of) {
		return nil
	}
	return c.of[pe]
}

// includes reports whether p has all of other.
func (p *component) includes(other *component) bool {
	switch {
	case other == nil || p == other:
		return true
	case p == nil:
		return other.own == 0 && len(other.done) == 0 && len(other.to) == 0
	case p.own < other.own || !atLeast(p.done, other.done):
		return false
	}
	for i := range other.to {
		if !p.hasTo(&other.to[i]) {
			return false
		}
	}
	return true
}

// hasTo reports whether p has all operations of an entry.
func (p *component) hasTo(e *toPE) bool {
	upTo := p.doneOf(e.stream)
	i, found := p.find(e.stream, e.target)
	if found {
		upTo = max(upTo, p.to[i].upTo)
	}
	if e.upTo > upTo {
		return false
	}
	for _, n := range e.singles {
		if n > upTo && !(found && slices.Contains(p.to[i].singles, n)) {
			return false
		}
	}
	return true
}

// join returns a component with all of both, of which neither has all of the other.
func (p *component) join(other *component) *component {
	q := p
	if other.own > p.own || !atLeast(p.done, other.done) {
		q = &component{own: max(p.own, other.own), done: slices.Clone(p.done), to: p.to}
		for len(q.done) < len(other.done) {
			q.done = append(q.done, 0)
		}
		for i, n := range other.done {
			q.done[i] = max(q.done[i], n)
		}
		q.prune()
	}
	return q.joinTo(other.to)
}

// atLeast reports whether no number of b is greater than that of a.
func atLeast(a, b []uint64) bool {
	for i, n := range b {
		if n != 0 && (i >= len(a) || a[i] < n) {
			return false
		}
	}
	return true
}
