package racecheck

// Clocks as bytes, for carriers between processes.

import (
	"encoding/binary"
	"errors"
)

// Append appends c to b as bytes.
func (c *Clock) Append(b []byte) []byte {
	if c == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(c.of)))
	for _, p := range c.of {
		b = p.append(b)
	}
	return b
}

func (p *component) append(b []byte) []byte {
	if p == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(append(b, 1), p.own)
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

// ParseClock returns the clock at the start of b, which Append has made, and what follows it.
func ParseClock(b []byte) (*Clock, []byte, error) {
	r := reader{b: b}
	n := r.count()
	if n == 0 {
		return nil, r.b, r.err
	}
	c := &Clock{of: make([]*component, n)}
	for i := range c.of {
		c.of[i] = r.component()
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

func (r *reader) component() *component {
	if r.number() == 0 {
		return nil
	}
	p := &component{own: r.number(), done: r.numbers()}
	for range r.count() {
		p.to = append(p.to, toPE{stream: uint16(r.number()), target: int32(r.number()), upTo: r.number(), singles: r.numbers()})
	}
	return p
}

func (r *reader) numbers() []uint64 {
	var v []uint64
	for range r.count() {
		v = append(v, r.number())
	}
	return v
}

// Releases returns what a PE acquires that sees an effect of r.
func (r *Record) Releases() *Clock { return r.Access.release() }
