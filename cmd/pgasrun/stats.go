package main

// -stats: at the end of the job, what its PEs have counted and where they have spent their time, as one object.
// statstable.go prints it as a table.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/stats"
)

// statsForm is the form of -stats.
type statsForm uint8

const (
	noStats statsForm = iota
	statsTable
	statsJSON
)

// String is that of flag.Value.
func (f *statsForm) String() string { return "" }

// IsBoolFlag lets -stats stand without a value.
func (f *statsForm) IsBoolFlag() bool { return true }

// Set takes the form. It is that of flag.Value: "true" is -stats alone.
func (f *statsForm) Set(text string) error {
	switch text {
	case "true":
		*f = statsTable
	case "json":
		*f = statsJSON
	default:
		return errors.New("write -stats for a table, or -stats=json")
	}
	return nil
}

// statsWriter prints the statistics of a job at its end.
type statsWriter struct {
	form statsForm
	to   io.Writer
}

func (s *statsWriter) open(*launch.Spec) error { return nil }

// attach has PEs record what they do.
func (s *statsWriter) attach(job *launch.Spec) { job.Stats = true }

// finish prints what is known.
func (s *statsWriter) finish(end *ending) {
	writeStats(s.to, end.Stats, end.npes, s.form == statsJSON)
}

// jobStats is what -stats=json prints. Times are nanoseconds.
type jobStats struct {
	Version   int                      `json:"version"` // the version of this object: 2
	PEs       int                      `json:"pes"`     // the PEs that have statistics
	Elapsed   time.Duration            `json:"elapsed_ns"`
	CPU       time.Duration            `json:"cpu_ns"`
	Blocked   float64                  `json:"blocked_share"`    // the blocked share of the time of all PEs
	Imbalance float64                  `json:"imbalance"`        // the longest time that a PE computed, over the mean
	Busiest   int                      `json:"busiest_pe"`       // the PE that computed longest
	ByCause   map[string]time.Duration `json:"blocked_by_cause"` // the time that all PEs were blocked
	Pairs     []pair                   `json:"pairs"`            // the longest first
	Kinds     map[string]stats.Traffic `json:"kinds"`            // operations and bytes of all PEs
	Traffic   []flow                   `json:"traffic"`          // the traffic between two PEs, the most bytes first
	Messages  stats.Messages           `json:"messages"`         // the messages of all PEs
	Locks     stats.Locks              `json:"locks"`
	Notes     stats.Notes              `json:"notes"`
	Coherent  stats.Coherent           `json:"coherent"`
	HeapHigh  uint64                   `json:"heap_high_bytes"` // the most of the heap that a PE has used
	Each      []peStats                `json:"each"`
}

// peStats says what one PE did.
type peStats struct {
	launch.PEStats
	Counts *stats.PE `json:"counts,omitempty"` // what it has counted; nil: nothing is known
}

// A pair is how long one PE was blocked because of another.
type pair struct {
	PE   int           `json:"pe"`
	For  int           `json:"for_pe"`
	Time time.Duration `json:"time_ns"`
}

// A flow is what one PE has done to another.
type flow struct {
	PE int `json:"pe"`
	To int `json:"to_pe"`
	stats.Traffic
}

// waits returns how long p was blocked in what, the longest first: all waits if p has counted them, and otherwise those
// that were seen from outside.
func (p *peStats) waits() []launch.Wait {
	if p.Counts == nil {
		return p.Waits
	}
	var all []launch.Wait
	for _, cause := range p.Counts.Causes() {
		all = append(all, launch.Wait{In: cause, For: -1, Time: p.Counts.Blocked[cause].Time})
	}
	return all
}

// blocked returns how long p was blocked. Several goroutines may have been at once, so it is bounded.
func (p *peStats) blocked() (d time.Duration) {
	for _, w := range p.waits() {
		d += w.Time
	}
	return min(d, p.Elapsed)
}

