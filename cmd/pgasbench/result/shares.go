package result

// What several PEs get of one thing that they compete for. Such a run ends by the clock, not after so many
// turns: it is to show which PEs go short. The same rules, with the same numbers, stand in
// tests/peers/locks.h: change both or neither.

import (
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/histogram"
)

// Contended is the length of a contended run in points, so that unfairness shows.
const Contended = 10

// A Contest is what PEs compete for. A turn of a PE is a Lock, a Count, and an Unlock.
type Contest struct {
	Lock func() error
	// Count adds a turn to those that all PEs have had, and returns how many there were before.
	Count  func() (before int)
	Unlock func()
}

// Share is what one PE has got.
type Share struct {
	Got     int           // the number of turns
	Took    time.Duration // the time of all turns
	P50     time.Duration // the median wait from the request to the acquisition
	P99     time.Duration // the 99th percentile of these waits
	Longest time.Duration // the longest of these waits
	Passed  int           // the most turns that others had between two turns of this PE, or before its first
}

// Contend takes turns for the time of ten points. clock is the time since some moment; nil is the real one. It is read
// when the lock is asked for, which is when the turn before ends, and when it is acquired.
func (p Plan) Contend(c Contest, clock func() time.Duration) (s Share, err error) {
	if clock == nil {
		start := time.Now()
		clock = func() time.Duration { return time.Since(start) }
	}
	var waits histogram.Times
	begun, last := clock(), -1
	for asked := begun; s.Took < Contended*p.Point; s.Took = asked - begun {
		if err := c.Lock(); err != nil {
			return s, err
		}
		waits.Record(clock() - asked)
		before := c.Count()
		c.Unlock()
		s.Passed = max(s.Passed, before-last-1)
		last, asked = before, clock()
		s.Got++
	}
	s.P50, s.P99, s.Longest = waits.Quantile(0.5), waits.Quantile(0.99), waits.Longest()
	return s, nil
}

// OfShares makes a Result of what each PE has got. The rate is the sum of theirs, since they do not end at one moment.
// The waits are those of the PE that waited longest, and the turns are those of the PE that was passed most.
func OfShares(bench string, size int, transport string, shares []Share) Result {
	r := Result{Bench: bench, Bytes: size, PEs: len(shares), Transport: transport, Least: shares[0].Got}
	perNs, worst := 0.0, shares[0]
	for _, s := range shares {
		perNs += float64(s.Got) / float64(max(s.Took, 1))
		if s.Longest > worst.Longest {
			worst = s
		}
		r.Least, r.Most, r.Passed = min(r.Least, s.Got), max(r.Most, s.Got), max(r.Passed, s.Passed)
	}
	r.P50ns, r.Mops = 1/perNs, perNs*1e3
	r.WaitP50ns, r.P99ns, r.MaxNs = float64(worst.P50), float64(worst.P99), float64(worst.Longest)
	return r
}
