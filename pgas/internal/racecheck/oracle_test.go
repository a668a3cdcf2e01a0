package racecheck

// The detector beside an oracle: random programs of a few PEs, and the graph of all that happens before what, with
// every edge drawn and every pair of accesses compared. An operation is reported if and only if the oracle finds a race
// of it with something earlier.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// idle is a channel whose operations do nothing.
type idle struct{ transport.Channel }

func (idle) Put(int, uint64, []byte)                                                    {}
func (idle) PutSignal(int, uint64, []byte, uint64, transport.Op, uint64)                {}
func (idle) Get(context.Context, int, []byte, uint64) error                             { return nil }
func (idle) GetNB(int, []byte, uint64)                                                  {}
func (idle) AtomicNB(int, transport.Op, transport.Word, uint64, uint64, []byte)         {}
func (idle) Post(int, transport.Op, transport.Word, uint64)                             {}
func (idle) PutNotify(int, uint64, []byte, transport.Stamp) bool                        { return true }
func (idle) GetNotifyNB(int, []byte, uint64, transport.Stamp) bool                      { return true }
func (idle) PostNotify(int, transport.Op, transport.Word, uint64, transport.Stamp) bool { return true }
func (idle) GetNotify(context.Context, int, []byte, uint64, transport.Stamp) (bool, error) {
	return true, nil
}
func (idle) Atomic(context.Context, int, transport.Op, transport.Word, uint64, uint64) (uint64, error) {
	return 0, nil
}
func (idle) AtomicNotify(context.Context, int, transport.Op, transport.Word, uint64, uint64, transport.Stamp) (uint64, bool, error) {
	return 0, true, nil
}

// A moment is a node of the oracle's graph: an own step, or an operation under way.
type moment struct{ before map[*moment]bool } // every moment before it, itself included

func after(all ...*moment) *moment {
	m := &moment{before: map[*moment]bool{}}
	for _, p := range all {
		for q := range p.before {
			m.before[q] = true
		}
	}
	m.before[m] = true
	return m
}

// touched is an access as the oracle knows it.
type touched struct {
	at     *moment
	heap   int
	lo, hi uint64
	how    How
}

// issued is an operation of a context.
type issued struct {
	at       *moment
	fill     *moment // of a get, in its own PE; nil: there is none
	to       int
	lo, hi   uint64
	notified bool
	source   bool
	get      bool       // which no fence orders
	fetches  *[2]uint64 // the word that a quiet brings the value of
	fenced   bool
}

// oracle is a job.
type oracle struct {
	r       *rand.Rand
	pes     []*PE
	ctxs    [][]*Context
	chans   [][]transport.Channel
	zeros   [][]transport.ZeroCopyPutter
	heaps   [][]byte
	text    []string // what was done
	quiets  int      // one in so many quiets and meetings is left in; 0: all
	kinds   []int    // of operations that the program has, of those of random
	orders  []int    // the same of those of order
	reports int
	real    int // races that the oracle has found in the operation at hand

	now      []*moment // the last own step of each PE
	ops      map[*Context][]*issued
	accesses []touched
	words    map[[2]uint64][]*moment
	notes    map[[2]uint64][]note // by PE and source
	calls    uint64
	requests [3]*Request // the last one of each PE
	over     [3]*moment  // its completion
}

// heapBytes is the size of a heap of short programs.
const heapBytes = 64

func newOracle(seed uint64) *oracle { return newOracleOf(seed, heapBytes) }

func newOracleOf(seed, heapBytes uint64) *oracle {
	o := &oracle{
		r: rand.New(rand.NewPCG(seed, 7)), ops: map[*Context][]*issued{},
		words: map[[2]uint64][]*moment{}, notes: map[[2]uint64][]note{},
	}
	// Every other program has half of the kinds, so that those which it has meet more often.
	o.kinds, o.orders = o.some(21, seed%2), o.some(9, seed%2)
	var carrier InProcess
	for pe := range 3 {
		carrier = append(carrier, NewDetector(pe, 3, func(Report) { o.reports++ }, func(Unseen) {}))
		o.heaps = append(o.heaps, make([]byte, heapBytes))
		o.now = append(o.now, after())
	}
	for pe := range carrier {
		base := uintptr(unsafe.Pointer(&o.heaps[pe][0]))
		heap := func(addr uintptr) (uint64, bool) { return uint64(addr - base), uint64(addr-base) < heapBytes }
		p := NewPE(pe, 3, carrier, heap, func(Report) { o.reports++ }, func(Unseen) {})
		o.pes = append(o.pes, p)
		var cs []*Context
		var chans []transport.Channel
		var zeros []transport.ZeroCopyPutter
		for range 2 {
			c := p.NewContext()
			ch, z, _ := c.Over(idle{}, nil, nil)
			cs, chans, zeros = append(cs, c), append(chans, ch), append(zeros, z)
		}
		o.ctxs, o.chans, o.zeros = append(o.ctxs, cs), append(o.chans, chans), append(o.zeros, zeros)
	}
	return o
}

