package network

import (
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

// Config is what a network is told of a run.
type Config struct {
	Costs     Costs
	Split     bool // the atomics of the NIC are not atomic to those of the CPU
	Adversary bool // steps take random times, and unordered operations take effect in any order
	Seed      uint64
	Detection time.Duration // time from the death of a PE until the other PEs are told
	Trace     io.Writer     // gets a line for each step, if it is not nil
	// NameOf returns what the program calls a word of a PE's heap, or "".
	NameOf func(pe int32, off uint64) string
	// Idle and Deadlock are those of engine.Model.
	Idle     func() bool
	Deadlock func() error
}

// An Observer is told what operations read and write besides their targets. An exploration has one.
type Observer interface {
	// Issued says that o was issued. The task of o is nil if o is non-blocking.
	Issued(o *Op)
	// Fetched says that o, which is non-blocking, has brought its result to its initiator.
	Fetched(o *Op)
	// WroteBytes says that b was written at an offset of p's heap.
	WroteBytes(p *PE, off uint64, b []byte)
	// WroteWord says that something was written at an offset of p's heap: v identifies it.
	WroteWord(p *PE, off, v uint64)
	// ReadsNotes says that the running task, which is of p, reads p's queue of notes.
	ReadsNotes(p *PE)
	// UsesHeap says that the running task, which is of p, reads or writes the offsets from lo to hi of its own heap.
	UsesHeap(p *PE, lo, hi uint64, write bool)
}

// Network is the machine of one run: its PEs, their hosts and what is under way between them.
type Network struct {
	Engine   engine.Engine
	config   Config
	costs    Costs
	pes      []*PE
	observer Observer // the observer of an exploration, or nil
	weights  weights
	traffic  Traffic
	random   engine.Random
	issued   uint64 // operations so far
	freeOps  []*Op
	anyDead  bool // some PE is dead
	trace    trace

	adversary *adversary // the lateness of operations, or nil
}

// PE is the memory of a PE, and the transport of its World.
//
// With thousands of PEs, none of them is in a cache. The first line of 64 bytes has what operations of other PEs
// read, the next three what the PE's own operations read besides.
type PE struct {
	heap       []byte
	dead       bool
	deathKnown bool // the other PEs have been told that it is dead
	engine.PE
	host *host

	net         *Network
	channels    int // channels made so far
	lockedWords []lockedWord
	notes       noteQueue
	seg         *boot.Segment
	unanswered  []*Op // operations on it since its death, which fail once the death is known
	cacheLines  []cacheLine
}

// New returns a network of PEs with these segments.
func New(c Config, e engine.Config, segments []*boot.Segment) *Network {
	npes := len(segments)
	net := &Network{config: c, costs: c.Costs, random: engine.Random(engine.Mix(c.Seed))}
	if c.Adversary {
		net.adversary = &adversary{net: net, last: make([]look, npes)}
	}
	net.trace.out, net.trace.name = c.Trace, c.NameOf
	net.Engine.Init(net, e)
	net.Engine.Prefetch(npes >= engine.CachedPEs)
	hosts := newHosts(c.Costs.Elements[c.Costs.Host])
	net.pes = make([]*PE, npes)
	all, owners := make([]PE, npes), make([]cacheLine, npes*lineCount)
	for i, seg := range segments {
		all[i] = PE{net: net, PE: engine.PE{ID: i}, host: hosts[c.Costs.Elements[c.Costs.Host][i]], seg: seg, heap: seg.Heap(0), cacheLines: owners[i*lineCount : (i+1)*lineCount]}
		net.pes[i] = &all[i]
		net.Engine.Add(&all[i].PE, engine.Mix(c.Seed)+engine.Mix(uint64(i+1)))
	}
	return net
}

// Observe makes x the observer. Operations take effect in any order from now on.
func (net *Network) Observe(x Observer) { net.observer = x }

// PEs returns the PEs by their numbers.
func (net *Network) PEs() []*PE { return net.pes }

// Issued returns how many operations have been issued.
func (net *Network) Issued() uint64 { return net.issued }

// Traffic returns what hosts have sent to each other so far.
func (net *Network) Traffic() Traffic { return net.traffic }

// Weigh makes each byte of the heap offsets from lo to hi, hi excluded, count as n bytes in the times of puts and gets.
func (net *Network) Weigh(lo, hi uint64, n int) error {
	return net.weights.add(lo, hi, n, uint64(len(net.pes[0].heap)))
}

// ForgetSteps forgets the steps so far.
func (net *Network) ForgetSteps() { net.trace.n = 0 }

// LastSteps returns the last n steps, or fewer.
func (net *Network) LastSteps(n int) []string { return net.trace.tail(n) }

// HeapRange returns the offsets of b in p's heap. ok is false if b is not in there.
func (p *PE) HeapRange(b []byte) (lo, hi uint64, ok bool) { return rangeIn(p.heap, b) }

// Memory returns the heap of p.
func (p *PE) Memory() []byte { return p.heap }

// HostName returns the name of the host of p.
func (p *PE) HostName() string { return p.host.name }

// Dead reports whether p is dead.
func (p *PE) Dead() bool { return p.dead }

// DeathKnown reports whether the other PEs have been told that p is dead.
func (p *PE) DeathKnown() bool { return p.deathKnown }

// Idle implements engine.Model.
func (net *Network) Idle() bool { return net.config.Idle() }

// Deadlock implements engine.Model.
func (net *Network) Deadlock() error { return net.config.Deadlock() }

// unordered reports whether operations may overtake each other.
func (net *Network) unordered() bool { return net.config.Adversary || net.exploring() }

// exploring reports whether an exploration decides what happens next.
func (net *Network) exploring() bool { return net.observer != nil }
