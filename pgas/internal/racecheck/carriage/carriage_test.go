package carriage

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// book is a detector that keeps what it is told.
type book struct {
	mu      sync.Mutex
	records []*racecheck.Record
	stopped bool
	first   func() // is called before the first record is taken; nil: nothing is
}

func (b *book) Apply(r *racecheck.Record) {
	if f := b.first; f != nil {
		b.first = nil
		f()
	}
	b.mu.Lock()
	kept := *r
	b.records = append(b.records, &kept)
	b.mu.Unlock()
}

func (b *book) Stop() {
	b.mu.Lock()
	b.stopped = true
	b.mu.Unlock()
}

// Answer returns what all records know that release into the word, or into the call.
func (b *book) Answer(q racecheck.Question) (c *racecheck.Clock) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.records {
		if q.Call != nil && r.Release&racecheck.ReleaseCall != 0 && r.Call == *q.Call || q.Call == nil && r.Release&racecheck.ReleaseWord != 0 && r.Off == q.Word {
			c = c.Join(r.Clock)
		}
	}
	return c
}

func (b *book) from(pe int) (of []*racecheck.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.records {
		if int(r.From) == pe {
			of = append(of, r)
		}
	}
	return of
}

// rig is a job of PEs in this process.
type rig struct {
	seg   *boot.Segment
	pes   []*Carriage
	books []*book
	said  []chan string
	fail  atomic.Bool
	plain sync.Mutex
	word  uint64 // offset of a word that no ring has
}

// lockedChannel is a channel. Its plain puts and gets exclude each other: PEs read rows while others write them, and
// find torn ones by a sum. Go's race detector knows nothing of the sum.
type lockedChannel struct {
	transport.Channel
	mu *sync.Mutex
}

func (c *lockedChannel) Put(pe int, dst uint64, src []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Channel.Put(pe, dst, src)
}

func (c *lockedChannel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Channel.Get(ctx, pe, dst, src)
}

const rigBase = 64 << 10

// newRig makes a job. change, if any, changes what the Carriage of each PE is made of.
func newRig(t *testing.T, npes int, change func(*Config)) *rig {
	l := Layout{npes, minRing}
	heap := uint64(rigBase+l.Bytes()+4095) &^ 4095
	r := &rig{seg: boot.NewSegment(npes, npes, heap+4096), word: heap}
	var cfgs []Config
	for pe := range npes {
		tr := shm.Open(r.seg)
		ch := &lockedChannel{Channel: tr.Open(), mu: &r.plain}
		own := r.seg.Heap(pe)
		r.books, r.said = append(r.books, &book{}), append(r.said, make(chan string, 100))
		cfg := Config{
			Layout: l, Ctx: context.Background(), PE: pe, Base: rigBase, Own: own[rigBase:][:l.Bytes()], Heap: uint64(len(own)), Near: ch, Far: ch,
			Word:   func(off uint64) *atomic.Uint64 { return wordAt(own, off) },
			IsNear: func(int) bool { return true }, Detector: r.books[pe], Patience: time.Hour,
			Failure: func() error {
				if r.fail.Load() {
					return &transport.PeerError{PE: 1, Err: fmt.Errorf("died")}
				}
				return nil
			},
			Progress: func(time.Duration) bool { return false },
			Say:      func(line string) { r.said[pe] <- line },
		}
		if change != nil {
			change(&cfg)
		}
		cfgs = append(cfgs, cfg)
	}
	for _, cfg := range cfgs {
		r.pes = append(r.pes, Open(cfg))
	}
	t.Cleanup(func() {
		for _, c := range r.pes {
			c.Close()
		}
	})
	return r
}

// clockOf returns the clock with n steps of a PE alone.
func clockOf(pe int, n uint64) *racecheck.Clock {
	b := binary.AppendUvarint(nil, uint64(pe)+1)
	b = append(b, make([]byte, pe)...)
	b = binary.AppendUvarint(append(b, 1), n)
	c, _, err := racecheck.ParseClock(append(b, 0, 0), nil)
	if err != nil {
		panic(err)
	}
	return c
}

