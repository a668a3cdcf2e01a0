//go:build race && (amd64 || arm64)

package strands

import (
	"context"
	"runtime"
	"sync"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Detected reports whether the program is built with the race detector.
const Detected = true

// maxTargets is how many targets a channel tells apart in a job of so many PEs.
func maxTargets(npes int) int { return min(npes, max(1, 64/npes)) }

// Channel is a transport.Channel to the PEs of one segment, whose operations are on strands.
//
// Its functions have the directive norace: its fields are guarded by a lock that the detector does not see.
type Channel struct {
	mem     *shm.Channel
	shm     *shm.Transport
	mu      sync.Mutex
	targets []target
	sources [nsources]*strand // read the sources of puts that do not wait, in turns
	handles handles
	quieted clock  // operations before the last quiet
	quiets  uint64 // how many quiets there were
	closed  bool   // the strands have ended
	touched byte   // what touch has read
	begun   *begun
}

// Over returns a channel over c, which is one of t, in a job of npes PEs. It returns c if this version of Go lets no
// goroutine be a strand.
//
//go:norace
func Over(c *shm.Channel, t *shm.Transport, npes int) transport.Channel {
	if threadAt == 0 {
		hide()
		tellUnknown()
		show()
		return c
	}
	s := &Channel{mem: c, shm: t, targets: make([]target, maxTargets(npes)), begun: new(begun)}
	runtime.AddCleanup(s, (*begun).end, s.begun) // a PE that panics closes nothing
	return s
}

//go:norace
func (c *Channel) lock() {
	hide()
	c.mu.Lock()
	show()
}

//go:norace
func (c *Channel) unlock() {
	hide()
	c.mu.Unlock()
	show()
}

// target returns the strands for a PE.
//
//go:norace
func (c *Channel) target(pe int) *target { return &c.targets[pe%len(c.targets)] }

// heap returns n bytes at offset off of the heap of pe.
//
//go:norace
func (c *Channel) heap(pe int, off uint64, n int) []byte { return c.shm.Heap(pe)[off : off+uint64(n)] }

// run has *at, a strand of the target of t, carry out t, which is on the bytes on and also. The caller has locked c.
//
//go:norace
func (c *Channel) run(at **strand, t *task, on, also span) {
	c.touched = touch(t.local) ^ touch(t.remote) ^ touch(t.at)
	if c.closed {
		(&strand{mem: c.mem}).run(t)
		return
	}
	if *at == nil {
		*at = c.begun.begin(c.mem)
	}
	s, to := *at, c.target(t.pe)
	if s.quiets != c.quiets {
		s.quiets = c.quiets
		s.follow(&c.quieted)
	}
	if s.fences != to.fences {
		s.fences = to.fences
		s.follow(&to.fenced)
	}
	c.followSameBytes(s, t, on, also)
	s.remote.add(on)
	s.remote.add(also)
	s.wanted.set()
	s.run(t)
	to.unfenced = to.unfenced || !to.isGet(s)
}

// runSource has a strand of sources carry out t.
//
//go:norace
func (c *Channel) runSource(t *task) {
	c.touched = touch(t.local)
	if c.closed {
		(&strand{mem: c.mem}).run(t)
		return
	}
	at := &c.sources[c.handles.last%nsources]
	if *at == nil {
		*at = c.begun.begin(c.mem)
	}
	s := *at
	if s.quiets != c.quiets {
		s.quiets = c.quiets
		s.follow(&c.quieted)
	}
	s.wanted.set()
	s.run(t)
}

// followSameBytes makes s follow the operations of other strands on the bytes of t.
//
//go:norace
func (c *Channel) followSameBytes(s *strand, t *task, on, also span) {
	to := c.target(t.pe)
	for _, other := range to.strands() {
		if other == nil || other == s || to.isGet(s) && to.isGet(other) {
			continue
		}
		if other.remote.overlap(on) || other.remote.overlap(also) {
			s.follow(&other.ended)
		}
	}
}

// await orders the calling goroutine after the operations on these bytes of pe, and with fenced after those before the
// last fence too. Of gets it need not wait for any.
//
//go:norace
func (c *Channel) await(pe int, on span, fenced, writes bool) {
	c.lock()
	defer c.unlock()
	to := c.target(pe)
	for _, s := range to.strands() {
		if s == nil || !writes && to.isGet(s) {
			continue
		}
		if s.remote.overlap(on) {
			s.ended.follow()
		}
		if s.past.overlap(on) {
			c.quieted.follow() // another goroutine may have called Quiet
		}
	}
	if fenced && to.fences > 0 {
		to.fenced.follow()
	}
}

//go:norace
func (c *Channel) Put(pe int, dst uint64, src []byte) {
	reads(src)
	t := &task{kind: put, pe: pe, remote: c.heap(pe, dst, len(src)), local: src}
	c.lock()
	defer c.unlock()
	c.run(&c.target(pe).puts, t, heapSpan(pe, dst, len(src)), span{})
}

//go:norace
func (c *Channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	t := c.signalTask(pe, dst, len(src), sig, op, value)
	reads(src)
	t.local = src
	c.lock()
	defer c.unlock()
	c.runSignal(&t)
}

// signalTask returns the task of a put of n bytes with a signal. The source is missing.
//
//go:norace
func (c *Channel) signalTask(pe int, dst uint64, n int, sig uint64, op transport.Op, value uint64) task {
	return task{kind: signal, pe: pe, off: dst, remote: c.heap(pe, dst, n), op: op, operand: value,
		word: transport.Word{Off: sig, Bytes: 8}, at: c.heap(pe, sig, 8)}
}

// runSignal has a strand carry out t, a put with a signal.
//
//go:norace
func (c *Channel) runSignal(t *task) {
	to, sig, on := c.target(t.pe), heapSpan(t.pe, t.word.Off, 8), heapSpan(t.pe, t.off, len(t.remote))
	c.run(&to.signals[to.forSignal(sig, on)], t, sig, on)
}

//go:norace
func (c *Channel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	c.await(pe, heapSpan(pe, src, len(dst)), false, false)
	return c.mem.Get(ctx, pe, dst, src)
}

//go:norace
func (c *Channel) GetNB(pe int, dst []byte, src uint64) {
	c.lock()
	defer c.unlock()
	c.runGet(&task{kind: get, pe: pe, off: src, remote: c.heap(pe, src, len(dst)), local: dst})
}

// runGet has a strand carry out t, a get.
//
//go:norace
func (c *Channel) runGet(t *task) {
	to, into := c.target(t.pe), addressOf(t.local)
	at := &to.gets[to.forGet(into)]
	c.run(at, t, heapSpan(t.pe, t.off, len(t.remote)), span{})
	if *at != nil {
		(*at).local.add(into)
	}
}

//go:norace
func (c *Channel) Atomic(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64) (uint64, error) {
	c.await(pe, heapSpan(pe, word.Off, word.Bytes), true, true)
	return c.mem.Atomic(ctx, pe, op, word, operand, cond)
}

// updateTask returns the task of an atomic.
//
//go:norace
func (c *Channel) updateTask(pe int, op transport.Op, word transport.Word, operand, cond uint64) task {
	return task{kind: update, pe: pe, op: op, word: word, at: c.heap(pe, word.Off, word.Bytes), operand: operand, cond: cond}
}

// runUpdate has a strand carry out t, an atomic: that of atomics, unless t is in order with puts.
//
//go:norace
func (c *Channel) runUpdate(t *task) {
	to, on := c.target(t.pe), heapSpan(t.pe, t.word.Off, t.word.Bytes)
	at := &to.atomics[t.word.Off/8%natomics]
	if to.signalOn(on) >= 0 || to.puts != nil && to.puts.remote.overlap(on) {
		at = &to.signals[to.forSignal(on, span{})]
	}
	c.run(at, t, on, span{})
}

//go:norace
func (c *Channel) Post(pe int, op transport.Op, word transport.Word, operand uint64) {
	c.lock()
	defer c.unlock()
	t := c.updateTask(pe, op, word, operand, 0)
	c.runUpdate(&t)
}

// AtomicNB applies the atomic as Post does. Another strand stores the value, which a fence does not order.
//
//go:norace
func (c *Channel) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	c.lock()
	defer c.unlock()
	t := c.updateTask(pe, op, word, operand, cond)
	c.runUpdate(&t)
	c.runGet(&task{kind: store, pe: pe, old: t.old, at: t.at, local: dst})
}

