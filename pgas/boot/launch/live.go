package launch

// A job while it runs, for whoever looks at it. The launcher asks each agent what its PEs are doing, and asks again when the
// agent has answered and some time has passed. So one answer is on its way from a host at most, and an agent or a connection that
// is slow gives older answers, but delays nothing else.
//
// An answer is bounded: of a PE in a large job it has the peers with most bytes, and the rest as one.

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// livePeriod is the least time between two answers of an agent; those of large jobs take longer.
const livePeriod = 250 * time.Millisecond

// mostLivePeers is how many peers of a PE an answer has one by one.
const mostLivePeers = 64

// Snapshot is what is known of a job at a moment.
type Snapshot struct {
	Elapsed time.Duration // since the launcher began
	Hosts   []HostState   // all, in their order
	PEs     []PEState     // all, in their order
	Ended   bool          // no process is left: this is the last Snapshot
}

// HostState is what is known of a host.
type HostState struct {
	Name  string
	First int           // its first PE
	PEs   int           //
	State string        // starting, running, ended, lost
	Age   time.Duration // of what is known of its PEs
}

// PEState is what a PE is doing. Totals are since its start.
type PEState struct {
	PE      int
	Host    int // in Snapshot.Hosts
	Known   bool
	Process int
	Ended   bool
	Status  int // then: its exit status, 128 and the signal if one has killed it

	Op   boot.BlockedOp // NotBlocked: it computes
	In   string         // what it is blocked in: barrier, lock, …; empty: it computes
	For  int            // which PE it waits for, or -1
	Time time.Duration  // for how long
	Seq  uint64         // the number of the collective, or the offset of the word or lock
	Team uint32         // of the collective; 0: all PEs
	Name string         // of the word or the lock; empty: not known yet
	Site string         // of the program's call; empty: not known yet

	CPU    time.Duration
	Memory uint64 // bytes that are resident

	Counters [record.NumCounters]uint64
	Levels   []string                 // of record.LockMoves
	Waits    map[string]record.Waited // by cause
	Lines    map[string]record.Waited // those whose line in the program is known, by "cause at file:line"
	Peers    []record.Traffic         // those with most bytes
	Others   record.Traffic           // the rest; Peer is -1
}

// Blocked returns for how long the PE was blocked, what it is blocked in included.
func (p *PEState) Blocked() (d time.Duration) {
	for _, w := range p.Waits {
		d += w.Time
	}
	if !p.Ended && p.Op != boot.NotBlocked {
		d += p.Time
	}
	return d
}

// Doing returns in words what the PE is doing, without for how long: as the launcher's reports do.
func (p *PEState) Doing() string {
	return blocked{PE: p.PE, Op: p.Op, Peer: p.For, Seq: p.Seq, Team: p.Team, Name: p.Name, Site: p.Site}.String()
}

// A Doing is what some PEs are doing.
type Doing struct {
	What    string
	PEs     []int         // in their order
	Longest time.Duration // that one of them has been blocked in it
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

// answerLive sends what the PEs of this host are doing. The agent's loop calls it; what takes long is done elsewhere.
func (a *agent) answerLive() { go a.sendLive(a.table(), slices.Clone(a.pes)) }

// sendLive sends what is known of PEs, of which rows says what they are blocked in.
func (a *agent) sendLive(rows []blocked, pes []pe) {
	states := make([]PEState, len(rows))
	for i, row := range rows {
		states[i] = a.liveState(row, pes[i])
	}
	a.out.value(fromLive, states)
}

// liveState returns what a PE of this host is doing, as its row of the table says, and what it has recorded.
func (a *agent) liveState(row blocked, p pe) PEState {
	s := PEState{PE: row.PE, Host: a.cfg.Host, Known: true, Process: p.pid, Ended: p.ended, Status: p.status, For: -1, CPU: p.cpu, Memory: p.memory}
	if !p.ended {
		s.CPU, s.Memory = usage(p.pid)
		if row.Op != boot.NotBlocked {
			s.Op, s.In, s.For, s.Time, s.Seq = row.Op, row.Op.String(), row.Peer, time.Duration(row.ForNsec), row.Seq
			s.Team, s.Name, s.Site = row.Team, row.Name, row.Site
		}
	}
	if a.record != nil {
		c := a.record.PE(row.PE).Counts()
		s.Counters, s.Levels, s.Waits, s.Lines = c.Counters, c.Levels, c.Waits, c.Lines
		s.Peers, s.Others = mostBytes(c.Peers, mostLivePeers)
	}
	return s
}

// mostBytes returns the n peers with most bytes, in their order, and the sum of the others.
func mostBytes(peers []record.Traffic, n int) ([]record.Traffic, record.Traffic) {
	rest := record.Traffic{Peer: -1}
	if len(peers) <= n {
		return peers, rest
	}
	peers = slices.SortedFunc(slices.Values(peers), func(a, b record.Traffic) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(b.Operations(), a.Operations()), cmp.Compare(a.Peer, b.Peer))
	})
	for _, t := range peers[n:] {
		for k := range record.NumKinds {
			rest.Ops[k] += t.Ops[k]
			rest.Bytes[k] += t.Bytes[k]
		}
		rest.Waited += t.Waited
	}
	most := peers[:n:n]
	slices.SortFunc(most, func(a, b record.Traffic) int { return cmp.Compare(a.Peer, b.Peer) })
	return most, rest
}

// clockTick is the unit of times in /proc, which is the same on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usage returns the CPU time of a process so far, and its resident memory; 0 of one that has ended.
func usage(pid int) (cpu time.Duration, memory uint64) {
	if pid <= 0 {
		return 0, 0
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // behind the name, which may have anything in it
	const utime, stime, rss = 11, 12, 21
	if len(fields) <= rss {
		return 0, 0
	}
	number := func(i int) uint64 { n, _ := strconv.ParseUint(fields[i], 10, 64); return n }
	return time.Duration(number(utime)+number(stime)) * clockTick, number(rss) * uint64(os.Getpagesize())
}

// live is what the launcher knows of a running job, and when it has learned it.
type live struct {
	began time.Time

	mu    sync.Mutex
	pes   []PEState
	hosts []HostState
	heard []time.Time // by host
	ended bool
}

func newLive(hosts []*host, npes int) *live {
	l := &live{began: time.Now(), pes: make([]PEState, npes), heard: make([]time.Time, len(hosts))}
	for i, h := range hosts {
		l.hosts = append(l.hosts, HostState{Name: h.Name, First: h.First, PEs: h.PEs, State: "starting"})
		for pe := range h.PEs {
			l.pes[h.First+pe] = PEState{PE: h.First + pe, Host: i, For: -1}
		}
	}
	return l
}

// note notes the answer of h's agent. Answers are put together beside what else the agent does, so one from before the end of a PE
// may come after the news of that: what it says of the PE is of no use then.
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
func (l *live) noteDeath(d death) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Process == 0 || d.PE < 0 || d.PE >= len(l.pes) {
		return
	}
	p := &l.pes[d.PE]
	p.Ended, p.Status = true, exitStatus(d)
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

// askLive asks h's agent after some time.
func (j *job) askLive(h *host, after time.Duration) {
	time.AfterFunc(after, func() {
		select {
		case <-j.closed:
		default:
			h.send.bytes(toLive)
		}
	})
}

// noteLive notes an answer of h's agent, and has it asked again.
func (j *job) noteLive(h *host, data []byte) {
	var states []PEState
	if j.live == nil || decode(data, &states) != nil {
		return
	}
	j.live.note(h, states)
	j.askLive(h, livePeriod*time.Duration(1+j.npes/256))
}
