package racecheck

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// accessOf returns an access by a PE that is ordered with no other.
func accessOf(pe int32, how How) *Access {
	return &Access{Strand: Strand{From: pe, Own: 1}, How: how}
}

// put adds an access to the bytes from lo to hi, and calls found for each race.
func (s *shadow) put(a *Access, lo, hi uint64, found func(e entry, lo, hi uint64)) {
	x := addition{shadow: s, a: a, e: s.entry(a)}
	x.add(lo, hi)
	for _, m := range x.met {
		found(m.e, m.lo, m.hi)
	}
}

// TestShadowIsExact: of random ranges, each access is found by those that race with it, byte by byte.
func TestShadowIsExact(t *testing.T) {
	const size = 3 * pageBytes
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		var s shadow
		had := make([][]Access, size)
		for pe := range int32(12) {
			a := accessOf(pe, []How{Read, AtomicRead, AtomicWrite, Write}[r.IntN(4)])
			lo := r.Uint64N(size)
			hi := min(size, lo+1+r.Uint64N([]uint64{4, 16, 2 * pageBytes}[r.IntN(3)]))
			found := make([][]Access, size)
			s.put(a, lo, hi, func(e entry, lo, hi uint64) {
				for i := lo; i < hi; i++ {
					found[i] = append(found[i], e.access())
				}
			})
			for i := range had {
				var want []Access
				if lo <= uint64(i) && uint64(i) < hi {
					for _, e := range had[i] {
						if race(a, &e) {
							want = append(want, e)
						}
					}
					had[i] = append(had[i], *a)
				}
				if !slices.Equal(found[i], want) {
					t.Fatalf("seed %d: access %d finds %d races on byte %d, not %d", seed, pe, len(found[i]), i, len(want))
				}
			}
		}
	}
}

// TestLargeRange: a range of 256 KiB is one segment a page, and a byte of it is found whichever it is.
func TestLargeRange(t *testing.T) {
	const size = 256 << 10
	for _, at := range []uint64{0, 1, pageBytes - 1, pageBytes, size/2 + 3, size - 1} {
		var s shadow
		put, get := accessOf(0, Write), accessOf(1, Read)
		s.put(put, 0, size, func(entry, uint64, uint64) { t.Error("the first access races") })
		if s.segments != size/pageBytes {
			t.Errorf("%d segments", s.segments)
		}
		races := 0
		s.put(get, at, at+1, func(e entry, lo, hi uint64) {
			if races++; e.access() != *put || lo != at || hi != at+1 {
				t.Errorf("the race is on bytes %d to %d", lo, hi)
			}
		})
		if races != 1 {
			t.Errorf("byte %d: %d races", at, races)
		}
	}
}

// TestShadowIsBounded: more segments and more readers than there is room for are forgotten, with a word about it, and
// what is left finds its races.
func TestShadowIsBounded(t *testing.T) {
	forgot := 0
	s := shadow{most: 64, lost: func() { forgot++ }}
	for i := range uint64(1000) {
		a := accessOf(0, Write)
		s.put(a, 2*i*pageBytes, 2*i*pageBytes+8, func(entry, uint64, uint64) { t.Error("a race") })
		if s.segments > 64 {
			t.Fatalf("%d segments", s.segments)
		}
	}
	if forgot == 0 {
		t.Error("nothing was forgotten")
	}
	s, forgot = shadow{lost: func() { forgot++ }}, 0
	for pe := range int32(2 * mostAccesses) {
		a := accessOf(pe, Read)
		s.put(a, 0, 8, func(entry, uint64, uint64) { t.Error("two reads race") })
	}
	races, readers, a := 0, forgot, accessOf(-1, Write)
	s.put(a, 0, 8, func(entry, uint64, uint64) { races++ })
	if readers != mostAccesses || races != mostAccesses {
		t.Errorf("%d were forgotten, and %d are found", readers, races)
	}
}

// TestBytesAreBounded: a detector that has too many bytes forgets pages, with a word about it. It reports no race that
// is none, finds those of what it has left, and still orders a PE that looks at a word which it has forgotten.
func TestBytesAreBounded(t *testing.T) {
	const words, most = 1 << 18, 16 << 20
	lost, races := 0, 0
	d := NewDetector(0, 3, func(Report) { races++ }, func(Unseen) { lost++ })
	d.weight.most = most
	heaviest, lightest, told := uint64(0), uint64(most), 0
	var before *Clock // of PE 1, which learns of PE 2 before each step
	for i := range uint64(words) {
		before = before.withOwn(2, i+1)
		a := Access{Strand: Strand{From: 1, To: -1, Own: i + 1}, After: After{Clock: before}, How: AtomicWrite}
		d.Apply(&Record{Access: a, Off: 8 * i, Bytes: 8, Stride: 8, Count: 1, Release: ReleaseWord})
		if i%(1<<13) == 0 {
			s := d.counted()
			heaviest = max(heaviest, s.bytes)
		}
		if lost > told {
			s := d.counted()
			lightest, told = min(lightest, s.bytes), lost
		}
	}
	if lost == 0 || heaviest < most/2 || heaviest > most || lightest < most/3 {
		t.Errorf("%d bytes at most, and %d times some were forgotten, with %d left", heaviest, lost, lightest)
	}
	if before.component(1).own != 0 || d.Answer(Question{Word: 0, Bytes: 8}).component(1).own == 0 {
		t.Error("a word that was forgotten orders no PE")
	}
	found := 0
	for i := uint64(words - 1); i < words; i-- { // the last ones first: to read makes others be forgotten
		races = 0
		d.Apply(&Record{Access: *accessOf(0, Read), Off: 8 * i, Bytes: 8, Stride: 8, Count: 1})
		if found += races; races > 1 {
			t.Fatalf("word %d: %d races", i, races)
		}
	}
	if found == 0 || found == words {
		t.Errorf("%d of %d races are found", found, words)
	}
}

