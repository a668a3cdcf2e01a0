// Package trace makes one trace of what the PEs of a job have recorded: on one clock, with an arrow from what woke a PE
// to the wait that it ended. It writes traces as files that Perfetto (ui.perfetto.dev) and Chrome open, reads them
// again, and summarizes them: who waited for whom, in what, and which chain of computations and waits has made the job
// as long as it was.
//
// Programs do not use it: pgasrun -trace and pgas/sim write traces, pgasrun trace summary reads them.
//
// Where to read: collect.go puts together what arrives from hosts; flows.go finds the arrows; tracks.go places slices
// so that those of a track nest; file.go, read.go and scan.go are the file; summary.go, late.go, locks.go and
// critical.go what is said of it.
package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Trace is a trace of a whole job. Times are nanoseconds since its start.
type Trace struct {
	Program string
	Virtual bool // times are those of a simulation
	Hosts   []Host
	PEs     []PE // the PEs in their order, without PEs from which nothing has arrived
	Flows   []Flow
	End     int64
}

// Host says how well the clock of a host is known.
type Host struct {
	Name  string        `json:"name"`
	Known bool          `json:"clock_known"` // the clock is known; otherwise its times may be wrong by any amount
	Error time.Duration `json:"clock_error_ns"`
	// Drift is by how much its second is longer than the launcher's, DriftError by how much that may be wrong; both 0
	// if the job was too short to tell, or the clock is the launcher's.
	Drift      float64 `json:"clock_drift"`
	DriftError float64 `json:"clock_drift_error"`
}

// PE is what one PE has recorded.
type PE struct {
	Number  int
	Host    int
	Slices  []Slice // the slices by their start, a slice before those that it contains
	Points  []Point
	Dropped uint64 // events for which there was no room
	// updates of words that were more than may be recorded: they have ended no wait as far as the trace knows
	Updates uint64
	Words   map[uint64]string
	Counts  *record.Counts // nil: not known
	End     int64          // the end of its last event
}

// Slice is something that lasted.
type Slice struct {
	Kind  record.EventKind
	Name  string
	Start int64
	Dur   int64
	Open  bool // it had not ended when the PE was last heard of
	Peer  int  // the other PE, or -1
	Seq   uint64
	Value uint64
	Line  string // the line of the program's call, such as "solver/main.go:40"; empty: not known
}

// End returns when the slice ended.
func (s *Slice) End() int64 { return s.Start + s.Dur }

// word returns the offset of the word or lock that the slice is about, or 0.
func (s *Slice) word() uint64 {
	if s.Kind == record.Hold || s.Kind == record.Acquire || s.Kind == record.Wait && (s.Name == "wait" || s.Name == "lock") {
		return s.Seq
	}
	return 0
}

// Point is an event without a duration.
type Point struct {
	Kind  record.EventKind
	At    int64
	Peer  int
	Seq   uint64
	Value uint64
}

// Flow is an arrow from what a PE did to the end of the wait of another.
type Flow struct {
	From, To     int // the two PEs
	FromAt, ToAt int64
	Name         string // the name of what was done
}

// PE returns the PE with that number, or nil.
func (t *Trace) PE(number int) *PE {
	i, ok := slices.BinarySearchFunc(t.PEs, number, func(p PE, n int) int { return cmp.Compare(p.Number, n) })
	if !ok {
		return nil
	}
	return &t.PEs[i]
}

// sortSlices puts slices into the order of Slices.
func sortSlices(s []Slice) {
	slices.SortStableFunc(s, func(a, b Slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur)) })
}

// Error returns the most by which a time of one host may be wrong beside one of another, and false if there is no
// bound.
func (t *Trace) Error() (most time.Duration, bounded bool) {
	bounded = true
	var second time.Duration
	for _, h := range t.Hosts {
		if h.Error > most {
			most, second = h.Error, most
		} else {
			second = max(second, h.Error)
		}
		bounded = bounded && h.Known
	}
	return most + second, bounded
}
