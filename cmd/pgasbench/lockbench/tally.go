package lockbench

// What a PE did in a point, and how the tallies of all become a result.

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

//go:generate go tool pgasgen

// Tally is what one PE did. It travels to PE 0 as it is.
//
//pgas:symmetric views
type Tally struct {
	Reads   int64 // acquisitions in shared mode
	Writes  int64 // and the others
	ReadNs  int64 // in which they were acquired and released, together
	WriteNs int64
	Longest int64           // nanoseconds that one acquisition took
	TookNs  int64           // from the first acquisition to the last release
	Times   [buckets]uint32 // acquisitions by the time that acquiring and releasing took
}

// A histogram of times has 16 buckets for each power of two of nanoseconds, the last of which is for
// everything above half an hour.
const buckets = 640

func bucketOf(ns int64) int {
	ns = max(ns, 0)
	if ns < 16 {
		return int(ns)
	}
	e := bits.Len64(uint64(ns)) - 1
	return min(16*(e-3)+int(ns>>(e-4))&15, buckets-1)
}

// middleOf returns a time in the middle of bucket i.
func middleOf(i int) float64 {
	if i < 16 {
		return float64(i)
	}
	e := i/16 + 3
	width := int64(1) << (e - 4)
	return float64(int64(16+i%16)*width) + float64(width-1)/2
}

// did notes an acquisition. wait is until the lock was held, cost that and the time of the release.
func (t *Tally) did(write bool, wait, cost time.Duration) {
	if write {
		t.Writes++
		t.WriteNs += int64(cost)
	} else {
		t.Reads++
		t.ReadNs += int64(cost)
	}
	t.Longest = max(t.Longest, int64(wait))
	t.Times[bucketOf(int64(cost))]++
}

// result is a point that has been measured.
type result struct {
	config
	Ops        int64         `json:"ops"`                   // acquisitions of all PEs
	Took       time.Duration `json:"took_ns"`               // of the slowest PE
	Throughput float64       `json:"ops_per_s"`             // Ops divided by Took
	Mean       float64       `json:"mean_ns"`               // of acquiring and releasing, without what is done inside
	P50        float64       `json:"p50_ns"`                //
	P99        float64       `json:"p99_ns"`                //
	ReadMean   float64       `json:"read_mean_ns,omitzero"` // the same of readers and of writers
	WriteMean  float64       `json:"write_mean_ns,omitzero"`
	Writes     int64         `json:"writes"`
	Longest    time.Duration `json:"longest_wait_ns"` // for the lock
	Least      int64         `json:"least_ops"`       // of a PE
	Most       int64         `json:"most_ops"`

	times []int64 // as a Tally has them
}

// sum reduces the tallies of the PEs that took part.
func sum(c config, tallies []Tally) (result, error) {
	r := result{config: c, Least: 1<<63 - 1}
	var times [buckets]int64
	var readNs, writeNs int64
	for i := range tallies {
		t := &tallies[i]
		ops := t.Reads + t.Writes
		if t.TookNs == 0 {
			continue // it only serves
		}
		r.Ops += ops
		r.Writes += t.Writes
		readNs += t.ReadNs
		writeNs += t.WriteNs
		r.Took = max(r.Took, time.Duration(t.TookNs))
		r.Longest = max(r.Longest, time.Duration(t.Longest))
		r.Least, r.Most = min(r.Least, ops), max(r.Most, ops)
		for k, n := range t.Times {
			times[k] += int64(n)
		}
	}
	if r.Ops == 0 || r.Took <= 0 {
		return r, fmt.Errorf("%s: nothing was measured", c.name())
	}
	r.Throughput = float64(r.Ops) / r.Took.Seconds()
	r.Mean = float64(readNs+writeNs) / float64(r.Ops)
	r.ReadMean = float64(readNs) / float64(max(r.Ops-r.Writes, 1))
	r.WriteMean = float64(writeNs) / float64(max(r.Writes, 1))
	r.times = times[:]
	r.P50, r.P99 = quantile(times[:], r.Ops, 0.5), quantile(times[:], r.Ops, 0.99)
	return r, nil
}

// quantile returns the time that a part q of all acquisitions did not exceed.
func quantile(times []int64, all int64, q float64) float64 {
	below := int64(0)
	i := slices.IndexFunc(times, func(n int64) bool {
		below += n
		return float64(below) >= q*float64(all)
	})
	return middleOf(max(i, 0))
}