// pairs returns how long p was blocked because of which other PE.
func (p *peStats) pairs() (list []pair) {
	sum := map[int]time.Duration{}
	if p.Counts != nil {
		for _, peer := range p.Counts.Peers {
			sum[peer.PE] = peer.Blocked
		}
	} else {
		for _, w := range p.Waits {
			sum[w.For] += w.Time
		}
	}
	for of, d := range sum {
		if of >= 0 && of != p.PE && d > 0 {
			list = append(list, pair{p.PE, of, d})
		}
	}
	return list
}

// summarize adds up the statistics of PEs.
func summarize(each []launch.PEStats) jobStats {
	s := jobStats{Version: 2, PEs: len(each), ByCause: map[string]time.Duration{}, Pairs: []pair{}, Each: []peStats{}, Busiest: -1,
		Kinds: map[string]stats.Traffic{}, Traffic: []flow{}, Locks: stats.Locks{HandOvers: []stats.HandOver{}}}
	var all, blocked, busy, busiest time.Duration
	for _, from := range each {
		p := peStats{PEStats: from}
		if from.Counts != nil {
			counts := stats.Of(*from.Counts)
			p.Counts = &counts
			s.count(p.Counts)
		}
		s.Each = append(s.Each, p)
		s.Elapsed, s.CPU, all = max(s.Elapsed, p.Elapsed), s.CPU+p.CPU, all+p.Elapsed
		b := p.blocked()
		blocked += b
		busy += max(0, p.Elapsed-b)
		if p.Elapsed-b > busiest {
			busiest, s.Busiest = p.Elapsed-b, p.PE
		}
		for _, w := range p.waits() {
			s.ByCause[w.In] += w.Time
		}
		s.Pairs = append(s.Pairs, p.pairs()...)
	}
	s.sort()
	s.Blocked, s.Imbalance = share(blocked, all), share(busiest*time.Duration(len(each)), busy)
	return s
}

// count adds what one PE has counted.
func (s *jobStats) count(c *stats.PE) {
	for kind, t := range c.Kinds {
		all := s.Kinds[kind]
		s.Kinds[kind] = stats.Traffic{Operations: all.Operations + t.Operations, Bytes: all.Bytes + t.Bytes}
	}
	for _, peer := range c.Peers {
		if t := peer.Total(); t.Operations > 0 && peer.PE != c.PE {
			s.Traffic = append(s.Traffic, flow{c.PE, peer.PE, t})
		}
	}
	s.Messages = stats.Messages{Sent: s.Messages.Sent + c.Messages.Sent, Bytes: s.Messages.Bytes + c.Messages.Bytes, Operations: s.Messages.Operations + c.Messages.Operations}
	s.Locks.Alone += c.Locks.Alone
	s.Locks.Waited += c.Locks.Waited
	for _, h := range c.Locks.HandOvers {
		s.countHandOvers(h)
	}
	s.Notes.Matched += c.Notes.Matched
	s.Notes.Unexpected += c.Notes.Unexpected
	s.Coherent.Faults += c.Coherent.Faults
	s.Coherent.Fetched += c.Coherent.Fetched
	s.Coherent.Released += c.Coherent.Released
	s.HeapHigh = max(s.HeapHigh, c.Heap.High)
}

func (s *jobStats) countHandOvers(h stats.HandOver) {
	i := slices.IndexFunc(s.Locks.HandOvers, func(o stats.HandOver) bool { return o.Level == h.Level })
	if i < 0 {
		s.Locks.HandOvers = append(s.Locks.HandOvers, h)
		return
	}
	s.Locks.HandOvers[i].Count += h.Count
}

func (s *jobStats) sort() {
	slices.SortFunc(s.Pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.PE, b.PE), cmp.Compare(a.For, b.For))
	})
	slices.SortFunc(s.Traffic, func(a, b flow) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Operations, a.Operations), cmp.Compare(a.PE, b.PE), cmp.Compare(a.To, b.To))
	})
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// writeStats writes the statistics of a job of npes PEs.
func writeStats(w io.Writer, each []launch.PEStats, npes int, asJSON bool) error {
	s := summarize(each)
	if asJSON {
		return json.NewEncoder(w).Encode(s)
	}
	if len(each) == 0 {
		_, err := fmt.Fprintln(w, "pgasrun: no statistics: no PE has started, or their agents were lost")
		return err
	}
	return s.table(w, npes)
}