// some returns the numbers below n, or with odd about half of them.
func (o *oracle) some(n int, odd uint64) (list []int) {
	for len(list) < 2 {
		list = list[:0]
		for k := range n {
			if odd == 0 || o.r.IntN(2) == 0 {
				list = append(list, k)
			}
		}
	}
	return list
}

// step is an own step of a PE after what it has acquired.
func (o *oracle) step(pe int, all ...*moment) *moment {
	o.now[pe] = after(append(all, o.now[pe])...)
	return o.now[pe]
}

// touch is an access at a moment.
func (o *oracle) touch(at *moment, heap int, lo, hi uint64, how How) {
	for _, e := range o.accesses {
		conflict := (e.how.writes() || how.writes()) && !(e.how.atomic() && how.atomic())
		if conflict && e.heap == heap && e.lo < hi && lo < e.hi && !at.before[e.at] && !e.at.before[at] {
			o.real++
		}
	}
	o.accesses = append(o.accesses, touched{at, heap, lo, hi, how})
}

// onSame returns the operations of c to a PE on some bytes, and with fenced also all before a fence.
func (o *oracle) onSame(c *Context, to int, lo, hi uint64, fenced bool) (all []*moment) {
	for _, x := range o.ops[c] {
		if x.to == to && !x.source && (x.lo < hi && lo < x.hi || fenced && x.fenced) {
			all = append(all, x.at)
		}
	}
	return all
}

// issue is an operation of c, of PE pe.
func (o *oracle) issue(pe int, c *Context, to int, lo, hi uint64, kind issued, more ...*moment) *moment {
	all := append(o.onSame(c, to, lo, hi, !kind.get), o.step(pe))
	for _, x := range o.ops[c] {
		if kind.notified && x.notified && x.to == to {
			all = append(all, x.at)
		}
	}
	at := after(append(all, more...)...)
	kind.at, kind.to, kind.lo, kind.hi = at, to, lo, hi
	o.ops[c] = append(o.ops[c], &kind)
	return at
}

// complete is a quiet of those operations that which chooses.
func (o *oracle) complete(pe int, c *Context, which func(x *issued) bool) {
	var all []*moment
	for _, x := range o.ops[c] {
		if which(x) {
			all = append(all, x.at)
			if x.fill != nil {
				all = append(all, x.fill)
			}
			if x.fetches != nil {
				all = append(all, o.words[*x.fetches]...)
			}
		}
	}
	o.step(pe, all...)
	o.ops[c] = slices.DeleteFunc(o.ops[c], func(x *issued) bool {
		if which(x) {
			x.fetches = nil
		}
		return false
	})
}

// source is an operation that reads memory of its own PE.
func (o *oracle) source(pe int, c *Context, to int, lo, hi uint64) *moment {
	at := after(o.step(pe))
	o.ops[c] = append(o.ops[c], &issued{at: at, to: to, source: true})
	o.touch(at, pe, lo, hi, Read)
	return at
}

// TestOracle runs random programs.
func TestOracle(t *testing.T) {
	programs := uint64(80000)
	if testing.Short() {
		programs = 2000
	}
	races, silent := 0, 0
	for seed := range programs {
		o := newOracle(seed)
		for range 5 + o.r.IntN(25) {
			o.reports, o.real = 0, 0
			o.random()
			if (o.reports > 0) != (o.real > 0) {
				for _, line := range o.text {
					t.Log(line)
				}
				t.Fatalf("seed %d: the last operation races with %d others, and %d are reported", seed, o.real, o.reports)
			}
			if o.real > 0 {
				races++
			} else {
				silent++
			}
		}
	}
	if races < silent/20 || silent < races {
		t.Errorf("%d operations race, and %d do not: the programs find too little", races, silent)
	}
}