//go:norace
func (c *Channel) Fence(pe int) {
	c.lock()
	defer c.unlock()
	for i := range c.targets {
		if to := &c.targets[i]; to.unfenced && (pe < 0 || to == c.target(pe)) {
			c.fence(to)
		}
	}
}

// fence makes later operations on to follow the earlier ones. The initiator does not follow them.
//
//go:norace
func (c *Channel) fence(to *target) {
	if to.order == nil {
		to.order = c.begun.begin(c.mem)
	}
	for _, s := range to.strands() {
		if s != nil {
			to.order.follow(&s.ended)
		}
	}
	to.order.run(&task{kind: fence, fenced: &to.fenced})
	to.fences++
	to.unfenced = false
}

//go:norace
func (c *Channel) Quiet(ctx context.Context, pe int) error {
	c.lock()
	defer c.unlock()
	for i := range c.targets {
		if to := &c.targets[i]; pe < 0 || to == c.target(pe) {
			to.complete()
		}
	}
	c.followSources()
	c.quieted.add()
	c.quiets++
	return context.Cause(ctx)
}

// complete orders the calling goroutine after all operations on to.
//
//go:norace
func (to *target) complete() {
	for _, s := range to.strands() {
		if s != nil {
			s.ended.follow()
			s.past.addAll(&s.remote)
			s.remote.clear()
			s.local.clear()
		}
	}
}

// Close ends the strands. What a goroutine still does then is done without them.
//
//go:norace
func (c *Channel) Close() error {
	c.lock()
	defer c.unlock()
	c.begun.end()
	clear(c.targets)
	c.sources, c.closed = [nsources]*strand{}, true
	return c.mem.Close()
}

var _ transport.Channel = (*Channel)(nil)
