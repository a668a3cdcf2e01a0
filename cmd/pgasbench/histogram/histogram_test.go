package histogram

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// someTimes are n times of all sizes, from nanoseconds to minutes.
func someTimes(rng *rand.Rand, n int) []time.Duration {
	times := make([]time.Duration, n)
	for i := range times {
		ns := int64(1) << rng.IntN(40)
		times[i] = time.Duration(ns + rng.Int64N(ns))
	}
	return times
}

// Buckets are in the order of the times, without a gap, and a time is within a sixteenth of the middle of its own.
func TestBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, d := range someTimes(rng, 5000) {
		ns := int64(d)
		i, mid := Bucket(ns), Middle(Bucket(ns))
		if mid < float64(ns)*15/16 || mid > float64(ns)*17/16 {
			t.Fatalf("%d ns are in bucket %d, whose middle is %v", ns, i, mid)
		}
		if before := Bucket(ns - 1); before != i && before != i-1 {
			t.Fatalf("%d ns are in bucket %d and %d ns in %d", ns-1, before, ns, i)
		}
	}
	for i := range Buckets - 1 {
		if got := Bucket(int64(Middle(i))); got != i {
			t.Errorf("the middle of bucket %d is in bucket %d", i, got)
		}
	}
	for _, ns := range []int64{-1, 0, 1, 15, 16, 17, 1 << 62} {
		if i := Bucket(ns); i < 0 || i >= Buckets || ns >= 0 && ns < 32 && Middle(i) != float64(ns) {
			t.Errorf("%d ns are in bucket %d, whose middle is %v", ns, i, Middle(i))
		}
	}
}

// The oracle is a sorted list.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 4000; n = 3*n/2 + 1 {
		times := someTimes(rng, n)
		var h Times
		for _, d := range times {
			h.Record(d)
		}
		slices.Sort(times)
		if h.Longest() != times[n-1] {
			t.Errorf("the longest of %d times is %v, want %v", n, h.Longest(), times[n-1])
		}
		last := time.Duration(0)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			i := 0
			for float64(i+1) < q*float64(n) { // nearest rank: i+1 times are at least a part q of n
				i++
			}
			got, want := h.Quantile(q), times[i]
			if slack := want/16 + 1; got < want-slack || got > want+slack {
				t.Errorf("quantile %v of %d times is %v, want about %v", q, n, got, want)
			}
			if got < last || got > h.Longest() {
				t.Errorf("quantile %v of %d times is %v, with %v below it and %v the longest", q, n, got, last, h.Longest())
			}
			last = got
		}
	}
}

// A sum of histograms has the quantiles of all its times.
func TestQuantileOfSum(t *testing.T) {
	counts := make([]int64, Buckets)
	counts[5], counts[Bucket(1000)] = 99, 1
	for q, want := range map[float64]float64{0: 5, 0.5: 5, 0.99: 5, 0.995: Middle(Bucket(1000)), 1: Middle(Bucket(1000))} {
		if got := Quantile(counts, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	var h Times
	if h.Quantile(0.99) != 0 || h.Longest() != 0 {
		t.Errorf("of no times: p99 %v, longest %v", h.Quantile(0.99), h.Longest())
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	var h Times
	if n := testing.AllocsPerRun(1000, func() { h.Record(1234) }); n != 0 {
		t.Errorf("recording a time takes %v allocations", n)
	}
	if got := h.Quantile(0.5); got < 1234*15/16 || got > 1234 {
		t.Errorf("the median of a time again and again is %v, want about %v", got, time.Duration(1234))
	}
}
