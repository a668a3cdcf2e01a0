package network

import (
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

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

// Memory returns the heap of p.
func (p *PE) Memory() []byte { return p.heap }

// Dead reports whether p is dead.
func (p *PE) Dead() bool { return p.dead }

// DeathKnown reports whether the other PEs have been told that p is dead.
func (p *PE) DeathKnown() bool { return p.deathKnown }

// Idle implements engine.Model.
func (net *Network) Idle() bool { return net.config.Idle() }

// Deadlock implements engine.Model.
func (net *Network) Deadlock() error { return net.config.Deadlock() }