// TestOracleOfLongPrograms runs programs that have more under way than is remembered one by one: races may be missed
// then, but what is reported is one.
func TestOracleOfLongPrograms(t *testing.T) {
	programs := uint64(60)
	if testing.Short() {
		programs = 10
	}
	merged, races, found := 0, 0, 0
	for seed := range programs {
		o := newOracleOf(seed, 512)
		o.quiets = 40
		for range 400 {
			o.reports, o.real = 0, 0
			o.random()
			if o.real > 0 {
				races++
			}
			if o.reports > 0 {
				found++
			}
			if o.reports > 0 && o.real == 0 {
				for _, line := range o.text {
					t.Log(line)
				}
				t.Fatalf("seed %d: the last operation races with nothing, and %d races are reported", seed, o.reports)
			}
		}
		merged += o.merged()
	}
	t.Logf("%d of %d operations that race are reported", found, races)
	if merged == 0 || found < races/2 {
		t.Errorf("%d ranges are of several operations, and %d of %d operations that race are reported", merged, found, races)
	}
}

// merged returns how many ranges of the PEs' contexts are of several operations.
func (o *oracle) merged() (n int) {
	for _, cs := range o.ctxs {
		for _, c := range cs {
			for _, t := range c.to {
				for i := range t.underway {
					if t.underway[i].merged {
						n++
					}
				}
			}
		}
	}
	return n
}

// did notes what the program does, for a failure.
func (o *oracle) did(pe int, format string, args ...any) {
	o.text = append(o.text, fmt.Sprintf("PE %d: ", pe)+fmt.Sprintf(format, args...))
}

// random does a random operation.
func (o *oracle) random() {
	pe, to := o.r.IntN(3), o.r.IntN(3)
	if o.quiets > 0 && o.r.IntN(4) > 0 {
		pe, to = 0, 1 // most has one context under way
	}
	heapBytes := len(o.heaps[0])
	k := o.r.IntN(2) * o.r.IntN(2) // mostly the first context
	c, ch, z := o.ctxs[pe][k], o.chans[pe][k], o.zeros[pe][k]
	word := uint64(8 * o.r.IntN(3))
	lo := uint64(o.r.IntN(heapBytes - 8))
	n := uint64(1 + o.r.IntN(8))
	at := o.r.IntN(heapBytes - 8)
	mem := o.heaps[pe][at:][:n]
	if o.r.IntN(2) == 0 {
		mem = make([]byte, n)
	}
	own := func(m *moment, how How) {
		if &mem[0] == &o.heaps[pe][at] {
			o.touch(m, pe, uint64(at), uint64(at)+n, how)
		}
	}
	switch o.kinds[o.r.IntN(len(o.kinds))] {
	case 20:
		op := transport.Op(o.r.IntN(3))
		o.did(pe, "%s without waiting on %d of word %d of PE %d", op, k, word, to)
		m := o.issue(pe, c, to, word, word+8, issued{})
		how, releases := update(op)
		o.touch(m, to, word, word+8, how)
		w := [2]uint64{uint64(to), word}
		if releases != 0 {
			o.words[w] = append(o.words[w], m)
		}
		o.ops[c][len(o.ops[c])-1].fetches = &w
		ch.AtomicNB(to, op, transport.Word{Off: word, Bytes: 8}, 1, 0, make([]byte, 8))
	case 0, 1:
		o.did(pe, "put on %d to PE %d %d+%d from %d", k, to, lo, n, at)
		own(o.step(pe), Read)
		o.touch(o.issue(pe, c, to, lo, lo+n, issued{}), to, lo, lo+n, Write)
		ch.Put(to, lo, mem)
	case 2:
		o.did(pe, "put without waiting on %d to PE %d %d+%d from %d", k, to, lo, n, at)
		if &mem[0] == &o.heaps[pe][at] {
			o.source(pe, c, to, uint64(at), uint64(at)+n)
		}
		o.touch(o.issue(pe, c, to, lo, lo+n, issued{}), to, lo, lo+n, Write)
		z.PutZcopy(to, lo, mem)
	case 3, 4:
		o.did(pe, "get on %d from PE %d %d+%d to %d", k, to, lo, n, at)
		o.touch(o.step(pe, o.onSame(c, to, lo, lo+n, false)...), to, lo, lo+n, Read)
		own(o.step(pe), Write)
		ch.Get(context.Background(), to, mem, lo)
	case 5:
		o.did(pe, "get without waiting on %d from PE %d %d+%d to %d", k, to, lo, n, at)
		m := o.issue(pe, c, to, lo, lo+n, issued{get: true})
		o.touch(m, to, lo, lo+n, Read)
		fill := after(m)
		o.ops[c][len(o.ops[c])-1].fill = fill
		own(fill, Write)
		ch.GetNB(to, mem, lo)
	case 6, 7:
		o.did(pe, "update on %d of word %d of PE %d", k, word, to)
		m := o.issue(pe, c, to, word, word+8, issued{})
		o.touch(m, to, word, word+8, AtomicWrite)
		o.words[[2]uint64{uint64(to), word}] = append(o.words[[2]uint64{uint64(to), word}], m)
		ch.Post(to, transport.Add, transport.Word{Off: word, Bytes: 8}, 1)
	case 8:
		op := transport.Op(o.r.IntN(3))
		o.did(pe, "fetching %s on %d of word %d of PE %d", op, k, word, to)
		m := o.step(pe, o.onSame(c, to, word, word+8, true)...)
		how, releases := update(op)
		o.touch(m, to, word, word+8, how)
		w := [2]uint64{uint64(to), word}
		if releases != 0 {
			o.words[w] = append(o.words[w], m)
		}
		o.step(pe, o.words[w]...)
		ch.Atomic(context.Background(), to, op, transport.Word{Off: word, Bytes: 8}, 1, 0)
	case 9:
		o.did(pe, "put with signal on %d to PE %d %d+%d from %d, word %d", k, to, lo, n, at, word)
		own(o.step(pe), Read)
		m := o.issue(pe, c, to, lo, lo+n, issued{})
		o.touch(m, to, lo, lo+n, Write)
		s := o.issue(pe, c, to, word, word+8, issued{}, m)
		o.touch(s, to, word, word+8, AtomicWrite)
		o.words[[2]uint64{uint64(to), word}] = append(o.words[[2]uint64{uint64(to), word}], s)
		ch.PutSignal(to, lo, mem, word, transport.Set, 1)
	case 10, 11:
		o.did(pe, "wait for word %d", word)
		m := o.step(pe, o.words[[2]uint64{uint64(pe), word}]...)
		o.touch(m, pe, word, word+8, AtomicRead)
		o.pes[pe].Looked(context.Background(), word, 8)
	case 12:
		o.notified(pe, to)
	case 13, 14:
		o.take(pe)
	default:
		o.order(pe, to, k)
	}
}