// TestLaterClocksAreBounded: accesses that take the places of earlier ones, with larger clocks of their own, are
// counted. Some of what has too many bytes is forgotten, and nothing is invented.
func TestLaterClocksAreBounded(t *testing.T) {
	const words, rounds, most = 1 << 12, 20, 8 << 20
	for _, release := range []Release{0, ReleaseWord} {
		lost, heaviest := 0, uint64(0)
		d := NewDetector(0, 3, func(Report) { t.Error("a race") }, func(Unseen) { lost++ })
		d.weight.most = most
		for round := range uint64(rounds) {
			for i := range uint64(words) {
				own := round*words + i + 1
				a := Access{Strand: Strand{From: 1, To: -1, Own: own}, How: AtomicWrite}
				for pe := range int32(round) { // all of it new
					a.Clock = a.Clock.withMark(2+pe, uint16(round), &Mark{own})
				}
				d.Apply(&Record{Access: a, Off: 8 * i, Bytes: 8, Stride: 8, Count: 1, Release: release})
			}
			s := d.counted()
			heaviest = max(heaviest, s.bytes)
			if round == 0 && (s.bytes < words*segmentBytes || lost > 0) {
				t.Errorf("at first %d bytes are counted, and %d times some were forgotten", s.bytes, lost)
			}
		}
		if lost == 0 || heaviest < most/2 || heaviest > most {
			t.Errorf("release %d: %d bytes at most, and %d times some were forgotten", release, heaviest, lost)
		}
		last := Strand{From: 1, Own: (rounds-1)*words + 9}
		if release == ReleaseWord && !d.Answer(Question{Word: 64, Bytes: 8}).has(&last) {
			t.Error("the last update of a word that was forgotten orders no PE")
		}
	}
}

// TestSumIsOfBytes: what a detector has added up without a walk is about what a walk counts, however its clocks come:
// shared by accesses, of their own, or put together for words.
func TestSumIsOfBytes(t *testing.T) {
	const words = 1 << 9
	for _, npes := range []int32{1, 300} {
		for _, every := range []uint64{1, 100, 8 * words} { // a new clock with one in so many accesses
			lost := func(Unseen) { t.Error("some are forgotten") }
			d := NewDetector(0, int(npes)+2, func(Report) { t.Error("a race") }, lost)
			var clock *Clock
			for pe := range npes {
				clock = clock.withOwn(2+pe, 1)
			}
			for i := range uint64(8 * words) { // eight releases of each word: twice what it keeps as they are
				if i%every == 0 {
					clock = clock.withOwn(2+int32(i)%npes, i+1)
				}
				a := Access{Strand: Strand{From: 2 + int32(i/words)%npes, Own: i + 2}, How: AtomicWrite}
				a.Clock = clock
				d.Apply(&Record{Access: a, Off: 8 * (i % words), Bytes: 8, Stride: 8, Count: 1, Release: ReleaseWord})
			}
			sum := d.weight.bytes
			if s := d.counted(); sum < s.bytes/10*9 {
				t.Errorf("%d PEs, a clock for %d: the sum is %d, and a walk counts %d", npes, every, sum, s.bytes)
			}
		}
	}
}

// TestWeight: the bytes that a detector counts are about those that it takes.
func TestWeight(t *testing.T) {
	d := NewDetector(0, 3, func(Report) { t.Error("a race") }, nil)
	var empty, full runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&empty)
	var before *Clock
	for i := range uint64(100_000) {
		before = before.withOwn(2, i+1)
		a := Access{Strand: Strand{From: 1, To: -1, Own: i + 1}, After: After{Clock: before}, How: AtomicWrite}
		d.Apply(&Record{Access: a, Off: 8 * i, Bytes: 8, Stride: 8, Count: 1, Release: ReleaseWord})
	}
	runtime.GC()
	runtime.ReadMemStats(&full)
	s := d.counted()
	if ratio := float64(s.bytes) / float64(full.HeapAlloc-empty.HeapAlloc); ratio < 0.6 || ratio > 1.4 {
		t.Errorf("%d bytes are counted, %.2f of those that there are", s.bytes, ratio)
	}
	runtime.KeepAlive(d)
}

