package result

// What several PEs get of one thing that they compete for. Such a run ends by the clock, not after so many
// operations: it is to show which PEs go short. The same rules, with the same numbers, stand in
// tests/peers/locks.h: change both or neither.

import "time"

// Contended is the length of a contended run in points, so that unfairness shows.
const Contended = 10

// Share is what one PE has got.
type Share struct {
	Got     int           // operations
	Longest time.Duration // between the ends of two operations in a row, the start being one
	Took    time.Duration // in all
}

// Contend calls once again and again for the time of ten points. clock is the time since some moment; nil is the real
// one. It is read once for each operation.
func (p Plan) Contend(once func() error, clock func() time.Duration) (s Share, err error) {
	if clock == nil {
		start := time.Now()
		clock = func() time.Duration { return time.Since(start) }
	}
	begun := clock()
	for before := begun; s.Took < Contended*p.Point; {
		if err := once(); err != nil {
			return s, err
		}
		after := clock()
		s.Longest = max(s.Longest, after-before)
		s.Took, before = after-begun, after
		s.Got++
	}
	return s, nil
}

// OfShares makes a Result of what each PE has got. The rate is the sum of theirs, since they do not end at
// one moment.
func OfShares(bench string, size int, transport string, shares []Share) Result {
	r := Result{Bench: bench, Bytes: size, PEs: len(shares), Transport: transport, Least: shares[0].Got}
	perNs := 0.0
	for _, s := range shares {
		perNs += float64(s.Got) / float64(max(s.Took, 1))
		r.MaxNs = max(r.MaxNs, float64(s.Longest))
		r.Least, r.Most = min(r.Least, s.Got), max(r.Most, s.Got)
	}
	r.P50ns, r.Mops = 1/perNs, perNs*1e3
	return r
}
