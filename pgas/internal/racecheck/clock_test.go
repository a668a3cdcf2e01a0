package racecheck

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// naive is a clock as a set of strands.
type naive map[Strand]bool

// universe calls f with every strand of a small job: one own step or operation each.
func universe(f func(Strand)) {
	for from := range int32(3) {
		for n := range uint64(6) {
			f(Strand{From: from, Own: n + 1})
			for to := range int32(3) {
				for stream := range uint16(2) {
					f(Strand{From: from, To: to, Stream: stream, Number: n + 1})
				}
			}
		}
	}
}

func (s naive) add(in func(Strand) bool) naive {
	t := naive{}
	universe(func(x Strand) {
		if s[x] || in(x) {
			t[x] = true
		}
	})
	return t
}

// TestClockIsASet: clocks that were made in random ways hold exactly what sets hold that were made in the same ways.
func TestClockIsASet(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		clocks, sets := []*Clock{nil}, []naive{{}}
		for range 40 {
			i := r.IntN(len(clocks))
			c, s := clocks[i], sets[i]
			pe, to, stream, n := r.Int32N(3), r.Int32N(3), uint16(r.IntN(2)), r.Uint64N(6)+1
			switch r.IntN(5) {
			case 0:
				c, s = c.withOwn(pe, n), s.add(func(x Strand) bool { return x.From == pe && x.Number == 0 && x.Own <= n })
			case 1:
				c = c.withMark(pe, stream, &Mark{n})
				s = s.add(func(x Strand) bool { return x.From == pe && x.Number > 0 && x.Stream == stream && x.Number <= n })
			case 2:
				single := r.Uint64N(7)
				c = c.withTo(pe, stream, to, n, single)
				s = s.add(func(x Strand) bool {
					return x.From == pe && x.To == to && x.Number > 0 && x.Stream == stream && (x.Number <= n || x.Number == single)
				})
			case 3:
				j := r.IntN(len(clocks))
				c, s = c.Join(clocks[j]), s.add(func(x Strand) bool { return sets[j][x] })
			case 4:
				got, rest, err := ParseClock(append(c.Append(nil), 7), nil)
				if err != nil || len(rest) != 1 {
					t.Fatalf("seed %d: the bytes of a clock leave %d bytes: %v", seed, len(rest), err)
				}
				c = got
			}
			clocks, sets = append(clocks, c), append(sets, s)
		}
		for i, c := range clocks {
			universe(func(x Strand) {
				if c.has(&x) != sets[i][x] {
					t.Fatalf("seed %d: clock %d has %+v: %t", seed, i, x, c.has(&x))
				}
			})
		}
	}
}

// TestClockIsBounded: a clock lists few single operations, and what it does not list any more counts as before it.
func TestClockIsBounded(t *testing.T) {
	var c *Clock
	const n = 10 * maxSingles
	for i := range uint64(n) {
		c = c.withTo(1, 0, 2, 0, 2*i+2)
	}
	if got := len(c.component(1).to[0].singles); got > maxSingles {
		t.Errorf("it lists %d operations", got)
	}
	for i := range uint64(n) {
		if !c.has(&Strand{From: 1, To: 2, Number: 2*i + 2}) {
			t.Errorf("operation %d is lost", 2*i+2)
		}
	}
	if c.has(&Strand{From: 1, To: 2, Number: 2*n - 1}) {
		t.Error("one of the last operations is there that was not added")
	}
}

// TestTornClock: bytes that are no clock are an error, and nothing is allocated for them.
func TestTornClock(t *testing.T) {
	var c *Clock
	whole := c.withOwn(1, 300).withTo(0, 1, 2, 5, 70000).Append(nil)
	for n := range len(whole) {
		if _, _, err := ParseClock(whole[:n], nil); err == nil {
			t.Errorf("%d of %d bytes are a clock", n, len(whole))
		}
	}
}

// TestReleased: what a PE has released is the clock of all its releases, as one adds them and as another PE reads it.
func TestReleased(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		var s Released
		var all []Record
		base := (*Clock)(nil).withOwn(1, 3)
		number := uint64(0)
		for own := range uint64(12) {
			var rec Record
			if r.IntN(5) == 0 {
				base = base.withOwn(1, 4+own).withTo(1, 0, 2, 0, 1+own)
			}
			rec.Clock, rec.From, rec.To, rec.Own = base, 2, int32(r.IntN(2)), 1+own
			rec.Stream = uint16(r.IntN(2))
			if r.IntN(3) > 0 {
				number += 1 + r.Uint64N(3)
				rec.Number = number
			}
			if r.IntN(4) == 0 && number > 1 {
				rec.Fenced[0] = r.Uint64N(number)
			}
			before := s.Clock()
			if !s.Add(&rec) && !reflect.DeepEqual(before, s.Clock()) {
				t.Fatal("a release that adds nothing has changed the clock")
			}
			all = append(all, rec)
			checkReleased(t, &s, all)
		}
	}
}

// checkReleased compares what is released with all releases, and with what is read of it.
func checkReleased(t *testing.T, s *Released, all []Record) {
	var want *Clock
	for i := range all {
		want = want.Join(all[i].release())
	}
	got, err := ParseReleased(s.Append(nil), 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Clock{s.Clock(), got} {
		if more := c.Join(want); more != c {
			t.Fatalf("it lacks something of %d releases", len(all))
		}
		if len(all) <= mostNumbers && want.Join(c) != want {
			t.Fatalf("it has more than %d releases", len(all))
		}
	}
	if _, err := ParseReleased(s.Append(nil)[:3], 4, nil); err == nil {
		t.Fatal("half of it is read")
	}
}
