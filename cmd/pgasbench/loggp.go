package main

// What single calls cost, the overlap of a transfer with computation, and LogGP parameters: what section V of
// the paper on notified access has beside latencies.

import (
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/notify"
)

// callCosts are times in nanoseconds, medians.
type callCosts struct {
	Bench string  `json:"bench"`
	New   float64 `json:"new_ns"`   // t_init of the paper
	Free  float64 `json:"free_ns"`  // t_free of the paper
	Start float64 `json:"start_ns"` // t_start of the paper
	Put   float64 `json:"put_ns"`   // t_na of the paper, which is o_s
	Take  float64 `json:"take_ns"`  // o_r: the time to take a notification that is there, with one request
}

const (
	callsAtOnce = 32 // notifications that are on their way together: fewer than a queue holds
	callRounds  = 200
)

// now is the time by which things are measured.
func (r *runner) now() time.Duration {
	if r.clock != nil {
		return r.clock()
	}
	return r.w.Now()
}

// each is the time of one of n calls.
func (r *runner) each(n int, call func(i int)) float64 {
	start := r.now()
	for i := range n {
		call(i)
	}
	return float64(r.now()-start) / float64(n)
}

// callCosts measures calls. It is collective; what PE 0 returns counts.
func (r *runner) callCosts() (c callCosts, err error) {
	var made, freed, started, put, taken []float64
	value, target := uint64(1), r.ring.At(0)
	for range callRounds {
		requests := make([]*notify.Request, callsAtOnce)
		made = append(made, r.each(callsAtOnce, func(i int) { requests[i] = notify.New(r.w, r.other(), ballTag, 1) }))
		started = append(started, r.each(callsAtOnce, func(i int) { requests[i].Start() }))
		for _, q := range requests {
			q.Cancel()
		}
		freed = append(freed, r.each(callsAtOnce, func(i int) { requests[i].Free() }))

		if err := r.w.Barrier(r.ctx); err != nil {
			return c, err
		}
		if r.plays() {
			put = append(put, r.each(callsAtOnce, func(int) { target.PutNotify(r.other(), &value, ballTag) }))
		}
		if err := r.w.Barrier(r.ctx); err != nil { // which completes them there
			return c, err
		}
		if !r.plays() {
			continue
		}
		one := notify.New(r.w, r.other(), ballTag, 1)
		taken = append(taken, r.each(callsAtOnce, func(int) {
			one.Start()
			if _, e := one.Wait(r.ctx); e != nil {
				err = e
			}
		}))
		if err != nil {
			return c, err
		}
		one.Free()
	}
	m := result.Median
	return callCosts{"notify-calls", m(made), m(freed), m(started), m(put), m(taken)}, nil
}

// overlap says how much of a notified put computation can hide.
type overlap struct {
	Bench    string  `json:"bench"`
	Bytes    int     `json:"bytes"`
	Latency  float64 `json:"latency_ns"`  // the time of a notified put, one way
	Overhead float64 `json:"overhead_ns"` // what its call and its quiet take beside the computation
	Ratio    float64 `json:"overlap"`     // the part of the latency that is not overhead
}

// overlap measures one size: the computation takes a tenth more than the latency. It is collective.
func (r *runner) overlap(size int, simulated bool) (overlap, error) {
	at, err := r.point(benchNamed("notify-pingpong"), size)
	if err != nil {
		return overlap{}, err
	}
	latency, err := r.agree(int(at.P50ns))
	if err != nil {
		return overlap{}, err
	}
	wanted := time.Duration(latency) * 11 / 10
	takes := float64(wanted)
	r.compute = func() error { return r.w.Sleep(r.ctx, wanted) }
	if !simulated {
		turns := turnsFor(wanted)
		r.compute = func() error { spin(turns); return nil }
		takes = r.computing()
	}
	const name = "notify-overlap"
	all, err := r.point(benchNamed(name), size)
	r.compute = nil
	if err != nil {
		return overlap{}, err
	}
	v := overlap{Bench: name, Bytes: size, Latency: at.P50ns, Overhead: max(all.P50ns-takes, 0)}
	v.Ratio = max(1-v.Overhead/v.Latency, 0)
	return v, nil
}

// computing is what r.compute takes when nothing else is done.
func (r *runner) computing() float64 {
	times := make([]float64, 51)
	for i := range times {
		times[i] = r.each(1, func(int) { r.compute() })
	}
	return result.Median(times)
}

var spun uint64 // a result of spin, so that the compiler keeps it

// spin computes.
func spin(turns int) {
	x := spun | 1
	for range turns {
		x = x*6364136223846793005 + 1442695040888963407
	}
	spun = x
}

// turnsFor is how many turns of spin take d.
func turnsFor(d time.Duration) int {
	const sample = 20000
	times := make([]time.Duration, 9)
	for i := range times {
		start := time.Now()
		spin(sample)
		times[i] = time.Since(start)
	}
	return max(int(float64(sample)*float64(d)/float64(slices.Min(times))), 1)
}

// loggp is the parameters of notified puts: a message of k bytes takes o_s + L + G k + o_r.
type loggp struct {
	Bench  string       `json:"bench"`
	Via    string       `json:"transport"`
	Ranges []loggpRange `json:"ranges"`
}

// loggpRange is a line through the latencies of some sizes.
type loggpRange struct {
	Least int     `json:"least_bytes"`
	Most  int     `json:"most_bytes"`
	L     float64 `json:"L_ns"`
	G     float64 `json:"G_ns"` // G: the time of a byte
	R2    float64 `json:"r2"`
}

// shortest is where transfers begin that are not copied on their way.
const shortest = 8 << 10

// fitLogGP fits short and long puts apart, as they travel in different ways.
func fitLogGP(results []result.Result, c callCosts) loggp {
	var short, long []result.Result
	f := loggp{Bench: "notify-loggp"}
	for _, r := range results {
		if r.Bench != "notify-pingpong" {
			continue
		}
		f.Via = r.Transport
		if r.Bytes <= shortest {
			short = append(short, r)
		}
		if r.Bytes >= shortest {
			long = append(long, r)
		}
	}
	for _, rs := range [][]result.Result{short, long} {
		if len(rs) >= 3 {
			f.Ranges = append(f.Ranges, fitRange(rs, c))
		}
	}
	return f
}

// fitRange draws the line. Errors count in proportion to the time, or the largest size alone would say where
// the line begins.
func fitRange(rs []result.Result, c callCosts) loggpRange {
	var bytes, times, weights []float64
	for _, r := range rs {
		bytes, times, weights = append(bytes, float64(r.Bytes)), append(times, r.P50ns), append(weights, 1/(r.P50ns*r.P50ns))
	}
	start, slope := stat.LinearRegression(bytes, times, weights, false)
	if slope < 0 { // what disturbed the measurement is more than what bytes cost
		start, slope = stat.Mean(times, weights), 0
	}
	return loggpRange{Least: rs[0].Bytes, Most: rs[len(rs)-1].Bytes, L: max(start-c.Put-c.Take, 0), G: slope, R2: stat.RSquared(bytes, times, weights, start, slope)}
}
