package result

import "slices"

// Series is the samples of one point, in nanoseconds of one operation, sorted. Each is the mean of one
// batch.
type Series struct {
	ns   []float64
	Done int // operations run, calibration included
}

// NewSeries takes samples over and sorts them.
func NewSeries(ns []float64, done int) Series {
	slices.Sort(ns)
	return Series{ns, done}
}

// Count returns the number of samples.
func (s Series) Count() int { return len(s.ns) }

// Min returns the least sample.
func (s Series) Min() float64 { return s.ns[0] }

// Quantile returns the sample below which a part q of the others lie (nearest rank).
func (s Series) Quantile(q float64) float64 {
	return s.ns[min(int(q*float64(len(s.ns))), len(s.ns)-1)]
}

// Median returns the median of values, which need not be sorted: of an even number, the mean of the two in
// the middle; of none, 0.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[mid-1] + sorted[mid]) / 2
	}
	return sorted[mid]
}