// order does what orders and completes.
func (o *oracle) order(pe, to, k int) {
	c := o.ctxs[pe][k]
	kind := o.orders[o.r.IntN(len(o.orders))]
	if kind > 2 && o.quiets > 0 && o.r.IntN(o.quiets) > 0 {
		return
	}
	switch kind {
	case 0, 1:
		o.did(pe, "fence on %d", k)
		for _, x := range o.ops[c] {
			x.fenced = !x.get
		}
		c.Fence(-1)
	case 2:
		o.did(pe, "fence on %d of PE %d", k, to)
		for _, x := range o.ops[c] {
			x.fenced = x.fenced || x.to == to && !x.get
		}
		c.Fence(to)
	case 3, 4:
		o.did(pe, "quiet on %d", k)
		o.complete(pe, c, func(*issued) bool { return true })
		c.Quieted(context.Background(), -1, c.Issued())
	case 5:
		o.did(pe, "quiet on %d of PE %d", k, to)
		o.complete(pe, c, func(x *issued) bool { return x.to == to })
		c.Quieted(context.Background(), to, c.Issued())
	case 6:
		o.did(pe, "local quiet on %d", k)
		o.complete(pe, c, func(x *issued) bool { return x.source })
		c.QuietedLocal(c.Issued())
	case 7:
		o.meet()
	case 8:
		o.wait(pe)
	}
}

// note is a note that has not been taken.
type note struct {
	at  *moment
	key NoteKey
}

