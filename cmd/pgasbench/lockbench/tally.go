package lockbench

// What a PE did in a point, and how the tallies of all become a result.

import (
	"fmt"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/histogram"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

//go:generate go tool pgasgen

// Tally is what one PE did. It travels to PE 0 as it is.
//
//pgas:symmetric views
type Tally struct {
	Reads   int64 // acquisitions in shared mode
	Writes  int64 // acquisitions that write
	ReadNs  int64 // nanoseconds of acquiring and releasing in shared mode
	WriteNs int64
	Longest int64 // nanoseconds that one acquisition took
	TookNs  int64 // from the first acquisition to the last release
	// acquisitions by the time that acquiring and releasing took, in the buckets of package histogram
	Times [buckets]uint32
	Waits [buckets]uint32 // acquisitions by the time until the lock was held
}

// buckets is a constant of this package, as a type in symmetric memory needs it.
const buckets = histogram.Buckets

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
	t.Times[histogram.Bucket(int64(cost))]++
	t.Waits[histogram.Bucket(int64(wait))]++
}

// result is a point that has been measured.
type result struct {
	config
	Ops        int64         `json:"ops"`                   // acquisitions of all PEs
	Took       time.Duration `json:"took_ns"`               // the time of the slowest PE
	Throughput float64       `json:"ops_per_s"`             // Ops divided by Took
	Mean       float64       `json:"mean_ns"`               // the mean time of acquiring and releasing
	P50        float64       `json:"p50_ns"`                // the median of these times
	P99        float64       `json:"p99_ns"`                // the 99th percentile of these times
	ReadMean   float64       `json:"read_mean_ns,omitzero"` // the mean of readers
	WriteMean  float64       `json:"write_mean_ns,omitzero"`
	Writes     int64         `json:"writes"`
	Longest    time.Duration `json:"longest_wait_ns"` // the longest wait for the lock
	WaitP50    float64       `json:"wait_p50_ns"`     // the median wait of the PE that waited longest
	WaitP99    float64       `json:"wait_p99_ns"`     // the 99th percentile of the waits of that PE
	Least      int64         `json:"least_ops"`       // acquisitions of the PE that had the fewest
	Most       int64         `json:"most_ops"`

	times []int64 // acquisitions by time, in the buckets of a Tally
}

// sum reduces the tallies of the PEs that took part.
func sum(c config, tallies []Tally) (result, error) {
	r := result{config: c, Least: 1<<63 - 1}
	var times [buckets]int64
	var readNs, writeNs int64
	worst := &tallies[0]
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
		if t.Longest > worst.Longest {
			worst = t
		}
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
	r.P50, r.P99 = histogram.Quantile(times[:], 0.5), histogram.Quantile(times[:], 0.99)
	r.Longest = time.Duration(worst.Longest)
	r.WaitP50, r.WaitP99 = histogram.Quantile(worst.Waits[:], 0.5), histogram.Quantile(worst.Waits[:], 0.99)
	return r, nil
}

// cdfMetric is the name of the metric that is drawn as a distribution.
const cdfMetric = "cdf"

// metrics are what a plot shows of results.
var metrics = []sweep.Metric[result]{
	{Name: "throughput", Label: "million acquisitions a second", Value: func(r result) float64 { return r.Throughput / 1e6 }},
	{Name: "mean", Label: "mean time to acquire and release, µs", Value: func(r result) float64 { return r.Mean / 1e3 }},
	{Name: "p50", Label: "median time to acquire and release, µs", Value: func(r result) float64 { return r.P50 / 1e3 }},
	{Name: "p99", Label: "99th percentile of the time to acquire and release, µs", Value: func(r result) float64 { return r.P99 / 1e3 }},
	{Name: "read", Label: "mean time of a reader, µs", Value: func(r result) float64 { return r.ReadMean / 1e3 }},
	{Name: "write", Label: "mean time of a writer, µs", Value: func(r result) float64 { return r.WriteMean / 1e3 }},
	{Name: "acquire", Label: "mean time to acquire, µs", Value: func(r result) float64 { return r.Mean / 1e3 }},
	{Name: "last", Label: "time until the last one has had the lock, µs", Value: func(r result) float64 { return r.Mean / 1e3 }},
	{Name: "wait", Label: "longest wait, µs", Value: func(r result) float64 { return float64(r.Longest) / 1e3 }},
	{Name: cdfMetric, Label: "part of all acquisitions by their time", Value: nil},
	{Name: "took", Label: "time of the run, ms", Value: func(r result) float64 { return float64(r.Took) / 1e6 }},
}