// longClock returns a clock with the first operation of so many streams of PE 0.
func longClock(streams int) *racecheck.Clock {
	b := binary.AppendUvarint([]byte{1, 1, 0}, uint64(streams))
	b = append(b, bytes.Repeat([]byte{1}, streams)...)
	c, _, err := racecheck.ParseClock(append(b, 0), nil)
	if err != nil {
		panic(err)
	}
	return c
}

func same(a, b *racecheck.Clock) bool { return bytes.Equal(a.Append(nil), b.Append(nil)) }

// has reports whether c has all of other.
func has(c, other *racecheck.Clock) bool { return same(c.Join(other), c) }

// drawn returns a record of a PE with every field drawn.
func drawn(r *rand.Rand, from, npes int, heap uint64) *racecheck.Record {
	rec := &racecheck.Record{Count: 1, Off: r.Uint64N(heap / 2), Bytes: r.Uint64N(heap / 4)}
	rec.From, rec.How, rec.Own = int32(from), racecheck.How(r.IntN(4)), r.Uint64()
	rec.To, rec.Stream, rec.Mixed = r.Int32N(int32(npes)+1)-1, uint16(r.Uint32()), r.IntN(2) == 0
	if r.IntN(2) == 0 {
		rec.Number = r.Uint64()
	}
	rec.Fenced = racecheck.UpTo{r.Uint64N(3), r.Uint64N(3), r.Uint64N(3)}
	switch r.IntN(4) {
	case 0:
		rec.Count, rec.Off, rec.Bytes = 0, r.Uint64N(heap), 0
	case 1:
		rec.Count, rec.Bytes, rec.Stride = 2+r.Uint64N(8), 8, 8+r.Uint64N(heap/20)
	}
	rec.Release = racecheck.Release(r.IntN(8))
	if rec.Release&racecheck.ReleaseNote != 0 {
		rec.Key = racecheck.NoteKey{Stamp: transport.Stamp(r.Uint64()), Bytes: r.Uint64(), Off: r.Uint64()}
	}
	if rec.Release&racecheck.ReleaseCall != 0 {
		rec.Call = racecheck.CallKey{Home: r.Int32N(int32(npes)), Slot: r.Int32N(128), Number: r.Uint64(), Member: r.Int32N(int32(npes)), Size: r.Int32N(int32(npes) + 1)}
	}
	if r.IntN(3) > 0 {
		rec.Clock = clockOf(r.IntN(npes), r.Uint64())
	}
	if n := r.IntN(20); n > 0 {
		rec.Site = racecheck.At("Slice.Put", fmt.Sprintf("main.go:%d", n))
	}
	return rec
}

// text shows all of a record.
func text(r *racecheck.Record) string {
	c := *r
	call, line := c.Site.Name()
	clock := c.Clock.Append(nil)
	c.Site, c.Clock = nil, nil
	return fmt.Sprintf("%+v %x %s %s", c, clock, call, line)
}

// TestRecordsAreWhole: every field of a record arrives, in the order of a stream, in rings that wrap around and whose
// counters overflow.
func TestRecordsAreWhole(t *testing.T) {
	for _, start := range []uint64{0, 1<<64 - 8*minRing, 1<<64 - 16} {
		r := newRig(t, 3, func(c *Config) { c.Start = start })
		var sent []string
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			rec := drawn(rnd, 2, 3, 100<<10)
			sent = append(sent, text(rec))
			r.pes[2].Tell(nil, 0, rec)
		}
		r.pes[2].Flush(nil, -1)
		r.pes[0].Drain()
		got := r.books[0].from(2)
		if len(got) != len(sent) {
			t.Fatalf("start %#x: %d records of %d", start, len(got), len(sent))
		}
		for i, rec := range got {
			if text(rec) != sent[i] {
				t.Fatalf("start %#x: record %d is\n%s\nwant\n%s", start, i, text(rec), sent[i])
			}
		}
	}
}

