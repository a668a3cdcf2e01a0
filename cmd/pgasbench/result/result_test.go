package result

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The oracle of a quantile: of n samples, at least q*n are not above it and fewer are below it than
// would make room for another.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rng.IntN(300)
		ns := make([]float64, n)
		for i := range ns {
			ns[i] = float64(rng.IntN(50))
		}
		s := NewSeries(slices.Clone(ns), n)
		if s.Count() != n || s.Min() != slices.Min(ns) {
			t.Fatalf("count %d min %v of %v", s.Count(), s.Min(), ns)
		}
		for _, q := range []float64{0, 0.5, 0.99, 1} {
			got, below, notAbove := s.Quantile(q), 0, 0
			for _, x := range ns {
				if x < got {
					below++
				}
				if x <= got {
					notAbove++
				}
			}
			if float64(below) > q*float64(n) || float64(notAbove) < q*float64(n) {
				t.Fatalf("quantile %v of %d samples is %v: %d below, %d not above", q, n, got, below, notAbove)
			}
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := Median(c.of); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.of, got, c.want)
		}
	}
}

func TestOfCountsWays(t *testing.T) {
	r := Of("signal-pingpong", 8, 2, "shm", NewSeries([]float64{300, 100, 200}, 3), 2)
	want := Result{Bench: "signal-pingpong", Bytes: 8, PEs: 2, Transport: "shm", P50ns: 100, MinNs: 50, P99ns: 150, MBps: 80, Mops: 10}
	if r != want {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	all := []Result{
		{Bench: "put", Bytes: 8, PEs: 2, Transport: "shm", P50ns: 1.25, MinNs: 1, P99ns: 4.5, MBps: 6400, Mops: 800},
		{Bench: "lock-contended", Bytes: 8, PEs: 4, Transport: "oshmem", P50ns: 6262.5, Mops: 0.15968, WaitP50ns: 91, P99ns: 3.5e6, MaxNs: 4.1233e6, Passed: 1209, Least: 14712, Most: 25707},
		{Bench: "idle", PEs: 16, Transport: "oshmem", RssKB: 19292, PssKB: 12486},
	}
	var out bytes.Buffer
	out.WriteString("a launcher's remark\n\n")
	for _, r := range all {
		if err := r.Write(&out); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(out.Bytes())
	if err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("read %+v, %v\nwrote %+v", got, err, all)
	}
	for _, field := range []string{"bench", "bytes", "pes", "transport", "p50_ns", "min_ns", "p99_ns", "mbps", "mops"} {
		if !strings.Contains(out.String(), `"`+field+`":`) {
			t.Errorf("no field %q in %s", field, out.String())
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, line := range []string{`{"bench":3}`, `{"bench":"put","colour":1}`, `{"bench":`} {
		if got, err := Read([]byte("\n" + line)); err == nil || !strings.HasPrefix(err.Error(), "line 2 is not a result") {
			t.Errorf("%s: got %v, %v", line, got, err)
		}
	}
}

// A machine of known speed: each operation takes cost, reading the clock nothing.
type machine struct {
	now  time.Duration
	cost time.Duration
	ran  int
}

func (m *machine) work(step int) Work {
	return Work{
		Step: step,
		Batch: func(first, n int) error {
			if first != m.ran {
				return errors.New("operations are not numbered in order")
			}
			m.ran += n
			m.now += time.Duration(n) * m.cost
			return nil
		},
		Clock: func() time.Duration { return m.now },
	}
}

func TestMeasureFindsTheCost(t *testing.T) {
	for _, cost := range []time.Duration{1, 17, 900, 25 * time.Microsecond, 3 * time.Millisecond} {
		for _, step := range []int{1, Window} {
			m := &machine{cost: cost}
			p := Standard(10 * time.Millisecond)
			s, err := p.Measure(m.work(step))
			if err != nil {
				t.Fatal(err)
			}
			if s.Min() != float64(cost) || math.Abs(s.Quantile(0.99)-float64(cost)) > 1e-9 {
				t.Errorf("cost %v step %d: min %v p99 %v", cost, step, s.Min(), s.Quantile(0.99))
			}
			if s.Done != m.ran || s.Done%step != 0 || s.Count() < p.Least || s.Count() > p.Most {
				t.Errorf("cost %v step %d: done %d of %d, %d batches", cost, step, s.Done, m.ran, s.Count())
			}
			if budget := 2*p.Point + time.Duration(100*step)*cost; m.now > budget {
				t.Errorf("cost %v step %d: took %v, more than %v", cost, step, m.now, budget)
			}
		}
	}
}

// Two processes that measure the same work run the same operations, whatever their clocks say.
func TestMeasureAgrees(t *testing.T) {
	said := make(chan int, 1000)
	a, b := &machine{cost: 30}, &machine{cost: 9000}
	lead, follow := a.work(1), b.work(1)
	lead.Agree = func(v int) (int, error) { said <- v; return v, nil }
	follow.Agree = func(int) (int, error) { return <-said, nil }
	p := Standard(time.Millisecond)
	first, err := p.Measure(lead)
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Measure(follow)
	if err != nil || first.Done != second.Done || first.Count() != second.Count() {
		t.Errorf("leader did %d in %d batches, follower %d in %d (%v)", first.Done, first.Count(), second.Done, second.Count(), err)
	}
}

func TestMeasureStopsAtAnError(t *testing.T) {
	boom := errors.New("boom")
	for _, at := range []int{0, 100, 100000} {
		m := &machine{cost: 10}
		w := m.work(1)
		inner := w.Batch
		w.Batch = func(first, n int) error {
			if first+n > at {
				return boom
			}
			return inner(first, n)
		}
		if _, err := Standard(time.Second).Measure(w); !errors.Is(err, boom) {
			t.Errorf("error at %d: got %v", at, err)
		}
	}
}

// A contended run ends by the clock, after the turn that is under way then. Waits are from request to acquisition: what
// a PE does with the lock is none.
func TestContend(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		waits []time.Duration // in turn, with a millisecond for each turn
		want  Share
	}{
		{[]time.Duration{0}, Share{Got: 10, Took: 10 * ms}},
		{[]time.Duration{time.Hour}, Share{Got: 1, Took: time.Hour + ms, P50: time.Hour, P99: time.Hour, Longest: time.Hour}},
		{[]time.Duration{10, 3 * ms, 10}, Share{Got: 5, Took: 11*ms + 30, P50: 10, P99: 3 * ms, Longest: 3 * ms}},
	} {
		now, n := time.Minute, 0
		got, err := Standard(ms).Contend(Contest{
			Lock:   func() error { now += c.waits[n%len(c.waits)]; return nil },
			Count:  func() int { n++; return n - 1 },
			Unlock: func() { now += ms },
		}, func() time.Duration { return now })
		// as a histogram has it
		unlike := func(got, want time.Duration) bool { return got < want-want/16-1 || got > want+want/16+1 }
		if unlike(got.P50, c.want.P50) || unlike(got.P99, c.want.P99) {
			t.Errorf("%v: P50 %v, P99 %v, want about %v, %v", c.waits, got.P50, got.P99, c.want.P50, c.want.P99)
		}
		got.P50, got.P99 = c.want.P50, c.want.P99
		if err != nil || got != c.want {
			t.Errorf("%v: %+v, %v, want %+v", c.waits, got, err, c.want)
		}
	}
	boom := errors.New("boom")
	if _, err := Standard(ms).Contend(Contest{Lock: func() error { return boom }}, nil); err != boom {
		t.Errorf("got %v", err)
	}
}

// What others have between two turns of a PE passes it, and so does what they have before its first.
func TestContendCountsPassings(t *testing.T) {
	for _, c := range []struct {
		befores []int // what the turns find
		want    int
	}{
		{[]int{0, 1, 2, 3}, 0},
		{[]int{1, 3, 5, 7}, 1},
		{[]int{3, 10, 11, 30}, 18},
		{[]int{900}, 900},
	} {
		turn, now := 0, time.Duration(0)
		got, err := Standard(time.Duration(len(c.befores))).Contend(Contest{
			Lock:   func() error { return nil },
			Count:  func() int { turn++; return c.befores[turn-1] },
			Unlock: func() { now += Contended },
		}, func() time.Duration { return now })
		if err != nil || got.Got != len(c.befores) || got.Passed != c.want {
			t.Errorf("%v: %+v, %v, want %d", c.befores, got, err, c.want)
		}
	}
}

func TestOfShares(t *testing.T) {
	got := OfShares("dmcs-contended", 8, "shm", []Share{
		{Got: 100, Took: 100_000, P50: 1500, P99: 4000, Longest: 5000, Passed: 3},
		{Got: 50, Took: 100_000, P50: 30, P99: 800, Longest: 9000, Passed: 2},
		{Got: 200, Took: 200_000, P50: 300, P99: 600, Longest: 700, Passed: 70},
	})
	want := Result{
		Bench: "dmcs-contended", Bytes: 8, PEs: 3, Transport: "shm", P50ns: 400, Mops: 2.5,
		WaitP50ns: 30, P99ns: 800, MaxNs: 9000, Passed: 70, Least: 50, Most: 200,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSlots(t *testing.T) {
	for size := 1; size < 5<<20; size = size*2 + size/3 + 1 {
		n := Slots(size)
		if n&(n-1) != 0 || n > 1024 || (n > 1 && n*size > 65536) {
			t.Errorf("%d bytes: %d slots", size, n)
		}
	}
}
