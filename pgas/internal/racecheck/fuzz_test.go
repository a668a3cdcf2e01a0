package racecheck

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
)

// mostOf returns how many bytes a clock of so many bytes in a message may need at most. A component takes four bytes or
// more there, an entry four, a PE without a component and a number one.
func mostOf(bytes int) uint64 {
	return clockBytes + uint64(bytes)*max(8, (8+componentBytes+3)/4, (toBytes+3)/4)
}

// TestAcquireRefuses: a PE acquires what is a clock of PEs of the job, and nothing else.
func TestAcquireRefuses(t *testing.T) {
	var c *Clock
	for stream := range uint16(2) {
		c = c.withTo(0, stream, 1, 0, 7).withTo(0, stream, 1, 0, 9)
	}
	entries := func(to ...toPE) []byte { return (*Clock)(nil).with(0, &component{own: 1, to: to}).Append(nil) }
	for _, test := range []struct {
		name  string
		bytes []byte
		want  bool
	}{
		{"a clock", c.Append(nil), true},
		{"no clock", []byte{0}, true},
		{"a byte behind a clock", append(c.Append(nil), 0), false},
		{"half a clock", c.Append(nil)[:8], false},
		{"a clock of the last PE", c.withOwn(1, 1).Append(nil), true},
		{"a clock of more PEs", c.withOwn(2, 1).Append(nil), false},
		{"entries in order", entries(toPE{stream: 1, upTo: 1}, toPE{stream: 1, target: 1, upTo: 1}, toPE{stream: 2}), true},
		{"streams out of order", entries(toPE{stream: 2, upTo: 1}, toPE{stream: 1, target: 1, upTo: 1}), false},
		{"PEs out of order", entries(toPE{target: 1, upTo: 1}, toPE{upTo: 1}), false},
		{"an entry twice", entries(toPE{upTo: 1}, toPE{upTo: 2}), false},
		{"operations out of order", entries(toPE{singles: []uint64{9, 7}}), false},
		{"an operation twice", entries(toPE{singles: []uint64{7, 7}}), false},
	} {
		var lines []string
		pe := newPairOf(func(Report) {}, func(line string) { lines = append(lines, line) }).pes[0]
		pe.Acquire(test.bytes)
		if got := len(lines) == 0; got != test.want || len(lines) > 1 || !got && pe.clock != nil {
			t.Errorf("%s: told are %q, and the PE has %v", test.name, lines, pe.clock)
		}
	}
}

// TestReleasedTwice: an operation that releases twice is one number of the clock of both releases.
func TestReleasedTwice(t *testing.T) {
	s := new(Released)
	for fenced := range uint64(2) {
		a := Access{Strand: Strand{From: 1, Own: 3, Number: 5}, After: After{Fenced: UpTo{0, fenced}}}
		s.Add(&Record{Access: a})
	}
	if _, _, err := ParseClock(s.Clock().Append(nil), nil); err != nil {
		t.Error(err)
	}
}

// FuzzAcquire has a PE acquire bytes that anybody may have sent, and go on with what it has made of them: it accesses
// memory and releases. They are a clock of PEs of the job, or nothing and one line; and the memory that they need is
// bounded by their number.
func FuzzAcquire(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 30 {
		var c *Clock
		for range i {
			pe, n := r.Int32N(2), 1+r.Uint64N(1000)
			c = c.withOwn(pe, n).withTo(pe, uint16(r.IntN(20)), r.Int32N(2), r.Uint64N(3), n).withMark(1-pe, 5, &Mark{n})
		}
		f.Add(c.Append(nil))
		a := Access{Strand: Strand{From: 1, Own: 3, Number: 5}, After: After{Clock: c, Fenced: UpTo{1, 2, 3}}}
		s := new(Released)
		s.Add(&Record{Access: a})
		f.Add(s.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var lines []string
		p := newPairOf(func(Report) {}, func(line string) { lines = append(lines, line) })
		pe := p.pes[0]
		pe.Acquire(b)
		var s scales
		s.mark = 1
		s.clock(pe.clock)
		if s.bytes > mostOf(len(b)) || pe.clock != nil && len(pe.clock.of) > 2 {
			t.Errorf("%d bytes are %d bytes of a clock of %d PEs", len(b), s.bytes, len(pe.clock.of))
		}
		if len(lines) > 1 || len(lines) == 1 && (pe.clock != nil || lines[0] != UnseenRelease.Line()) {
			t.Errorf("told are %q", lines)
		}
		again := pe.clock.Append(nil)
		c, rest, err := ParseClock(again, nil)
		if err != nil || len(rest) > 0 || !bytes.Equal(c.Append(nil), again) || pe.clock.Join(c) != pe.clock {
			t.Errorf("%v: the clock is not what it is as bytes", err)
		}
		p.chans[0].Put(1, 64, p.mem[0][:8])
		p.ctxs[0].Fence(-1)
		p.ctxs[0].Quieted(context.Background(), -1, p.ctxs[0].Issued())
		p.pes[1].Acquire(pe.Release())
		p.chans[1].Put(1, 64, p.mem[1][:8])

		c, err = ParseReleased(b, 2, nil)
		s.bytes = 0
		s.mark++
		s.clock(c)
		// Its clock, with a component, and entries for three fences and for the numbers.
		if most := mostOf(len(b)) + 8*2 + componentBytes + 4*toBytes; err == nil && s.bytes > most {
			t.Errorf("%d bytes are %d bytes of a row", len(b), s.bytes)
		}
	})
}
