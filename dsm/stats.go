package dsm

// Counters of a PE.

import (
	"fmt"
	"sync/atomic"

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

// counters are the Stats under way, and the records for Report.
type counters struct {
	Stats
	moves    blockMoves
	recorded recorded
}

func (s *Stats) count(c *uint64, n uint64) { atomic.AddUint64(c, n) }

// changed records the release of block b by PE me. PE prev had released it last.
func (c *counters) changed(b, prev, me int32, first, last int) {
	if first < 0 {
		return
	}
	c.count(&c.Changed, uint64(last-first+1))
	if prev != me {
		c.moves.add(b, int(me), first, last)
	}
}

// Stats returns the counters of this PE, those of its page faults included.
func (r *Region) Stats() Stats {
	s := &r.stats
	all := Stats{
		FastReads: atomic.LoadUint64(&s.FastReads), SlowReads: atomic.LoadUint64(&s.SlowReads),
		Hops: atomic.LoadUint64(&s.Hops), Gets: atomic.LoadUint64(&s.Gets),
		BytesFetched: atomic.LoadUint64(&s.BytesFetched), FastReleases: atomic.LoadUint64(&s.FastReleases),
		Moves: atomic.LoadUint64(&s.Moves), Changed: atomic.LoadUint64(&s.Changed),
		Invalidated: atomic.LoadUint64(&s.Invalidated), Fences: atomic.LoadUint64(&s.Fences),
	}
	if r.paged != nil && !r.closed {
		f := r.paged.Stats()
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
	now, was := recorded{s.ReadFaults + s.WriteFaults + s.Upgrades, s.FastReads + s.SlowReads, s.FastReleases + s.Moves}, r.stats.recorded
	hook.RecordPages(r.w, now.faults-was.faults, now.fetched-was.fetched, now.released-was.released)
	r.stats.recorded = now
}

// recorded is what the World knows.
type recorded struct{ faults, fetched, released uint64 }

// String lists the counters in a line.
func (s Stats) String() string {
	return fmt.Sprintf("%d fast and %d slow reads, %d hops, %d gets of %d bytes; %d faults of reads, %d of writes, %d upgrades; %d releases without and %d with messages, %d bytes changed; %d copies invalidated; %d fences",
		s.FastReads, s.SlowReads, s.Hops, s.Gets, s.BytesFetched, s.ReadFaults, s.WriteFaults, s.Upgrades,
		s.FastReleases, s.Moves, s.Changed, s.Invalidated, s.Fences)
}