// notified is a notified put, or get without waiting, on the first context. Some notes have the same key.
func (o *oracle) notified(pe, to int) {
	lo, n := uint64(8*o.r.IntN(3)+30), uint64(4)
	to2 := [2]uint64{uint64(to), uint64(pe)}
	m := o.issue(pe, o.ctxs[pe][0], to, lo, lo+n, issued{notified: true})
	s := transport.StampOf(pe, uint32(o.r.IntN(2)))
	o.notes[to2] = append(o.notes[to2], note{m, NoteKey{s, n, lo}})
	if o.r.IntN(2) == 0 {
		o.did(pe, "notified put to PE %d %d+%d", to, lo, n)
		o.touch(m, to, lo, lo+n, Write)
		o.chans[pe][0].PutNotify(to, lo, make([]byte, n), s)
		return
	}
	o.did(pe, "notified get without waiting from PE %d %d+%d", to, lo, n)
	o.touch(m, to, lo, lo+n, Read)
	o.chans[pe][0].GetNotifyNB(to, make([]byte, n), lo, s)
}

// take takes a note: the first of those with its key.
func (o *oracle) take(pe int) {
	from := [2]uint64{uint64(pe), uint64(o.r.IntN(3))}
	all := o.notes[from]
	if len(all) == 0 {
		return
	}
	k := all[o.r.IntN(len(all))].key
	i := slices.IndexFunc(all, func(n note) bool { return n.key == k })
	o.step(pe, all[i].at)
	if o.r.IntN(2) == 0 {
		o.did(pe, "see the note %+v of PE %d", k, from[1])
		o.pes[pe].Probed(context.Background(), transport.Note{Stamp: k.Stamp, Bytes: k.Bytes, Off: k.Off})
		return
	}
	o.did(pe, "take the note %+v of PE %d", k, from[1])
	o.notes[from] = slices.Delete(slices.Clone(all), i, i+1)
	o.pes[pe].Got(context.Background(), transport.Note{Stamp: k.Stamp, Bytes: k.Bytes, Off: k.Off})
}

// meet is a collective of all PEs: a barrier, a broadcast, or a scan.
func (o *oracle) meet() {
	kind, root := o.r.IntN(3), o.r.IntN(3)
	o.did(0, "collective %d of all, root %d", kind, root)
	o.calls++
	var entered []*moment
	var requests [3]*Request
	var read [3]*moment
	for pe, p := range o.pes {
		if o.over[pe] == nil {
			o.over[pe] = after()
		}
		if o.r.IntN(3) == 0 {
			requests[pe], read[pe] = o.begin(pe)
			entered = append(entered, after(o.step(pe), o.over[pe]))
		} else {
			o.wait(pe)
			entered = append(entered, o.step(pe))
		}
		p.Enter(CallKey{Number: o.calls, Member: int32(pe), Size: 3}, requests[pe])
	}
	for pe, p := range o.pes {
		first, last := 0, 2
		switch {
		case kind == 1 && pe == root:
			first, last = 0, -1
		case kind == 1:
			first, last = root, root
		case kind == 2:
			last = pe
		}
		p.Leave(context.Background(), CallKey{Number: o.calls, Member: int32(pe), Size: 3}, first, last, requests[pe])
		left := slices.Clone(entered[first : last+1])
		if requests[pe] == nil {
			o.step(pe, left...)
			continue
		}
		o.over[pe] = after(append([]*moment{entered[pe], read[pe]}, left...)...)
		o.requests[pe] = requests[pe]
		lo, n := uint64(o.r.IntN(heapBytes-8)), uint64(1+o.r.IntN(8))
		o.did(pe, "without waiting, which writes %d+%d", lo, n)
		o.touch(o.over[pe], pe, lo, lo+n, Write)
		p.Touch(lo, n, n, 1, Write, requests[pe])
	}
}

// begin calls a collective that does not wait, which reads memory.
func (o *oracle) begin(pe int) (*Request, *moment) {
	r := o.pes[pe].Begin(0)
	r.Follow(o.requests[pe])
	lo, n := uint64(o.r.IntN(heapBytes-8)), uint64(1+o.r.IntN(8))
	o.did(pe, "without waiting, which reads %d+%d", lo, n)
	read := after(o.step(pe), o.over[pe])
	o.touch(read, pe, lo, lo+n, Read)
	o.pes[pe].Touch(lo, n, n, 1, Read, r)
	return r, read
}

// wait waits for the last collective of a PE that has not waited.
func (o *oracle) wait(pe int) {
	if o.over[pe] != nil {
		o.did(pe, "wait for its collectives")
		o.step(pe, o.over[pe])
		o.requests[pe].Over()
	}
}

