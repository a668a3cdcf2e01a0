package racecheck

// Clocks as bytes, for carriers between processes.

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Append appends c to b as bytes.
func (c *Clock) Append(b []byte) []byte { return c.AppendAfter(b, nil) }

// The first byte of a component.
const (
	noComponent = iota
	aComponent
	sameComponent // as in the clock before
)

// AppendAfter is Append to a reader that has another clock: the components that are equal are left out.
func (c *Clock) AppendAfter(b []byte, before *Clock) []byte {
	if c == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(c.of)))
	for i, p := range c.of {
		if before != nil && p != nil && p == before.at(i) {
			b = append(b, sameComponent)
			continue
		}
		b = p.append(b)
	}
	return b
}

func (p *component) append(b []byte) []byte {
	if p == nil {
		return append(b, noComponent)
	}
	b = binary.AppendUvarint(append(b, aComponent), p.own)
	b = appendNumbers(b, p.done)
	b = binary.AppendUvarint(b, uint64(len(p.to)))
	for i := range p.to {
		e := &p.to[i]
		b = binary.AppendUvarint(b, uint64(e.stream))
		b = binary.AppendUvarint(b, uint64(e.target))
		b = binary.AppendUvarint(b, e.upTo)
		b = appendNumbers(b, e.singles)
	}
	return b
}

func appendNumbers(b []byte, numbers []uint64) []byte {
	b = binary.AppendUvarint(b, uint64(len(numbers)))
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

var errTorn = errors.New("racecheck: a clock in a message is torn: all PEs must run the same build")

// ParseClock returns the clock at the start of b, which AppendAfter has made, and what follows it.
func ParseClock(b []byte, before *Clock) (*Clock, []byte, error) {
	r := reader{b: b}
	n := r.count()
	if n == 0 {
		return nil, r.b, r.err
	}
	c := &Clock{of: make([]*component, n)}
	for i := range c.of {
		c.of[i] = r.component(i, before)
	}
	return c, r.b, r.err
}

// reader takes numbers from bytes. After an error it returns zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.err = nil, errTorn
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count returns the number of items that follow, each of at least one byte.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.b, r.err = nil, errTorn
		return 0
	}
	return int(n)
}

// component returns the component of a PE.
func (r *reader) component(pe int, before *Clock) *component {
	switch r.number() {
	case noComponent:
		return nil
	case sameComponent:
		if before == nil || before.at(pe) == nil {
			r.b, r.err = nil, errTorn
			return nil
		}
		return before.at(pe)
	}
	p := &component{own: r.number(), done: r.numbers()}
	for range r.count() {
		e := toPE{stream: uint16(r.number()), target: int32(r.number()), upTo: r.number(), singles: r.numbers()}
		if n := len(p.to); n > 0 && p.to[n-1].compare(e.stream, e.target) >= 0 || !ascending(e.singles) {
			r.b, r.err = nil, errTorn // find would not find them
			return nil
		}
		p.to = append(p.to, e)
	}
	return p
}

// ascending reports whether each number is greater than the one before it.
func ascending(numbers []uint64) bool {
	for i := 1; i < len(numbers); i++ {
		if numbers[i-1] >= numbers[i] {
			return false
		}
	}
	return true
}

func (r *reader) numbers() []uint64 {
	var v []uint64
	for range r.count() {
		v = append(v, r.number())
	}
	return v
}

// A Released is what a PE has released, of which the last releases are kept as numbers: those on one stream to one PE.
// It costs little to add one more of these.
type Released struct {
	clock  *Clock // of all but those
	bytes  []byte // clock
	after  *Clock // the clock of the last releases, which clock has
	last   Strand // the last one
	fenced UpTo   // what they come after
	upTo   uint64 // the operations up to a number
	single []uint64
	more   bool // it is more than the PE knew at its last release
}

// mostNumbers is how many operations a Released lists. With more, all up to the first of them count.
const mostNumbers = 8

// Add adds the release of r. It reports false if that adds nothing.
func (s *Released) Add(r *Record) bool {
	switch {
	case s.bytes == nil || s.last.Stream != r.Stream || s.last.To != r.To:
		c := s.Clock().Join(r.Clock)
		*s = Released{clock: c, after: r.Clock, bytes: c.Append(s.bytes[:0]), single: s.single[:0], more: s.more}
	case s.after != r.Clock:
		s.clock, s.after = s.clock.Join(r.Clock), r.Clock
		s.bytes = s.clock.Append(s.bytes[:0])
	case r.Own == s.last.Own && r.Number == s.last.Number && s.fenced.has(&r.Fenced):
		return false
	}
	s.more = s.more || r.more || r.Number != 0 || r.Fenced != UpTo{}
	own := max(s.last.Own, r.Own)
	s.last = r.Strand
	s.last.Own = own
	s.fenced.join(&r.Fenced)
	if r.Number == 0 {
		return true
	}
	if len(s.single) == mostNumbers {
		s.upTo = max(s.upTo, slices.Min(s.single))
		s.single = slices.DeleteFunc(s.single, func(n uint64) bool { return n <= s.upTo })
	}
	s.single = append(s.single, r.Number)
	return true
}

// Append appends s to b as bytes.
func (s *Released) Append(b []byte) []byte {
	b = append(b, 0)
	if s.more {
		b[len(b)-1] = 1
	}
	b = binary.AppendUvarint(b, uint64(s.last.From))
	b = binary.AppendUvarint(b, s.last.Own)
	b = append(b, s.bytes...)
	b = binary.AppendUvarint(b, uint64(s.last.Stream))
	b = binary.AppendUvarint(b, uint64(s.last.To+1))
	for _, n := range s.fenced {
		b = binary.AppendUvarint(b, n)
	}
	return appendNumbers(binary.AppendUvarint(b, s.upTo), s.single)
}

// ParseReleased returns the clock that b holds, which Released.Append has made, or nil if a PE knows all of that.
func ParseReleased(b []byte, npes int, known *Clock) (*Clock, error) {
	s, r := new(Released), reader{b: b}
	s.more = r.number() != 0
	s.last.From, s.last.Own = int32(min(r.number(), uint64(npes))), r.number()
	if r.err != nil || int(s.last.From) == npes {
		return nil, errTorn
	}
	if !s.more && s.last.Own != 0 && known.component(s.last.From).own >= s.last.Own {
		return nil, nil // with the epoch it has all that the PE knew then
	}
	s.clock, r.b, r.err = ParseClock(r.b, nil)
	if r.err != nil {
		return nil, errTorn
	}
	s.last.Stream, s.last.To = uint16(r.number()), int32(min(r.number(), uint64(npes)))-1
	s.fenced = UpTo{r.number(), r.number(), r.number()}
	s.upTo, s.single = r.number(), r.numbers()
	if r.err != nil || len(r.b) != 0 {
		return nil, errTorn
	}
	return s.Clock(), nil
}

// Clock returns the clock of all.
func (s *Released) Clock() *Clock {
	if s.last.Own == 0 {
		return s.clock
	}
	a := Access{Strand: s.last, After: After{Clock: s.clock.withOwn(s.last.From, s.last.Own), Fenced: s.fenced}}
	c := a.withFenced(a.Clock)
	if s.upTo == 0 && len(s.single) == 0 {
		return c
	}
	singles := slices.Compact(slices.Sorted(slices.Values(s.single))) // one may have released twice
	e := toPE{stream: s.last.Stream, target: s.last.To, upTo: s.upTo, singles: singles}
	return c.with(s.last.From, c.component(s.last.From).joinTo([]toPE{e}))
}
