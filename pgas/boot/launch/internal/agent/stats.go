package agent

// Statistics of a job: what each PE has counted, and how long it was blocked, in what and on which PE. A PE counts in
// the memory of its host's records, which its agent reads when it has ended. That has all waits, but not which of them
// were for whom: so the agent also looks, every samplePeriod, at what PEs publish for reports (boot.Blocked). A look
// counts the time since the one before, but of a wait that has begun since then only what it has lasted. Waits that
// begin and end between two looks are missed.

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// samplePeriod is the time between two looks at the PEs of a host.
const samplePeriod = time.Millisecond

// waitKey is what waits are added up for.
type waitKey struct {
	op   boot.BlockedOp
	peer int
}

// longestWaits bounds the keys of a PE: beyond, waits for further PEs count as for none in particular.
const longestWaits = 1024

// sampler looks at the PEs of one host.
type sampler struct {
	states []*boot.State
	record *record.Memory // nil: PEs record nothing
	first  int
	stop   chan struct{}
	looks  sync.WaitGroup // the goroutine that looks

	mu   sync.Mutex
	last time.Time
	pes  []sampledPE
}

type sampledPE struct {
	began time.Time
	ended bool
	open  frame.Wait // the wait in which the PE has ended; none if In is ""
	stats frame.PEStats
	waits map[waitKey]time.Duration
}

// newSampler begins to look at PEs, whose states these are.
func newSampler(states []*boot.State, host boot.Host, records *record.Memory) *sampler {
	s := &sampler{states: states, record: records, first: host.First, stop: make(chan struct{}), last: time.Now(), pes: make([]sampledPE, len(states))}
	for i := range s.pes {
		s.pes[i] = sampledPE{began: s.last, stats: frame.PEStats{PE: host.First + i, Host: host.Name}, waits: map[waitKey]time.Duration{}}
	}
	s.looks.Go(s.run)
	return s
}

func (s *sampler) run() {
	ticks := time.NewTicker(samplePeriod)
	defer ticks.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticks.C:
			s.look(time.Now())
		}
	}
}

// look adds what the PEs are doing now to their waits.
func (s *sampler) look(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := now.Sub(s.last)
	s.last = now
	for i := range s.pes {
		if !s.pes[i].ended {
			s.pes[i].add(&s.states[i].Blocked, now, since)
		}
	}
}

// add adds the time since the last look to what b says, or what of it the wait has lasted.
func (p *sampledPE) add(b *boot.Blocked, now time.Time, since time.Duration) {
	k := waitKey{boot.BlockedOp(b.Op.Load()), int(b.Peer.Load())}
	began := b.Since.Load()
	if k.op == boot.NotBlocked || boot.BlockedOp(b.Op.Load()) != k.op {
		return
	}
	if _, known := p.waits[k]; k.op.Collective() || k.peer == p.stats.PE || !known && len(p.waits) >= longestWaits {
		k.peer = -1
	}
	p.waits[k] += max(0, min(since, time.Duration(now.UnixNano()-began)))
}

// ended notes the end of PE i of the host.
func (s *sampler) ended(i int, cpu time.Duration, memory uint64) {
	now := time.Now()
	s.look(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pes[i]
	p.ended, p.open = true, openWait(&s.states[i].Blocked, now)
	p.stats.Elapsed, p.stats.CPU, p.stats.Memory = now.Sub(p.began), cpu, memory
}

// openWait returns the wait that b says a PE is in.
func openWait(b *boot.Blocked, now time.Time) frame.Wait {
	op := boot.BlockedOp(b.Op.Load())
	if op == boot.NotBlocked {
		return frame.Wait{}
	}
	peer := int(b.Peer.Load())
	if op.Collective() {
		peer = -1
	}
	return frame.Wait{In: op.String(), For: peer, Time: max(0, time.Duration(now.UnixNano()-b.Since.Load()))}
}

// counts returns what the PE has counted, with the wait that it has not come back from.
func (p *sampledPE) counts(from *record.PE) *record.Counts {
	c := from.Counts()
	if p.open.In != "" {
		c.AddWait(p.open.In, p.open.For, p.open.Time)
	}
	return &c
}

// result ends the sampler and returns what it has seen.
func (s *sampler) result() []frame.PEStats {
	close(s.stop)
	s.looks.Wait() // what it looks at may be unmapped afterwards
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []frame.PEStats
	for i, p := range s.pes {
		if s.record != nil {
			p.stats.Counts = p.counts(s.record.PE(s.first + i))
		}
		for _, k := range slices.Collect(maps.Keys(p.waits)) {
			p.stats.Waits = append(p.stats.Waits, frame.Wait{In: k.op.String(), For: k.peer, Time: p.waits[k]})
		}
		slices.SortFunc(p.stats.Waits, func(a, b frame.Wait) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.In, b.In), cmp.Compare(a.For, b.For))
		})
		all = append(all, p.stats)
	}
	return all
}
