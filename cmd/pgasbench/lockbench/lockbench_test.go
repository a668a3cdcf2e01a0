package lockbench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/histogram"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// TestSum: what all PEs did together. A PE that took no part does not count, one that got nothing does.
func TestSum(t *testing.T) {
	busy := Tally{TookNs: 2e9}
	busy.did(true, 3*time.Microsecond, 5*time.Microsecond)
	busy.did(false, time.Microsecond, time.Microsecond)
	r, err := sum(config{}, []Tally{busy, {TookNs: 1e9, Longest: 9000}, {}})
	if err != nil {
		t.Fatal(err)
	}
	if r.WaitP50 != 0 || r.WaitP99 != 0 {
		t.Errorf("the waits of a PE that has only waited are %v and %v", r.WaitP50, r.WaitP99)
	}
	got := []float64{float64(r.Ops), r.Throughput, r.Mean, r.ReadMean, r.WriteMean, float64(r.Writes), float64(r.Longest), float64(r.Least), float64(r.Most)}
	want := []float64{2, 1, 3000, 1000, 5000, 1, 9000, 0, 2}
	if !slices.Equal(got, want) {
		t.Errorf("ops, throughput, means, writes, longest, least and most are %v, want %v", got, want)
	}
	busy.Longest = 10_000
	r, err = sum(config{}, []Tally{{TookNs: 1e9, Longest: 9000}, busy})
	if err != nil || r.WaitP50 != histogram.Middle(histogram.Bucket(1000)) || r.WaitP99 != histogram.Middle(histogram.Bucket(3000)) || r.Longest != 10_000 {
		t.Errorf("waits of the PE that waited longest are %v, %v, %v (%v)", r.WaitP50, r.WaitP99, r.Longest, err)
	}
	if _, err := sum(config{}, []Tally{{}, {TookNs: 5}}); err == nil {
		t.Error("a point in which nobody acquired anything is a result")
	}
}

// TestPoints: every combination once, and nothing varies that a lock has no use for.
func TestPoints(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string // the lock, PEs, F_W, T_DC and T_R of each point
	}{
		{"-lock D-MCS -pes 4,8", []string{"D-MCS 4 100% 0 0", "D-MCS 8 100% 0 0"}},
		{"-lock d-mcs -pes 4 -fw 2,5 -tdc 1,2", []string{"D-MCS 4 100% 0 0"}},
		{"-lock foMPI-RW,RMA-RW -pes 4 -fw 2,5 -tr 7", []string{"foMPI-RW 4 2% 0 0", "RMA-RW 4 2% 0 7", "foMPI-RW 4 5% 0 0", "RMA-RW 4 5% 0 7"}},
		{"-lock RMA-RW -pes 4 -tdc 1,2 -tr 8,9", []string{"RMA-RW 4 0.2% 1 8", "RMA-RW 4 0.2% 1 9", "RMA-RW 4 0.2% 2 8", "RMA-RW 4 0.2% 2 9"}},
		{"-figure rw-tdc -pes 4 -tdc 3", []string{"RMA-RW 4 0.2% 3 0"}},
	} {
		o, err := Parse(strings.Fields("-sim " + c.args))
		if err != nil {
			t.Fatalf("%s: %v", c.args, err)
		}
		var got []string
		for _, p := range o.points {
			got = append(got, strings.Join([]string{p.Lock, number(p.PEs), percent(p.Writers), number(p.TDC), number(p.TR)}, " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: points are %q, want %q", c.args, got, c.want)
		}
	}
}

// TestFigures: every figure has points that its benches can measure, an axis that varies, and a name of its own.
func TestFigures(t *testing.T) {
	names := sweep.Names(figures)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			t.Errorf("two figures are called %s", name)
		}
		o, err := Parse([]string{"-sim", "-figure", name, "-plot", "x.svg"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o.Y != cdfMetric && !slices.Contains(varied(o.points), o.X) {
			t.Errorf("%s is drawn along %s, which does not vary", name, o.X)
		}
	}
}

// TestCurves: a curve for each combination of what varies but x, in the order of x.
func TestCurves(t *testing.T) {
	var results []result
	for _, c := range (grid{benches: []string{"ecsb"}, locks: []string{"D-MCS", "RMA-RW"}, pes: []int{8, 4}, writers: []float64{0.02, 0.5}}).points() {
		results = append(results, result{config: c})
	}
	x, others := axes(&Options{Options: sweep.Options{X: "pes"}}, results)
	var got []string
	for _, c := range curves(results, x.value, others) {
		got = append(got, c.Name)
		if len(c.Results) != 2 || c.Results[0].PEs != 4 {
			t.Errorf("curve %s has %d points, the first with %d PEs", c.Name, len(c.Results), c.Results[0].PEs)
		}
	}
	if want := []string{"D-MCS, F_W 100%", "RMA-RW, F_W 2%", "RMA-RW, F_W 50%"}; !slices.Equal(got, want) {
		t.Errorf("curves are %q, want %q", got, want)
	}
}

// TestSectionClaims: what the paper says of its locks (rma-locks 5), in virtual time and small.
func TestSectionClaims(t *testing.T) {
	throughput := func(ours, theirs result) float64 { return ours.Throughput / theirs.Throughput }
	latency := func(ours, theirs result) float64 { return theirs.Mean / ours.Mean }
	for _, c := range []struct {
		args, lock, over string
		ahead            func(ours, theirs result) float64
		ratio            float64 // the smallest ratio
	}{
		{"-bench lb -rounds 20", "RMA-MCS", "D-MCS", latency, 4},
		{"-bench lb -rounds 20", "RMA-MCS", "foMPI-Spin", latency, 5},
		{"-bench warb -time 500us", "RMA-MCS", "D-MCS", throughput, 4},
		{"-bench wcsb -time 2ms", "RMA-MCS", "D-MCS", throughput, 1},
		{"-bench ecsb -time 5ms -fw 0.2", "RMA-RW", "foMPI-RW", throughput, 5},
		{"-bench ecsb -time 2ms -fw 5", "RMA-RW", "foMPI-RW", throughput, 6},
	} {
		r := measure(t, "-pes 128 "+c.args+" -lock "+c.lock+","+c.over)
		if got := c.ahead(r[c.lock], r[c.over]); got < c.ratio {
			t.Errorf("%s: %s is %.2f times as good as %s, want %v", c.args, c.lock, got, c.over, c.ratio)
		}
	}
}
