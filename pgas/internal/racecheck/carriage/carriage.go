package carriage

// The streams of a PE. A Carriage is a racecheck.Carrier.

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/transport"
)

// A Detector knows the memory of its PE. Its methods may be called by any goroutine.
type Detector interface {
	// Apply takes a record of another PE, or of this one, which is used until it returns.
	Apply(r *racecheck.Record)
	// Answer answers a question, with nil if there is no such clock.
	Answer(q racecheck.Question) *racecheck.Clock
	// Stop makes the detector report nothing from now on.
	Stop()
}

// Config is what a Carriage is made of.
type Config struct {
	Layout
	Ctx      context.Context // nothing waits beyond its end
	PE       int
	Base     uint64                          // offset of the memory for rings in every heap
	Own      []byte                          // that memory of this PE
	Word     func(off uint64) *atomic.Uint64 // the word of Own at an offset of the heap
	Heap     uint64                          // bytes of a heap
	Start    uint64                          // the position that rings start at
	Near     transport.Channel               // to PEs of this host
	IsNear   func(pe int) bool
	Far      transport.Channel // to PEs of other hosts, for this Carriage alone; nil if there are none
	Detector Detector
	// Failure returns an error if a PE of the job is lost.
	Failure func() error
	// Progress waits for something from other hosts, for about d at most. It reports false if it does not.
	Progress func(d time.Duration) bool
	// Patience is how long a PE that does not read its rings is waited for.
	Patience time.Duration
	// Say prints a line.
	Say func(line string)
}

// Carriage takes records to other PEs.
type Carriage struct {
	Config
	in   []inbox  // by sender and slot
	out  []outbox // by target and slot
	lost atomic.Bool
	end  context.CancelFunc
	done chan struct{}
	ctx  context.Context

	reading sync.Mutex // held by the goroutine that reads rings

	slotMu sync.RWMutex
	slots  map[transport.Channel]int // of the channels that have rings of their own
	free   []int

	asks asks
	rows rows
}

// Open returns a Carriage, and starts its goroutine. The memory has only what other PEs have sent since the job began.
func Open(cfg Config) *Carriage {
	c := &Carriage{Config: cfg, slots: map[transport.Channel]int{}, done: make(chan struct{})}
	c.in, c.out = make([]inbox, cfg.NPEs*Slots), make([]outbox, cfg.NPEs*Slots)
	c.rows.written = make([]*racecheck.Released, cfg.NPEs*buckets)
	for pe := range cfg.NPEs {
		for slot := range Slots {
			c.openInbox(pe, slot)
			o := &c.out[pe*Slots+slot]
			o.c, o.to, o.slot, o.at, o.head = c, pe, slot, cfg.Start, cfg.Start
			o.via = cfg.Far
			if cfg.IsNear(pe) {
				o.via = cfg.Near
			}
		}
	}
	for slot := range Slots {
		if slot != sharedSlot {
			c.free = append(c.free, slot)
		}
	}
	c.ctx, c.end = context.WithCancel(cfg.Ctx)
	go c.serve()
	return c
}

func (c *Carriage) openInbox(pe, slot int) {
	in := &c.in[pe*Slots+slot]
	control := c.Base + c.control(pe, slot)
	in.decoder = decoder{from: pe, npes: c.NPEs, heap: c.Heap}
	in.ring = c.Own[c.ring(pe, slot):][:c.Ring:c.Ring]
	in.tail, in.head, in.at, in.max = c.Word(control+tailWord), c.Word(control+headWord), c.Start, c.frame()
	if c.Start != 0 { // otherwise memory is what it should be, and the sender may be there already
		in.head.Store(c.Start)
		in.tail.Store(c.Start)
	}
}

// Close ends the goroutine, after the records that have arrived were read. All PEs have sent theirs.
func (c *Carriage) Close() {
	c.Drain()
	c.end()
	<-c.done
}

// stream returns the stream to a PE for an operation on via. alone says that it belongs to the operation's channel, or
// needs none.
func (c *Carriage) stream(via transport.Channel, to int) (o *outbox, alone bool) {
	if c.IsNear(to) {
		return &c.out[to*Slots+sharedSlot], true
	}
	slot := c.slotOf(via)
	return &c.out[to*Slots+slot], slot != sharedSlot
}

// slotOf returns the slot of the rings of via.
func (c *Carriage) slotOf(via transport.Channel) int {
	if via == nil {
		return sharedSlot
	}
	c.slotMu.RLock()
	slot, ok := c.slots[via]
	c.slotMu.RUnlock()
	if ok {
		return slot
	}
	c.slotMu.Lock()
	defer c.slotMu.Unlock()
	if slot, ok := c.slots[via]; ok || len(c.free) == 0 {
		return slot
	}
	slot = c.free[0]
	c.free = c.free[1:]
	c.slots[via] = slot
	for pe := range c.NPEs {
		if o := &c.out[pe*Slots+slot]; !c.IsNear(pe) {
			o.mu.Lock()
			o.via = via
			o.mu.Unlock()
		}
	}
	return slot
}

