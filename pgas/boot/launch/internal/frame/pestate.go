package frame

// What an agent tells of its PEs: their states while they run, their statistics, and their traces.

import (
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// PEState is what a PE is doing. Totals are since its start.
type PEState struct {
	PE      int
	Host    int // the index of its host in Snapshot.Hosts
	Known   bool
	Process int
	Ended   bool
	Status  int // the exit status when Ended, 128 and the signal if one has killed it

	Op   boot.BlockedOp // NotBlocked: it computes
	In   string         // what it is blocked in: barrier, lock, …; empty: it computes
	For  int            // which PE it waits for, or -1
	Time time.Duration  // how long it has been blocked
	Seq  uint64         // the number of the collective, or the offset of the word or lock
	Team uint32         // the team of the collective; 0: all PEs
	Name string         // the name of the word or the lock; empty: not known yet
	Site string         // the line of the program's call; empty: not known yet

	CPU    time.Duration
	Memory uint64 // bytes that are resident

	Counters [record.NumCounters]uint64
	Levels   []string                 // the levels of record.LockMoves
	Waits    map[string]record.Waited // the time of waits by cause
	Lines    map[string]record.Waited // the waits whose line in the program is known, by "cause at file:line"
	Peers    []record.Traffic         // the peers with most bytes
	Others   record.Traffic           // the rest of the peers; Peer is -1
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
	return Blocked{PE: p.PE, Op: p.Op, Peer: p.For, Seq: p.Seq, Team: p.Team, Name: p.Name, Site: p.Site}.String()
}

// PEStats says what one PE did.
type PEStats struct {
	PE      int           `json:"pe"`
	Host    string        `json:"host"`
	Elapsed time.Duration `json:"elapsed_ns"` // the time from its start to its end
	// user and system time of its process, and of those that it has waited for
	CPU    time.Duration `json:"cpu_ns"`
	Memory uint64        `json:"memory_bytes"`
	Waits  []Wait        `json:"waits"` // the longest first

	Counts *record.Counts `json:"counts,omitempty"` // what the PE has recorded; nil: nothing
}

// Wait is how long a PE was blocked in operations of one kind, waiting for one PE.
type Wait struct {
	In   string        `json:"in"`
	For  int           `json:"for_pe"` // -1: for no PE in particular, or for one of very many
	Time time.Duration `json:"time_ns"`
}

// Blocked returns how long the PE was blocked.
func (s PEStats) Blocked() (d time.Duration) {
	for _, w := range s.Waits {
		d += w.Time
	}
	return d
}

// PETrace is a piece of what a PE has recorded.
type PETrace struct {
	record.Trace
	Counts *record.Counts // the counts, with the last piece
	Last   bool
}
