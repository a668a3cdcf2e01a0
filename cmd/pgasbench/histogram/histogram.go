// Package histogram counts times in buckets, so that a bench that measures every operation by itself can say what
// quantiles they have without keeping them, and without an allocation.
//
// The buckets are log-linear: times below 16 ns have one each, and every power of two above is divided into 16 of equal
// width. So a time is within a sixteenth of the middle of its bucket, whatever its size. The last bucket has everything
// above half an hour. The same buckets stand in tests/peers/locks.h: change both or neither.
package histogram

import (
	"math/bits"
	"slices"
	"time"
)

// Buckets is the number of buckets.
const Buckets = 640

// Bucket returns the bucket of a time in nanoseconds. A negative time, which a clock that is set back may show, counts
// as 0.
func Bucket(ns int64) int {
	ns = max(ns, 0)
	if ns < 16 {
		return int(ns)
	}
	e := bits.Len64(uint64(ns)) - 1
	return min(16*(e-3)+int(ns>>(e-4))&15, Buckets-1)
}

// Middle returns the time in the middle of bucket i, in nanoseconds.
func Middle(i int) float64 {
	if i < 16 {
		return float64(i)
	}
	e := i/16 + 3
	width := int64(1) << (e - 4)
	return float64(int64(16+i%16)*width) + float64(width-1)/2
}

// Quantile returns the middle of the first bucket up to which at least a part q of the times in counts lie; of no
// times, 0.
func Quantile[N uint32 | int64](counts []N, q float64) float64 {
	all, below := int64(0), int64(0)
	for _, n := range counts {
		all += int64(n)
	}
	i := slices.IndexFunc(counts, func(n N) bool {
		below += int64(n)
		return below > 0 && float64(below) >= q*float64(all)
	})
	return Middle(max(i, 0))
}

// Times is a histogram of times and the longest of them. The zero value is empty.
type Times struct {
	counts  [Buckets]uint32
	longest time.Duration
}

// Record counts d.
func (t *Times) Record(d time.Duration) {
	t.counts[Bucket(int64(d))]++
	t.longest = max(t.longest, d)
}

// Longest returns the longest time, exactly.
func (t *Times) Longest() time.Duration { return t.longest }

// Quantile returns the time that a part q of the times did not exceed, to within a sixteenth, and never more than the
// longest.
func (t *Times) Quantile(q float64) time.Duration {
	return min(time.Duration(Quantile(t.counts[:], q)), t.longest)
}