// TestManyPEs: all PEs of a large job get one word and add to it, and one put races with each.
func TestManyPEs(t *testing.T) {
	const npes = 100
	races, lost := 0, 0
	d := NewDetector(0, npes, func(Report) { races++ }, func(Unseen) { lost++ })
	for pe := range int32(npes) {
		for _, how := range [...]How{Read, AtomicWrite} {
			d.Apply(&Record{Access: *accessOf(pe, how), Off: uint64(how) * 8, Bytes: 8, Stride: 8, Count: 1})
		}
	}
	d.Apply(&Record{Access: *accessOf(-1, Write), Off: uint64(Read) * 8, Bytes: 8, Stride: 8, Count: 1})
	d.Apply(&Record{Access: *accessOf(-1, Write), Off: uint64(AtomicWrite) * 8, Bytes: 8, Stride: 8, Count: 1})
	if races != 2*npes || lost != 0 {
		t.Errorf("%d races are found, and %d accesses are lost", races, lost)
	}
}

// TestForget: freed bytes have had no accesses, and their neighbours have.
func TestForget(t *testing.T) {
	var s shadow
	a := accessOf(0, Write)
	s.put(a, 100, 3*pageBytes, func(entry, uint64, uint64) {})
	s.forget(200, 2*pageBytes+5)
	for at, want := range map[uint64]int{100: 1, 199: 1, 200: 0, pageBytes: 0, 2*pageBytes + 4: 0, 2*pageBytes + 5: 1} {
		races, b := 0, accessOf(1, Read)
		s.put(b, at, at+1, func(entry, uint64, uint64) { races++ })
		if races != want {
			t.Errorf("byte %d: %d races", at, races)
		}
	}
}

// TestReleases: a reader of a word learns of each access that has released into it and of what that knew, whether the
// shadow has both, the second has taken the place of the first there, or the memory is not judged. A reader of the
// bytes beside it learns nothing.
func TestReleases(t *testing.T) {
	for i := range 8 {
		judged, ordered, bytes := i&1 == 0, i&2 == 0, uint64(4+i&4)
		d := NewDetector(0, 4, func(Report) { t.Error("a race") }, func(Unseen) {})
		if !judged {
			d.Apply(&Record{Release: Exempted, Off: 64, Stride: 72})
		}
		first, second := accessOf(1, AtomicWrite), accessOf(2, AtomicWrite)
		first.Clock = first.Clock.withOwn(3, 5)
		if ordered { // the second knows of the first, and not of what that knew
			second.Clock = second.Clock.withOwn(1, 1)
		}
		for _, a := range []*Access{first, second} {
			d.Apply(&Record{Access: *a, Off: 64, Bytes: bytes, Stride: bytes, Count: 1, Release: ReleaseWord})
		}
		for _, q := range []span{{64, 72}, {60, 68}, {66, 67}, {68, 72}, {60, 64}, {72, 76}} {
			c, want := d.Answer(Question{Word: q.lo, Bytes: q.hi - q.lo}), q.lo < 64+bytes && q.hi > 64
			known := c.has(&first.Strand) && c.has(&second.Strand) && c.component(3).own == 5
			if known != want || !want && c != nil {
				t.Errorf("case %d, bytes %d to %d: known is %v, want %v", i, q.lo, q.hi, known, want)
			}
		}
	}
}

// TestExempt: accesses to exempt memory are not reported, what they release is acquired, and memory that was freed is
// judged again.
func TestExempt(t *testing.T) {
	races := 0
	d := NewDetector(0, 3, func(Report) { races++ }, func(Unseen) {})
	put := func(pe int32, off uint64, release Release) {
		d.Apply(&Record{Access: *accessOf(pe, Write), Off: off, Bytes: 8, Stride: 8, Count: 1, Release: release})
	}
	for i, test := range []struct {
		release Release
		off     uint64
		want    int
	}{
		{0, 64, 0}, {0, 72, 1}, {0, 56, 1}, {Freed, 64, 1},
	} {
		races = 0
		d.Apply(&Record{Release: Exempted, Off: 64, Stride: 72})
		if test.release&Freed != 0 {
			d.Apply(&Record{Release: Freed, Off: 64, Stride: 72})
		}
		put(1, test.off, ReleaseWord)
		put(2, test.off, 0)
		if races != test.want {
			t.Errorf("case %d: %d races, want %d", i, races, test.want)
		}
		if d.Answer(Question{Word: test.off, Bytes: 8}) == nil {
			t.Errorf("case %d: the word has released nothing", i)
		}
	}
}

// TestSubwords: accesses to the bytes of one word do not race, and those to one byte do.
func TestSubwords(t *testing.T) {
	var s shadow
	races := 0
	for pe := range uint64(8) {
		a := accessOf(int32(pe), Write)
		s.put(a, pe, pe+1, func(entry, uint64, uint64) { races++ })
	}
	if races != 0 {
		t.Errorf("%d races of different bytes", races)
	}
	a := accessOf(8, Read)
	s.put(a, 0, 8, func(entry, uint64, uint64) { races++ })
	if races != 8 {
		t.Errorf("a get of the word finds %d puts", races)
	}
}