// Tell takes r to the detector of a PE: before an operation on via that releases it, and otherwise at the latest when
// that PE, a quiet or another record wants it. A release into a collective of all PEs goes to the detectors of all of
// them, so that none has to ask.
func (c *Carriage) Tell(via transport.Channel, to int, r *racecheck.Record) {
	if !ofAll(c.NPEs, &r.Call, r.Release) {
		if !c.tell(via, to, r) {
			c.quiet(to)
		}
		return
	}
	arrives := true
	for pe := range c.NPEs {
		arrives = c.tell(via, pe, r) && arrives
	}
	if !arrives {
		c.quiet(-1)
	}
}

// ofAll reports whether a release is into a collective of all PEs of a job.
func ofAll(npes int, k *racecheck.CallKey, r racecheck.Release) bool {
	return r&racecheck.ReleaseCall != 0 && int(k.Size) == npes
}

// tell is Tell to one PE. It reports false if the record arrives after what follows it unless Far is quieted.
func (c *Carriage) tell(via transport.Channel, to int, r *racecheck.Record) (arrives bool) {
	if to == c.PE {
		if !c.lost.Load() {
			c.Detector.Apply(r)
		}
		if r.Release&racecheck.ReleaseWord != 0 {
			c.writeRow(c.Near, to, r)
		}
		return true
	}
	o, alone := c.stream(via, to)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !c.lost.Load():
		o.add(o.enc.record(o.scratch[:0], r))
		if r.Release != 0 || uint64(len(o.messages)) >= c.frame()-frameHead {
			o.send(c.ctx, true)
		}
	case r.Release == 0:
		return true
	}
	if c.lost.Load() { // perhaps now
		o.tellLost()
	}
	if r.Release&racecheck.ReleaseWord != 0 {
		c.writeRow(o.via, to, r)
	}
	if r.Release != 0 && alone {
		o.via.Fence(o.to)
	}
	return r.Release == 0 || alone
}

// quiet makes what was sent on Far to a PE, or to all if pe < 0, arrive.
func (c *Carriage) quiet(pe int) {
	if err := c.Far.Quiet(c.ctx, pe); err != nil && c.ctx.Err() == nil {
		c.giveUp()
	}
}

// Flush sends what was gathered for a PE, or for all if to < 0, before a quiet of via.
func (c *Carriage) Flush(via transport.Channel, to int) {
	slot := c.slotOf(via)
	for pe := range c.NPEs {
		if to < 0 || pe == to {
			c.flush(&c.out[pe*Slots+slot])
			c.flush(&c.out[pe*Slots+sharedSlot])
		}
	}
}

func (c *Carriage) flush(o *outbox) {
	if o.waiting.Load() {
		o.mu.Lock()
		o.send(c.ctx, true)
		o.mu.Unlock()
	}
}

// Lose says that this PE has lost records: what is not seen from now on. Nothing is reported from then on, since an
// order may be missing.
func (c *Carriage) Lose(what string) {
	if !c.lost.Swap(true) {
		c.Detector.Stop()
		c.Say(fmt.Sprintf("PGAS_CHECK=race: %s: races of this job are not seen from now on", what))
	}
}

// giveUp is Lose after the loss of a PE, of which the program learns otherwise, or when another PE has said it.
func (c *Carriage) giveUp() {
	if !c.lost.Swap(true) {
		c.Detector.Stop()
	}
}

// Lost reports whether this PE has lost records, or knows of another that has.
func (c *Carriage) Lost() bool { return c.lost.Load() }

// wait is a wait for another PE.
type wait struct {
	began time.Time
	looks int
}

func (c *Carriage) begin() wait { return wait{began: time.Now()} }

// pause empties the rings of this PE, between two looks of a wait for a PE, and rests. It reports false if the wait is
// in vain.
func (c *Carriage) pause(ctx context.Context, w *wait, pe int) bool {
	const brief, nap = 30, 20 * time.Microsecond
	c.Drain()
	switch {
	case c.lost.Load() || ctx.Err() != nil || c.ctx.Err() != nil:
		return false
	case c.Failure() != nil:
		c.giveUp()
		return false
	case time.Since(w.began) > c.Patience:
		c.Lose(fmt.Sprintf("PE %d has read no records for %v, it is stopped or very slow", pe, c.Patience))
		return false
	}
	if w.looks++; w.looks < brief {
		runtime.Gosched()
	} else if c.IsNear(pe) || !c.Progress(nap) {
		time.Sleep(nap) // and not in the kernel, where it would keep a processor of Go's
	}
	return true
}