// TestLargeMessage: a message may be larger than a ring.
func TestLargeMessage(t *testing.T) {
	r := newRig(t, 2, nil)
	long := racecheck.At(strings.Repeat("x", 5*minRing), "a.go:1")
	r.pes[1].Tell(nil, 0, &racecheck.Record{Access: racecheck.Access{Site: long, Strand: racecheck.Strand{From: 1}}, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
	r.pes[0].Drain()
	if got := r.books[0].from(1); len(got) != 1 || text(got[0])[len(text(got[0]))-6:] != "a.go:1" {
		t.Errorf("%d records", len(got))
	}
}

// TestEffectThenRecord: a PE that has seen an effect finds its record, on every kind of stream.
func TestEffectThenRecord(t *testing.T) {
	for name, near := range map[string]bool{"near": true, "far": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2, func(c *Config) { c.IsNear = func(int) bool { return near } })
			const rounds = 2000
			word := transport.Word{Off: r.word, Bytes: 8}
			done := make(chan error, 1)
			go func() {
				for i := range uint64(rounds) {
					ch := shm.Open(r.seg).Open() // more channels than slots
					if i%4 != 0 {
						ch = shm.Open(r.seg).Open()
					}
					clock := clockOf(0, i+1)
					for range i % 7 {
						r.pes[0].Tell(ch, 1, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{Own: i + 1}, After: racecheck.After{Clock: clock}}, Count: 1, Bytes: 1})
					}
					r.pes[0].Tell(ch, 1, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{Own: i + 1}, After: racecheck.After{Clock: clock}}, Off: r.word, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
					ch.Post(1, transport.Set, word, i+1)
				}
				done <- nil
			}()
			last := shm.Open(r.seg).Open()
			for seen := uint64(0); seen < rounds; {
				v, _ := last.Atomic(context.Background(), 1, transport.Fetch, word, 0, 0)
				if v == seen {
					runtime.Gosched()
					continue
				}
				seen = v
				c, err := r.pes[1].Ask(context.Background(), 1, racecheck.Question{Word: r.word, Bytes: 8})
				if err != nil || c == nil {
					t.Fatalf("no clock of round %d: %v", v, err)
				}
				b := c.Append(nil)
				own, _ := binary.Uvarint(b[2:])
				if own < v {
					t.Fatalf("the clock is that of round %d, and the effect that of %d", own, v)
				}
			}
			<-done
		})
	}
}

