package racecheck

// What a PE knows of itself: how far it is, and what it has issued on its contexts.
//
// The goroutines of a PE count as one: what orders one of them orders all. So races between goroutines of one PE are
// Go's to find, and some races between PEs are missed where a PE has several goroutines.

import (
	"context"
	"slices"
	"sync"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Heap finds addresses of this process in the heap of its PE.
type Heap func(addr uintptr) (off uint64, ok bool)

// A PE issues accesses and tells the detectors of them.
type PE struct {
	me      int32
	npes    int
	carrier Carrier
	heap    Heap
	report  func(Report)
	lost    func(Unseen) // is called when something is not seen any more

	mu       sync.Mutex
	clock    *Clock // what comes before the PE's next step, but for its own steps
	own      uint64 // the epoch of its steps
	sites    sites
	records  sync.Pool // of *Record
	contexts [mostContexts]*Context
	buffers  buffers
	notes    map[noteTo]*noteState
	requests uint64 // collectives that do not wait
}

// noteTo is what the notes of a PE to one PE with the same key have in common.
type noteTo struct {
	to  int
	key NoteKey
}

// noteState is how far they are.
type noteState struct {
	context  *Context // the last context that has issued one
	underway int      // how many are being issued at this moment, by goroutines of the PE
	refused  int      // how many have been told and are still to be issued
	source   uint64   // the number of the source of the last one that is read later than at the call
	mixed    bool     // they may arrive in another order than that of their records
}

// NewPE returns the PE of that number, in a job of npes. heap finds addresses in its symmetric memory; report is told
// of races on other memory of the process, and lost of what is not seen from then on.
func NewPE(me, npes int, carrier Carrier, heap Heap, report func(Report), lost func(Unseen)) *PE {
	return &PE{
		me: int32(me), npes: npes, carrier: carrier, heap: heap, report: report, lost: lost, own: 1,
		notes: map[noteTo]*noteState{},
	}
}

// Here returns the Site of the program's call.
func (p *PE) Here() Site { return p.sites.here(callsite.Path()) }

// tell takes r to the detector of a PE.
func (p *PE) tell(via transport.Channel, to int, r Record) {
	x, ok := p.records.Get().(*Record)
	if !ok {
		x = new(Record)
	}
	*x = r
	p.carrier.Tell(via, to, x)
	p.records.Put(x)
}

// step returns an access by the PE itself. The caller holds p.mu.
func (p *PE) step(how How, site Site) Access {
	return Access{Strand: Strand{From: p.me, To: -1, Own: p.own}, After: After{Clock: p.clock}, How: how, Site: site}
}

// acquire asks a PE's detector for a clock. What the PE does from then on comes after it.
func (p *PE) acquire(ctx context.Context, from int, q Question) {
	p.mu.Lock()
	q.Known = p.clock
	p.mu.Unlock()
	c := p.ask(ctx, from, q)
	p.mu.Lock()
	p.clock = p.clock.Join(c)
	p.mu.Unlock()
}

// ask returns a clock of a PE's detector.
func (p *PE) ask(ctx context.Context, from int, q Question) *Clock {
	c, err := p.carrier.Ask(ctx, from, q)
	if err != nil {
		p.lost(UnseenAnswer)
	}
	return c
}

// Looked notes that the PE has looked at words of its own memory, atomically, and may have learned from their values.
func (p *PE) Looked(ctx context.Context, off, bytes uint64) {
	if p == nil {
		return
	}
	p.acquire(ctx, int(p.me), Question{Word: off, Bytes: bytes})
	site := p.Here()
	p.mu.Lock()
	r := Record{Access: p.step(AtomicRead, site), Off: off, Bytes: bytes, Stride: bytes, Count: 1}
	p.mu.Unlock()
	p.tell(nil, int(p.me), r)
}

// Freed notes that the bytes from lo to hi of the PE's heap are freed.
func (p *PE) Freed(lo, hi uint64) {
	if p != nil {
		p.tell(nil, int(p.me), Record{Release: Freed, Off: lo, Stride: hi})
	}
}

// Exempt notes that accesses to the bytes from lo to hi of the PE's heap are not judged until the bytes are freed. They
// are those of a protocol, which orders what the program reads.
func (p *PE) Exempt(lo, hi uint64) {
	if p != nil {
		p.tell(nil, int(p.me), Record{Release: Exempted, Off: lo, Stride: hi})
	}
}

// touch notes that the PE itself reads or writes blocks of its own memory.
func (p *PE) touch(mem []byte, how How, b blocks, site Site) {
	if len(mem) == 0 || b.count == 0 {
		return
	}
	p.mu.Lock()
	a := p.step(how, site)
	p.mu.Unlock()
	p.use(mem, a, b)
}

// use notes an access to blocks of this process's memory: to symmetric memory, or to memory that an operation under way
// may use.
func (p *PE) use(mem []byte, a Access, b blocks) {
	if off, ok := p.heap(address(mem)); ok {
		p.tell(nil, int(p.me), Record{Access: a, Off: off, Bytes: b.bytes, Stride: b.stride, Count: b.count})
		return
	}
	p.mu.Lock()
	races := p.buffers.use(mem, b, &a, int(p.me), p.clock, p.lost)
	p.mu.Unlock()
	for _, r := range races {
		p.report(r)
	}
}

// A Context is a context of the PE: its operations under way, and in which order they are.
type Context struct {
	pe      *PE
	slot    int
	users   int             // how many contexts of the program share it
	crowded bool            // several have: their notes may arrive in any order
	sources int             // how many buffers are sources of operations since the last quiet, also a local one
	issued  [streams]uint64 // the last operation of each stream
	fenced  UpTo            // the last ones before a fence
	to      map[int]*target
	lastTo  int
	last    *target // that of lastTo; nil: none yet

	channels []transport.Channel // what its operations go out on
}

// NewContext returns what p knows of a new context of the program.
func (p *PE) NewContext() *Context {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for slot := range p.contexts {
		c := p.contexts[slot]
		if c == nil {
			c = &Context{pe: p, slot: slot, to: map[int]*target{}}
			p.contexts[slot] = c
		}
		if c.users == 0 {
			c.users = 1
			return c
		}
	}
	c := p.contexts[mostContexts-1]
	c.users++
	c.crowded = true
	p.lost(UnseenContexts)
	return c
}

// Close notes that one of the program's contexts ends, which is quiet.
func (c *Context) Close() {
	if c == nil {
		return
	}
	c.pe.mu.Lock()
	if c.users--; c.users == 0 {
		c.channels = nil
	}
	c.pe.mu.Unlock()
}

// fence puts the operations to a PE before a fence into what a comes after. The caller holds pe.mu.
func (c *Context) fence(a *Access, t *target) {
	a.Fenced.join(&c.fenced)
	a.Fenced.join(&t.fenced)
	a.Clock = a.Clock.Join(t.behind)
}

// target returns what c knows of its operations to a PE. The caller holds pe.mu.
func (c *Context) target(to int) *target {
	if to == c.lastTo && c.last != nil {
		return c.last
	}
	t := c.to[to]
	if t == nil {
		t = new(target)
		c.to[to] = t
	}
	c.last, c.lastTo = t, to
	return t
}

// issue returns the access of a new operation to blocks of a PE, which comes after those of behind too. The caller
// holds pe.mu.
func (c *Context) issue(stream, to int, how How, off uint64, b blocks, behind *Clock, site Site) Access {
	a := c.pe.step(how, site)
	c.issued[stream]++
	a.To, a.Stream, a.Number = int32(to), c.stream(stream), c.issued[stream]
	c.pe.own++
	t := c.target(to)
	if stream > getStream {
		t.buffers++
		if stream == sourceStream {
			c.sources++
		}
		return a
	}
	if stream != getStream { // a fence orders no gets
		c.fence(&a, t)
	}
	if stream == notifiedStream {
		a.Fenced[notifiedStream] = a.Number - 1
		a.Fenced.join(&t.notedTo)
		behind = behind.Join(t.noted)
	}
	lo, hi := off, b.end(off)
	behind = behind.Join(c.onSame(t, &a, lo, hi, b.whole()))
	a.Clock = a.Clock.Join(behind)
	if stream == notifiedStream {
		t.notedTo = a.Fenced
		if behind != nil {
			t.noted = a.Clock
		}
	}
	if stream != getStream {
		t.gets = max(t.gets, a.Fenced[getStream])
	}
	if lo < hi {
		t.remember(&a, lo, hi, a.Clock != c.pe.clock)
	}
	return a
}

// step returns an access of the PE itself to blocks of a PE by a call on c. The caller holds pe.mu.
func (c *Context) step(to int, how How, off uint64, b blocks, site Site) Access {
	a := c.pe.step(how, site)
	a.To, a.Stream = int32(to), c.stream(plainStream)
	t := c.target(to)
	if how.atomic() {
		c.fence(&a, t)
	}
	if len(t.spans) > 0 {
		a.Clock = a.Clock.Join(c.onSame(t, &a, off, b.end(off), b.whole()))
	}
	a.more = a.Clock != c.pe.clock
	return a
}

// onSame is target.onSame. It tells of a bound that this access is the first to come to. The caller holds pe.mu.
func (c *Context) onSame(t *target, a *Access, lo, hi uint64, whole bool) *Clock {
	chain, several := t.onSame(a, lo, hi, whole)
	if several {
		c.pe.lost(UnseenRanges)
	}
	return chain
}

func (c *Context) stream(s int) uint16 { return uint16(streams*c.slot + s) }

// learn notes that the PE knows what an access of its own comes after: the operations on the same bytes, and those
// before a fence if it is atomic, are complete. The caller holds pe.mu.
func (p *PE) learn(a *Access) { p.clock = p.clock.Join(a.withFenced(a.Clock)) }

// Fence notes a fence for a PE, or for all if pe < 0.
func (c *Context) Fence(pe int) {
	if c == nil {
		return
	}
	c.pe.mu.Lock()
	defer c.pe.mu.Unlock()
	if pe < 0 {
		c.fenced = UpTo{c.issued[0], c.issued[1]}
	}
	for to, t := range c.to {
		if pe >= 0 && to != pe {
			continue
		}
		t.fenced = UpTo{c.issued[0], c.issued[1], t.gets}
		for i := range t.underway {
			if x := &t.underway[i]; x.chained && x.by.Stream%streams != getStream {
				t.behind = t.behind.Join(x.by.Clock).Join(x.clock)
				if x.merged {
					c.pe.lost(UnseenRanges)
				}
			}
		}
	}
}

// Issued returns how far c is, for Quieted, before a quiet.
func (c *Context) Issued() (m Mark) {
	if c == nil {
		return m
	}
	for _, ch := range c.channels {
		c.pe.carrier.Flush(ch, -1)
	}
	c.pe.mu.Lock()
	defer c.pe.mu.Unlock()
	return c.issued
}

// Quieted notes that all operations up to a mark to a PE, or to all if pe < 0, are complete. What they have brought the
// PE has learned.
func (c *Context) Quieted(ctx context.Context, pe int, m Mark) {
	if c == nil {
		return
	}
	for to, l := range c.quieted(pe, m) {
		for _, w := range l.words {
			c.pe.acquire(ctx, to, Question{Word: w.lo, Bytes: w.hi - w.lo})
		}
		// Not before: a quiet of another goroutine learns the same.
		c.pe.mu.Lock()
		c.to[to].learned(m[plainStream], l.fetches)
		c.pe.mu.Unlock()
	}
}

// toLearn is what a quiet learns from a PE.
type toLearn struct {
	words   []words
	fetches uint64 // how many words the context had remembered
}

// quieted is Quieted without what is learned, which it returns by PE.
func (c *Context) quieted(pe int, m Mark) (learned map[int]toLearn) {
	p := c.pe
	p.mu.Lock()
	defer p.mu.Unlock()
	c.complete(pe, &m)
	if pe < 0 {
		c.sources = 0
	}
	buffers := 0
	for to, t := range c.to {
		if pe < 0 || to == pe {
			t.behind = nil
			buffers += t.buffers
			t.buffers = 0
			t.forget(func(i int, _ span) bool { return t.underway[i].complete(&m) })
			if len(t.fetched) > 0 {
				if learned == nil {
					learned = map[int]toLearn{}
				}
				learned[to] = toLearn{slices.Clone(t.fetched), t.fetches}
			}
		}
	}
	p.buffers.completed(p.clock, buffers)
	return learned
}

// QuietedLocal notes that all sources up to a mark have been read.
func (c *Context) QuietedLocal(m Mark) {
	if c == nil {
		return
	}
	c.pe.mu.Lock()
	defer c.pe.mu.Unlock()
	c.complete(-1, &Mark{sourceStream: m[sourceStream]})
	c.pe.buffers.completed(c.pe.clock, c.sources)
	c.sources = 0
}

// complete notes that the operations to a PE, or to all if pe < 0, are complete up to a mark.
func (c *Context) complete(pe int, m *Mark) {
	p := c.pe
	if pe < 0 {
		p.clock = p.clock.withMark(p.me, c.stream(0), m)
		return
	}
	for s, upTo := range m {
		if upTo != 0 {
			p.clock = p.clock.withTo(p.me, c.stream(s), int32(pe), upTo, 0)
		}
	}
}

// released notes that the source of a put to a PE has been read.
func (c *Context) released(pe int, source uint64) {
	p := c.pe
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock = p.clock.withTo(p.me, c.stream(sourceStream), int32(pe), 0, source)
	p.buffers.completed(p.clock, 1)
}
