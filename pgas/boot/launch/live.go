package launch

// A job while it runs, for whoever looks at it. The launcher asks each agent what its PEs are doing, and asks again
// when the agent has answered and some time has passed. So one answer is on its way from a host at most, and an agent
// or a connection that is slow gives older answers, but delays nothing else.
//
// An answer is bounded: of a PE in a large job it has the peers with most bytes, and the rest as one.

import (
	"slices"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// What agents tell of PEs, for programs that use this package.
type (
	PEState = frame.PEState // what a PE is doing
	PEStats = frame.PEStats // what a PE has done
	Wait    = frame.Wait    // how long a PE was blocked in operations of one kind, waiting for one PE
	PETrace = frame.PETrace // a piece of what a PE has recorded
)

// livePeriod is the least time between two answers of an agent; those of large jobs take longer.
const livePeriod = 250 * time.Millisecond

// Snapshot is what is known of a job at a moment.
type Snapshot struct {
	Elapsed time.Duration // the time since the launcher began
	Hosts   []HostState   // all hosts, in their order
	PEs     []PEState     // all PEs, in their order
	Ended   bool          // no process is left: this is the last Snapshot
}

// HostState is what is known of a host.
type HostState struct {
	Name  string
	First int           // its first PE
	PEs   int           // the number of its PEs
	State string        // what its PEs are: starting, running, ended, lost
	Age   time.Duration // the age of what is known of its PEs
}

// A Doing is what some PEs are doing.
type Doing struct {
	What    string
	PEs     []int         // the numbers of the PEs, in their order
	Longest time.Duration // the longest that one of these PEs has been blocked in it
}

// Doings returns what the PEs that have not ended are doing, as the report on a failed job has it.
func (s *Snapshot) Doings() []Doing {
	var all doings
	for i := range s.PEs {
		if p := &s.PEs[i]; p.Known && !p.Ended {
			all.add(p.PE, p.Doing(), p.Time)
		}
	}
	return all.list
}

// live is what the launcher knows of a running job, and when it has learned it.
type live struct {
	began time.Time

	mu    sync.Mutex
	pes   []PEState
	hosts []HostState
	heard []time.Time // when each host was last heard
	ended bool
}

func newLive(hosts []*host) *live {
	l := &live{began: time.Now()}
	l.beginTerm(hosts)
	return l
}

// beginTerm notes that the PEs of hosts are to be started.
func (l *live) beginTerm(hosts []*host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pes, l.hosts, l.heard = nil, nil, make([]time.Time, len(hosts))
	for i, h := range hosts {
		l.hosts = append(l.hosts, HostState{Name: h.Name, First: h.First, PEs: h.PEs, State: "starting"})
		for pe := range h.PEs {
			l.pes = append(l.pes, PEState{PE: h.First + pe, Host: i, For: -1})
		}
	}
}

// note notes the answer of h's agent. Answers are put together beside what else the agent does, so one from before the
// end of a PE may come after the news of that: what it says of the PE is of no use then.
func (l *live) note(h *host, states []PEState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard[h.index] = time.Now()
	for _, s := range states {
		if s.PE >= h.First && s.PE < h.First+h.PEs && (s.Ended || !l.pes[s.PE].Ended) {
			s.Host = h.index
			l.pes[s.PE] = s
		}
	}
}

// noteState notes in which state h is.
func (l *live) noteState(h *host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.hosts[h.index]
	switch {
	case h.lost:
		s.State = "lost"
	case h.done || h.gone:
		s.State = "ended"
	case h.started:
		s.State = "running"
	}
}

// noteDeath notes the end of a PE, of which its agent may tell nothing more.
func (l *live) noteDeath(d frame.Death) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Process == 0 || d.PE < 0 || d.PE >= len(l.pes) {
		return
	}
	p := &l.pes[d.PE]
	p.Ended, p.Status = true, d.ExitStatus()
	p.Op, p.In, p.For, p.Time, p.Seq, p.Team, p.Name, p.Site = boot.NotBlocked, "", -1, 0, 0, 0, "", ""
}

// end notes that the job has ended.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

// snapshot returns what is known now.
func (l *live) snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	s := Snapshot{Elapsed: now.Sub(l.began), Hosts: slices.Clone(l.hosts), PEs: slices.Clone(l.pes), Ended: l.ended}
	for i, heard := range l.heard {
		if !heard.IsZero() {
			s.Hosts[i].Age = now.Sub(heard)
		}
	}
	return s
}
