package trace

// What a trace says of a job, in numbers.

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Summary is what is said of a trace. Times are nanoseconds in JSON.
type Summary struct {
	Version int           `json:"version"` // the version of this object: 1
	Program string        `json:"program"`
	PEs     int           `json:"pes"`
	Virtual bool          `json:"virtual_time"`
	Elapsed time.Duration `json:"elapsed_ns"`
	Dropped uint64        `json:"dropped_events"`
	Updates uint64        `json:"dropped_updates"`
	Hosts   []Host        `json:"hosts"`

	// Of the time of all PEs:
	Blocked float64 `json:"blocked_share"`    // the time during which at least one goroutine was blocked
	Causes  []Share `json:"blocked_by_cause"` // the longest first
	Regions []Share `json:"regions"`          // the regions of the program, the longest first

	Deadlock []LockWait `json:"deadlock,omitempty"` // the deadlock of locks, if the job ended in one

	LateSenders   []Late    `json:"late_senders"`   // the longest first
	LateReceivers []Late    `json:"late_receivers"` // the longest first
	Locks         []LockUse `json:"locks"`          // the most waited for first
	Critical      Critical  `json:"critical_path"`
	// of the program, [initiator][target]; null in large jobs and without counts
	Operations [][]uint64 `json:"operations"`
	Bytes      [][]uint64 `json:"bytes"`
}

// Share is how much time was spent in one thing.
type Share struct {
	In    string        `json:"in"`
	Count int           `json:"count"`
	Time  time.Duration `json:"time_ns"`
	Share float64       `json:"share"` // the share of the time of all PEs
	Worst int           `json:"pe"`    // the PE that spent most
}

// Late is how long PEs have waited because another one was late.
type Late struct {
	PE    int           `json:"pe"` // the PE that was late
	For   int           `json:"for_pe"`
	In    string        `json:"in"` // what the PE that waited was blocked in
	Count int           `json:"count"`
	Time  time.Duration `json:"time_ns"`
}

// mostMatrix is the largest job of which a summary has the matrices.
const mostMatrix = 256

// Summarize returns what t says.
func (t *Trace) Summarize() Summary {
	s := Summary{Version: 1, Program: t.Program, PEs: len(t.PEs), Virtual: t.Virtual, Elapsed: time.Duration(t.End), Hosts: t.Hosts}
	for i := range t.PEs {
		s.Dropped += t.PEs[i].Dropped
		s.Updates += t.PEs[i].Updates
	}
	s.Blocked = t.blocked()
	s.Causes = t.shares(record.Wait, func(sl *Slice) string { return sl.Name })
	s.Regions = t.shares(record.Region, func(sl *Slice) string { return sl.Name })
	s.LateSenders, s.LateReceivers = t.late()
	s.Locks = t.locks()
	s.Deadlock = t.deadlock()
	s.Critical = t.critical()
	if len(t.PEs) <= mostMatrix {
		s.Operations, s.Bytes = t.matrices()
	}
	return s
}

// blocked returns the share of the PEs' time during which a goroutine at least was blocked: several that are at once
// count once.
func (t *Trace) blocked() float64 {
	sum := int64(0)
	for i := range t.PEs {
		until := int64(0)
		for k := range t.PEs[i].Slices { // by their start
			if s := &t.PEs[i].Slices[k]; s.Kind == record.Wait && s.End() > until {
				sum += s.End() - max(until, s.Start)
				until = s.End()
			}
		}
	}
	return float64(sum) / max(1, float64(t.End)*float64(len(t.PEs)))
}

// shares adds up the slices of a kind by a key. Of waits within waits, which goroutines of a PE make side by side, each
// counts.
func (t *Trace) shares(kind record.EventKind, key func(*Slice) string) []Share {
	type sum struct {
		Share
		worst time.Duration
	}
	sums := map[string]*sum{}
	for i := range t.PEs {
		p := &t.PEs[i]
		mine := map[string]time.Duration{}
		for k := range p.Slices {
			sl := &p.Slices[k]
			if sl.Kind != kind {
				continue
			}
			in := key(sl)
			x := sums[in]
			if x == nil {
				x = &sum{Share: Share{In: in}}
				sums[in] = x
			}
			x.Count++
			x.Time += time.Duration(sl.Dur)
			mine[in] += time.Duration(sl.Dur)
		}
		for in, d := range mine {
			if x := sums[in]; d > x.worst {
				x.worst, x.Worst = d, p.Number
			}
		}
	}
	var all []Share
	whole := float64(t.End) * float64(len(t.PEs))
	for _, in := range slices.Sorted(maps.Keys(sums)) {
		x := sums[in].Share
		if whole > 0 {
			x.Share = float64(x.Time) / whole
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b Share) int { return cmp.Compare(b.Time, a.Time) })
	return all
}

// matrices returns the program's operations and bytes by initiator and target; nil if no PE has counted.
func (t *Trace) matrices() (ops, bytes [][]uint64) {
	n := 0
	for i := range t.PEs {
		if c := t.PEs[i].Counts; c != nil {
			n = max(n, t.PEs[i].Number+1)
			for _, p := range c.Peers {
				n = max(n, p.Peer+1)
			}
		}
	}
	if n == 0 || n > mostMatrix {
		return nil, nil
	}
	for range n {
		ops, bytes = append(ops, make([]uint64, n)), append(bytes, make([]uint64, n))
	}
	for i := range t.PEs {
		p := &t.PEs[i]
		if p.Counts == nil {
			continue
		}
		for _, to := range p.Counts.Peers {
			ops[p.Number][to.Peer], bytes[p.Number][to.Peer] = to.Own()
		}
	}
	return ops, bytes
}