// TestAsk: PEs ask each other at the same time, and each answer has what the asking PE has seen.
func TestAsk(t *testing.T) {
	for name, near := range map[string]bool{"near": true, "far": false} {
		t.Run(name, func(t *testing.T) {
			const npes, rounds = 4, 100
			r := newRig(t, npes, func(c *Config) { c.IsNear = func(int) bool { return near } })
			var wg sync.WaitGroup
			for pe := range npes {
				wg.Go(func() {
					for i := range uint64(rounds) {
						to := (pe + 1 + int(i)%(npes-1)) % npes
						ch := r.pes[pe].Near
						mine := clockOf(pe, i+1)
						call := racecheck.CallKey{Home: int32(to), Number: i, Size: npes - 1, Member: int32(pe)}
						r.pes[pe].Tell(ch, to, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: int32(pe), Own: i}, After: racecheck.After{Clock: mine}}, Release: racecheck.ReleaseCall, Call: call})
						c, err := r.pes[pe].Ask(context.Background(), to, racecheck.Question{Call: &call})
						if err != nil || !same(c, mine) {
							t.Errorf("PE %d has asked PE %d in round %d, and got %v, %v", pe, to, i, c, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestAnswerIsLate: an answer has what the asking PE had seen before it asked, although the PE that is asked had read
// the
// ring with the record of that before, and not the question.
func TestAnswerIsLate(t *testing.T) {
	r := newRig(t, 3, nil)
	call := racecheck.CallKey{Home: 0, Size: 1}
	r.stop(0)
	r.books[0].first = func() { // between the rings of PEs 1 and 2
		r.pes[1].Tell(nil, 0, &racecheck.Record{Access: racecheck.Access{After: racecheck.After{Clock: clockOf(1, 7)}}, Release: racecheck.ReleaseCall, Call: call})
	}
	r.pes[2].Tell(nil, 0, &racecheck.Record{Count: 1, Bytes: 8})
	done := make(chan *racecheck.Clock)
	go func() {
		c, err := r.pes[2].Ask(context.Background(), 0, racecheck.Question{Call: &call})
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	look := r.pes[0].in[2*Slots+sharedSlot] // at the record and the question, before PE 0 reads them
	look.head = new(atomic.Uint64)
	for n := 0; n < 2; runtime.Gosched() {
		look.read(func(*inbox, []byte) error { n++; return nil })
	}
	r.resume(0)
	if c := <-done; !same(c, clockOf(1, 7)) {
		t.Error("the answer is older than what the asker has seen")
	}
}

// TestFullRings: PEs that send each other more than the rings hold, and read only when they must, go on.
func TestFullRings(t *testing.T) {
	r := newRig(t, 2, nil)
	var wg sync.WaitGroup
	const n = 20000
	for pe := range 2 {
		wg.Go(func() {
			for i := range uint64(n) {
				r.pes[pe].Tell(nil, 1-pe, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: int32(pe), Own: i}}, Count: 1, Off: i % 1000, Bytes: 8})
			}
			r.pes[pe].Flush(nil, -1)
		})
	}
	wg.Wait()
	for pe := range 2 {
		r.pes[pe].Drain()
		if got := len(r.books[pe].from(1 - pe)); got != n {
			t.Errorf("PE %d has %d records of %d", pe, got, n)
		}
	}
}

// ofTwo asks for the clock of a collective of PE 1 alone.
var ofTwo = racecheck.Question{Call: &racecheck.CallKey{Home: 1, Size: 1}}

// stop makes a PE of r read nothing until resume.
func (r *rig) stop(pe int) { r.pes[pe].reading.Lock() }

func (r *rig) resume(pe int) { r.pes[pe].reading.Unlock() }

// TestStoppedPE: a PE that reads no records costs the others their patience, once, and then one line, and all PEs stop
// reporting.
func TestStoppedPE(t *testing.T) {
	r := newRig(t, 3, func(c *Config) { c.Patience = time.Millisecond })
	r.stop(1)
	for i := range uint64(20000) {
		r.pes[0].Tell(nil, 1, &racecheck.Record{Count: 1, Off: i % 1000, Bytes: 8})
	}
	if line := <-r.said[0]; !strings.Contains(line, "PE 1 has read no records for 1ms") || !strings.Contains(line, "not seen from now on") {
		t.Error(line)
	}
	if c, err := r.pes[0].Ask(context.Background(), 1, ofTwo); c != nil || err != nil {
		t.Errorf("an answer of a stopped PE: %v, %v", c, err)
	}
	// PE 2 learns of it before it can see an effect of PE 0.
	r.pes[0].Tell(r.pes[0].Near, 2, &racecheck.Record{Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
	r.pes[2].Drain()
	if !r.pes[2].Lost() || !r.books[2].stopped || len(r.said[2]) != 0 {
		t.Errorf("PE 2 has lost records: %t, has said %d lines", r.pes[2].Lost(), len(r.said[2]))
	}
	r.resume(1)
	r.pes[1].Drain()
	if !r.pes[1].Lost() {
		t.Error("PE 1 does not know that records are lost")
	}
}

// TestDeadPE: the end of a PE ends a wait for room and a question.
func TestDeadPE(t *testing.T) {
	r := newRig(t, 2, nil)
	r.stop(1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range uint64(20000) {
			r.pes[0].Tell(nil, 1, &racecheck.Record{Count: 1, Off: i % 1000, Bytes: 8})
		}
	})
	wg.Go(func() { r.pes[0].Ask(context.Background(), 1, ofTwo) })
	r.fail.Store(true)
	wg.Wait()
	if len(r.said[0]) != 0 {
		t.Errorf("it says %q: the program learns of the death otherwise", <-r.said[0])
	}
	r.resume(1)
}

// TestLateAnswer: an access that was given up has the answer if that comes soon: about a word and about a collective.
func TestLateAnswer(t *testing.T) {
	r := newRig(t, 2, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	word := racecheck.Question{Word: r.word, Bytes: 8}
	r.pes[1].Tell(r.pes[1].Near, 1, &racecheck.Record{Release: racecheck.ReleaseWord, Off: r.word, Bytes: 8, Access: racecheck.Access{After: racecheck.After{Clock: clockOf(1, 5)}}})
	if c, err := r.pes[0].Ask(ctx, 1, word); !has(c, clockOf(1, 5)) || err != nil {
		t.Errorf("a word: %v, %v", c, err)
	}
	call := racecheck.CallKey{Home: 1, Size: 1}
	r.pes[1].Tell(nil, 1, &racecheck.Record{Release: racecheck.ReleaseCall, Call: call, Access: racecheck.Access{After: racecheck.After{Clock: clockOf(1, 7)}}})
	if c, err := r.pes[0].Ask(ctx, 1, racecheck.Question{Call: &call}); !has(c, clockOf(1, 7)) || err != nil {
		t.Errorf("a collective: %v, %v", c, err)
	}
	if r.pes[0].Lost() {
		t.Error(<-r.said[0])
	}
}

// TestCancelledQuestion: soon after the end of the context a question ends, and nothing is reported any more: an order
// may be missing.
func TestCancelledQuestion(t *testing.T) {
	r := newRig(t, 2, nil)
	r.stop(1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan *racecheck.Clock)
	go func() {
		c, _ := r.pes[0].Ask(ctx, 1, ofTwo)
		done <- c
	}()
	cancel()
	if c := <-done; c != nil || !r.pes[0].Lost() || !r.books[0].stopped {
		t.Error("it reports although it does not know what it has seen")
	}
	if line := <-r.said[0]; !strings.Contains(line, "what PE 1 knows is not waited for (context canceled)") {
		t.Error(line)
	}
	r.resume(1)
}

// TestWords: PEs add to a word of a third PE, and read what others know that have: all that the value tells. The clock
// of a release that has no room is asked for.
func TestWords(t *testing.T) {
	for name, long := range map[string]int{"short": 0, "long": rowBytes} {
		t.Run(name, func(t *testing.T) {
			const npes = 3
			rounds := 300
			if long > 0 {
				rounds = 10
			}
			more := longClock(long)
			r := newRig(t, npes, nil)
			word := transport.Word{Off: r.word, Bytes: 8}
			owner := make([]atomic.Uint32, npes*rounds+1) // by value: the PE that has made it, and its round
			var wg sync.WaitGroup
			for pe := range npes {
				wg.Go(func() {
					ch := r.pes[pe].Near
					for i := range uint64(rounds) {
						mine := more.Join(clockOf(pe, i+1))
						r.pes[pe].Tell(ch, 0, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: int32(pe)}, After: racecheck.After{Clock: mine}}, Off: r.word, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
						before, _ := ch.Atomic(context.Background(), 0, transport.Add, word, 1, 0)
						owner[before+1].Store(uint32(pe)<<16 | uint32(i+1))
						c, err := r.pes[pe].Ask(context.Background(), 0, racecheck.Question{Word: r.word, Bytes: 8})
						if err != nil {
							t.Error(err)
							return
						}
						for v := uint64(1); v <= before; v++ {
							if o := owner[v].Load(); o != 0 && int(o>>16) != pe && !has(c, clockOf(int(o>>16), uint64(o&0xffff))) {
								t.Errorf("PE %d has seen %d, and does not know of round %d of PE %d", pe, before, o&0xffff, o>>16)
								return
							}
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestOwnWords: a PE that looks at a word which its PE changes has all that the value tells, and asks that PE once for
// many changes.
func TestOwnWords(t *testing.T) {
	r := newRig(t, 2, nil)
	const changes = 2 * (keptUp + 1)
	for i := range uint64(changes) {
		a := racecheck.Access{Strand: racecheck.Strand{From: 0}, After: racecheck.After{Clock: clockOf(0, i+1)}}
		r.pes[0].Tell(r.pes[0].Near, 0, &racecheck.Record{Access: a, Off: r.word, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
		c, err := r.pes[1].Ask(context.Background(), 0, racecheck.Question{Word: r.word, Bytes: 8})
		if err != nil || !has(c, clockOf(0, i+1)) {
			t.Fatalf("change %d is not known (%v)", i, err)
		}
	}
	if n := r.pes[1].asks.last; n != 2 {
		t.Errorf("%d questions for %d changes, want 2", n, changes)
	}
}

// TestTornRow: a row that no writer has finished is waited for, and the death of its writer ends that.
func TestTornRow(t *testing.T) {
	r := newRig(t, 3, nil)
	for _, clock := range []*racecheck.Clock{clockOf(1, 3), clockOf(2, 7)} {
		r.pes[2].Tell(r.pes[2].Near, 0, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: 2}, After: racecheck.After{Clock: clock}}, Off: r.word, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
	}
	q := racecheck.Question{Word: r.word, Bytes: 8}
	row := r.pes[0].Own[r.pes[0].row(bucketOf(r.word), 2):]
	good := bytes.Clone(row[:rowBytes])
	r.plain.Lock()
	row[rowHead]++
	r.plain.Unlock()
	done := make(chan *racecheck.Clock)
	go func() {
		c, err := r.pes[1].Ask(context.Background(), 0, q)
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	r.plain.Lock()
	copy(row, good)
	r.plain.Unlock()
	if c := <-done; !has(c, clockOf(2, 7)) || !has(c, clockOf(1, 3)) {
		t.Error("the clock is not all that the PE has released")
	}
	r.plain.Lock()
	row[0]++ // another version, with a sum that is wrong
	r.plain.Unlock()
	go func() {
		c, _ := r.pes[1].Ask(context.Background(), 0, q)
		done <- c
	}()
	r.fail.Store(true)
	if c := <-done; c != nil || !r.pes[1].Lost() {
		t.Error("a torn row has a clock")
	}
}

// TestRowsAreBounded: of rows that were read so many are kept and no more, and one that is not kept is read again.
func TestRowsAreBounded(t *testing.T) {
	r := newRig(t, 3, nil)
	read := map[rowKey]readRow{}
	for to := range mostRows {
		read[rowKey{to: 3 + to, writer: 2}] = readRow{version: 1}
	}
	r.pes[1].rows.read, r.pes[1].rows.bytes = read, make([]byte, 3*rowBytes)
	for round := range uint64(2) {
		a := racecheck.Access{Strand: racecheck.Strand{From: 2}, After: racecheck.After{Clock: clockOf(2, 7+round)}}
		r.pes[2].Tell(r.pes[2].Near, 0, &racecheck.Record{Access: a, Off: r.word, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
		c, err := r.pes[1].Ask(context.Background(), 0, racecheck.Question{Word: r.word, Bytes: 8})
		if err != nil || !has(c, clockOf(2, 7+round)) {
			t.Errorf("round %d: the clock is not what the PE has released: %v", round, err)
		}
		if n := len(r.pes[1].rows.read); n == 0 || n > mostRows {
			t.Errorf("round %d: %d rows are kept, of at most %d", round, n, mostRows)
		}
	}
}

// TestCallOfAll: a release into a collective of all PEs is known at each of them, without a question.
func TestCallOfAll(t *testing.T) {
	for name, near := range map[string]bool{"near": true, "far": false} {
		t.Run(name, func(t *testing.T) {
			const npes = 4
			r := newRig(t, npes, func(c *Config) { c.IsNear = func(int) bool { return near } })
			call := racecheck.CallKey{Home: 0, Number: 5, Size: npes, Member: 2}
			r.pes[2].Tell(nil, 0, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: 2}, After: racecheck.After{Clock: clockOf(2, 9)}}, Release: racecheck.ReleaseCall, Call: call})
			r.stop(0)
			for pe := range npes {
				if pe == 0 {
					continue
				}
				c, err := r.pes[pe].Ask(context.Background(), 0, racecheck.Question{Call: &call})
				if err != nil || !same(c, clockOf(2, 9)) {
					t.Errorf("PE %d: %v, %v", pe, c, err)
				}
			}
			r.resume(0)
		})
	}
}

// TestForget: the rings of a channel that has ended are those of the next one.
func TestForget(t *testing.T) {
	r := newRig(t, 2, func(c *Config) { c.IsNear = func(int) bool { return false } })
	tr := shm.Open(r.seg)
	seen := map[int]bool{}
	for i := range 3 * Slots {
		ch := tr.Open()
		o, alone := r.pes[0].stream(ch, 1)
		if !alone {
			t.Fatalf("channel %d shares a ring", i)
		}
		seen[o.slot] = true
		r.pes[0].Tell(ch, 1, &racecheck.Record{Count: 1, Bytes: 8, Off: uint64(i)})
		r.pes[0].Flush(ch, 1)
		r.pes[0].Forget(ch)
	}
	r.pes[1].Drain()
	if got := r.books[1].from(0); len(got) != 3*Slots || len(seen) != Slots-1 {
		t.Errorf("%d records by %d rings", len(got), len(seen))
	}
}

// TestLayout: rings of a job are as large as there is room for, and a job that is too large is refused.
func TestLayout(t *testing.T) {
	for _, tt := range []struct {
		npes int
		most uint64
		ring uint64
	}{{2, 1 << 20, 64 << 10}, {64, 26 << 20, 64 << 10}, {64, 17 << 20, 32 << 10}, {64, 10 << 20, 4 << 10}, {64, 9 << 20, 4 << 10}} {
		l, err := LayoutFor(tt.npes, tt.most)
		if l.Ring != tt.ring || (err != nil) != (l.Bytes() > tt.most) {
			t.Errorf("%d PEs in %d bytes: %+v, %v", tt.npes, tt.most, l, err)
		}
	}
	least, most := Layout{1, minRing}.Bytes(), Layout{1, maxRing}.Bytes()
	if least != boot.RaceLeast || most != boot.RaceMost {
		t.Errorf("the rings of a PE take from %d to %d bytes, and boot reckons with %d to %d", least, most, boot.RaceLeast, boot.RaceMost)
	}
	if _, err := LayoutFor(1000, 1<<20); err == nil || !strings.Contains(err.Error(), "148480000 bytes of each PE's heap") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	l := Layout{3, minRing}
	used := make([]bool, l.Bytes())
	for pe := range 3 {
		for slot := range Slots {
			for _, area := range [][2]uint64{{l.control(pe, slot), controlBytes}, {l.ring(pe, slot), l.Ring}, {l.row(slot*buckets/Slots, pe), rowBytes}} {
				for i := range area[1] {
					if used[area[0]+i] {
						t.Fatalf("byte %d belongs to two", area[0]+i)
					}
					used[area[0]+i] = true
				}
			}
		}
	}
}

// TestTornRing: whatever another PE writes in place of a frame, the reader says so once, and goes on.
func TestTornRing(t *testing.T) {
	for name, spoil := range map[string]func(ring []byte, tail *atomic.Uint64){
		"bit":        func(ring []byte, _ *atomic.Uint64) { ring[frameHead+3] ^= 1 },
		"length":     func(ring []byte, _ *atomic.Uint64) { ring[0] = 0xff },
		"no length":  func(ring []byte, _ *atomic.Uint64) { ring[0], ring[1] = 0, 0 },
		"tail":       func(_ []byte, tail *atomic.Uint64) { tail.Add(minRing + 8) },
		"odd tail":   func(_ []byte, tail *atomic.Uint64) { tail.Add(3) },
		"tail back":  func(_ []byte, tail *atomic.Uint64) { tail.Add(^uint64(7)) },
		"tail ahead": func(_ []byte, tail *atomic.Uint64) { tail.Add(64) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2, nil)
			r.stop(0)
			r.pes[1].Tell(nil, 0, &racecheck.Record{Access: racecheck.Access{Strand: racecheck.Strand{From: 1}}, Count: 1, Bytes: 8, Release: racecheck.ReleaseWord})
			in := &r.pes[0].in[1*Slots+sharedSlot]
			spoil(in.ring, in.tail)
			r.resume(0)
			for range 3 {
				r.pes[0].Drain()
			}
			if len(r.said[0]) != 1 {
				t.Fatalf("%d lines", len(r.said[0]))
			}
			if line := <-r.said[0]; !strings.Contains(line, "the records of PE 1 cannot be read") {
				t.Error(line)
			}
		})
	}
}