// TestNotesWithOneKey: of two notes with the same key the first tells nothing of what the second comes after. If they
// may be out of order, either may be either: nothing is reported.
func TestNotesWithOneKey(t *testing.T) {
	for _, contexts := range []int{1, 2} {
		o := newOracle(0)
		s := transport.StampOf(0, 1)
		o.chans[0][0].PutNotify(1, 0, nil, s)
		o.chans[0][contexts-1].Put(1, 8, make([]byte, 8))
		o.ctxs[0][contexts-1].Fence(-1)
		o.chans[0][contexts-1].PutNotify(1, 0, nil, s)
		for taken, want := range []int{1 / contexts, 0} {
			o.reports = 0
			o.pes[1].Probed(t.Context(), transport.Note{Stamp: s})
			o.pes[1].Got(t.Context(), transport.Note{Stamp: s})
			if err := o.chans[1][0].Get(t.Context(), 1, make([]byte, 8), 8); err != nil || o.reports != want {
				t.Errorf("with %d contexts, after note %d: %d reports, want %d; %v", contexts, taken, o.reports, want, err)
			}
		}
	}
}

// beside is a channel and a carrier in the middle of whose calls another goroutine of the PE does something.
type beside struct {
	idle
	InProcess
	fetching, asking func()
}

func (b *beside) AtomicNB(int, transport.Op, transport.Word, uint64, uint64, []byte) { b.fetching() }

func (b *beside) Ask(ctx context.Context, pe int, q Question) (*Clock, error) {
	asking := b.asking
	b.asking = func() {}
	asking()
	return b.InProcess.Ask(ctx, pe, q)
}

// TestQuietBesideAnother: what a fetch without waiting brings orders the goroutine that quiets, whatever quiets of
// another goroutine come between the call and the fetch, or are under way.
func TestQuietBesideAnother(t *testing.T) {
	for _, kind := range []string{"before the fetch", "during the quiet"} {
		o := newOracle(0)
		b := &beside{InProcess: o.pes[0].carrier.(InProcess), asking: func() {}}
		o.pes[0].carrier = b
		c := o.pes[0].NewContext()
		ch, _, _ := c.Over(b, nil, nil)
		quiet := func() { c.Quieted(t.Context(), -1, c.Issued()) }
		written := func() { // by PE 1, and then the word is set
			o.chans[1][0].Put(2, 8, make([]byte, 8))
			o.ctxs[1][0].Fence(-1)
			o.chans[1][0].Post(2, transport.Set, transport.Word{Off: 0, Bytes: 8}, 1)
		}
		get := func() { ch.Get(t.Context(), 2, make([]byte, 8), 8) }
		if kind == "before the fetch" {
			b.fetching = func() { quiet(); written() }
		} else {
			b.fetching = written
			b.asking = func() { quiet(); get() }
		}
		o.reports = 0
		ch.AtomicNB(2, transport.Fetch, transport.Word{Off: 0, Bytes: 8}, 0, 0, make([]byte, 8))
		quiet()
		get()
		if o.reports != 0 {
			t.Errorf("a quiet of another goroutine %s: %d reports", kind, o.reports)
		}
	}
}

// TestRefusedNote: a notified access that was refused and is tried again is told once.
func TestRefusedNote(t *testing.T) {
	o := newOracle(0)
	ch, _, _ := o.ctxs[0][0].Over(&full{}, nil, nil)
	s := transport.StampOf(0, 1)
	for range 2 { // each of the two is refused once
		if ch.PutNotify(1, 0, make([]byte, 8), s) || !ch.PutNotify(1, 0, make([]byte, 8), s) {
			t.Fatal("the channel takes what it is to refuse")
		}
	}
	for taken := range 2 {
		o.pes[1].Got(t.Context(), transport.Note{Stamp: s, Bytes: 8})
		if n := len(o.detector(1).notes); n != 1-taken {
			t.Errorf("after note %d: %d keys have notes", taken, n)
		}
	}
}

// full refuses each note once.
type full struct {
	idle
	tries int
}

func (f *full) PutNotify(int, uint64, []byte, transport.Stamp) bool {
	f.tries++
	return f.tries%2 == 0
}

// detector returns the detector of a PE.
func (o *oracle) detector(pe int) *Detector { return o.pes[pe].carrier.(InProcess)[pe] }
