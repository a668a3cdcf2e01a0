package dsm

// Counters of a PE.

import (
	"fmt"

	"github.com/gopgas/gopgas/internal/hook"
)

// Stats are what a PE has done since it opened a region. Mode Shared does nothing that could be counted.
type Stats struct {
	FastReads    uint64 // copies fetched by one message: a notice had told where the version is
	SlowReads    uint64 // copies fetched with a lease
	Hops         uint64 // homes that had moved, on the way to a version
	Gets         uint64 // gets that fetched copies; neighbouring blocks of one home share one
	BytesFetched uint64
	FastReleases uint64 // blocks that this PE had written last: no message
	Moves        uint64 // blocks whose home has moved to this PE
	Changed      uint64 // bytes from the first to the last changed one of each released block
	Invalidated  uint64 // copies dropped by notices
	Fences       uint64

	Evicted uint64 // copies whose memory was given back, with Options.CacheMax

	ReadFaults, WriteFaults, Upgrades uint64 // page faults in mode Paged; an upgrade is a first write to a valid copy
}

// Stats returns the counters of this PE, those of its page faults included.
func (r *Region) Stats() Stats {
	s := &r.fences.Counters
	all := Stats{
		FastReads: s.FastReads.Load(), SlowReads: s.SlowReads.Load(),
		Hops: s.Hops.Load(), Gets: s.Gets.Load(),
		BytesFetched: s.BytesFetched.Load(), FastReleases: s.FastReleases.Load(),
		Moves: s.Moves.Load(), Changed: s.Changed.Load(),
		Invalidated: s.Invalidated.Load(), Fences: s.Fences.Load(),
	}
	if r.memory.paged != nil && !r.closed {
		f := r.memory.paged.Stats()
		all.FastReads, all.SlowReads, all.Hops = all.FastReads+f.Fast, all.SlowReads+f.Slow, all.Hops+f.Hops
		all.Gets, all.BytesFetched = all.Gets+f.Fast+f.Slow, all.BytesFetched+f.Bytes
		all.Evicted = f.Evicted
		all.ReadFaults, all.WriteFaults, all.Upgrades = f.ReadFaults, f.WriteFaults, f.Upgrades
	}
	return all
}

// record brings the counters of this PE's World up to date, if it has any. The caller has this PE's turn.
func (r *Region) record() {
	if !r.w.Records() {
		return
	}
	s := r.Stats()
	now, was := recorded{s.ReadFaults + s.WriteFaults + s.Upgrades, s.FastReads + s.SlowReads, s.FastReleases + s.Moves}, r.observed.recorded
	hook.RecordPages(r.w, now.faults-was.faults, now.fetched-was.fetched, now.released-was.released)
	r.observed.recorded = now
}

// String lists the counters in a line.
func (s Stats) String() string {
	return fmt.Sprintf("%d fast and %d slow reads, %d hops, %d gets of %d bytes; %d faults of reads, %d of writes, %d upgrades; %d releases without and %d with messages, %d bytes changed; %d copies invalidated; %d fences",
		s.FastReads, s.SlowReads, s.Hops, s.Gets, s.BytesFetched, s.ReadFaults, s.WriteFaults, s.Upgrades,
		s.FastReleases, s.Moves, s.Changed, s.Invalidated, s.Fences)
}
