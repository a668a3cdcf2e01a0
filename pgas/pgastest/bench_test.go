package pgastest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// BenchmarkAgreed fails if the PEs do not agree on the number of iterations.
func BenchmarkAgreed(b *testing.B) {
	requested(b)
	Bench(b, 4, func(ctx context.Context, w *pgas.World, b *B) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		sum := pgas.AtomicOf(words, 0)
		iterations := 0
		for b.Loop() {
			iterations++
			sum.Add(0, 1)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if got, want := sum.Fetch(0), int64(4*b.N); got != want || iterations != b.N {
			return fmt.Errorf("PE %d has had %d of %d iterations, and all of them %d of %d", w.PE(), iterations, b.N, got, want)
		}
		if timed := b.Elapsed() > 0; timed != (w.PE() == 0) {
			return fmt.Errorf("PE %d has measured %v", w.PE(), b.Elapsed())
		}
		b.SetBytes(8)
		b.ReportMetric(float64(w.PE()+7), "figure") // of PE 0: 7
		return nil
	})
}

// BenchmarkSim sleeps for a microsecond of the simulated machine in each iteration, and for a second in which its clock
// stands.
func BenchmarkSim(b *testing.B) {
	requested(b)
	BenchSim(b, 16, sim.Config{Topology: "host:4"}, func(ctx context.Context, w *pgas.World, b *B) error {
		b.SetBytes(1000)
		b.ReportMetric(float64(w.PE()+7), "figure")
		for b.Loop() {
			err1 := w.Sleep(ctx, time.Microsecond)
			b.StopTimer()
			err2 := w.Sleep(ctx, time.Second)
			b.StartTimer()
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkPause stops the clock for what it does not measure, in a loop of its own.
func BenchmarkPause(b *testing.B) {
	requested(b)
	Bench(b, 1, func(_ context.Context, _ *pgas.World, b *B) error {
		b.StopTimer()
		time.Sleep(pause)
		b.StartTimer()
		for range b.N {
			b.StopTimer()
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed()), "measured-ns")
		return nil
	})
}

// pause is longer than anything else that BenchmarkPause does.
const pause = 2 * time.Second

// BenchmarkJobs has whole jobs as its iterations.
func BenchmarkJobs(b *testing.B) {
	requested(b)
	Run(b, 2, func(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) })
}

// BenchmarkFails fails on request: one PE leaves its loop.
func BenchmarkFails(b *testing.B) {
	requested(b)
	BenchProcesses(b, 2, func(_ context.Context, w *pgas.World, b *B) error {
		for b.Loop() {
			if w.PE() == 1 {
				break
			}
		}
		return nil
	})
}

// figuresOf runs a benchmark in this binary, for n iterations, and returns the figures of each sub-benchmark by unit,
// and what it has printed.
func figuresOf(t *testing.T, name string, n int) (results map[string]map[string]float64, out string) {
	t.Helper()
	if testing.Short() {
		t.Skip("in short mode PEs are goroutines only")
	}
	out, ok := again(t, "-test.run=^$", "-test.bench=^"+name+"$", fmt.Sprintf("-test.benchtime=%dx", n), "-test.benchmem", "-test.cpu=2")
	if !ok {
		t.Fatalf("%s fails:\n%s", name, out)
	}
	results = map[string]map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^`+name+`/(\w+)-2\s+(\d+)\t(.*)$`).FindAllStringSubmatch(out, -1) {
		if m[2] != strconv.Itoa(n) {
			t.Errorf("%s: %s iterations, want %d", m[1], m[2], n)
		}
		fields := strings.Fields(m[3])
		results[m[1]] = map[string]float64{}
		for i := 0; i+1 < len(fields); i += 2 {
			results[m[1]][fields[i+1]], _ = strconv.ParseFloat(fields[i], 64)
		}
	}
	return results, out
}

// resultsOf is figuresOf for a benchmark of every kind of PE.
func resultsOf(t *testing.T, name string, n int) map[string]map[string]float64 {
	t.Helper()
	results, out := figuresOf(t, name, n)
	kinds := []string{"goroutines", "processes", "hosts"}
	if hostsUsable() != nil || name == "BenchmarkPause" {
		kinds = slices.Delete(kinds, 2, 3)
	}
	for _, kind := range kinds {
		if results[kind] == nil {
			t.Errorf("no figures of %s in\n%s", kind, out)
		}
	}
	return results
}

// TestBench: PEs of every kind agree on the number of iterations, and the figures are those of PE 0.
func TestBench(t *testing.T) {
	for kind, r := range resultsOf(t, "BenchmarkAgreed", 50) {
		_, allocs := r["allocs/op"]
		_, bytes := r["B/op"]
		if r["ns/op"] <= 0 || r["MB/s"] <= 0 || r["figure"] != 7 || !allocs || !bytes {
			t.Errorf("%s: %v", kind, r)
		}
	}
}

// TestBenchSim: the figures are those of the simulated machine, and the same in every run.
func TestBenchSim(t *testing.T) {
	first, second := simFigures(t), simFigures(t)
	if !maps.Equal(first, second) {
		t.Errorf("%v, and then %v", first, second)
	}
	_, wall := first["ns/op"]
	if ns := first["sim-ns/op"]; wall || ns < 1000 || ns > 10_000 || first["figure"] != 7 {
		t.Errorf("%v", first)
	} else if mb := first["sim-MB/s"]; mb < 1e6/ns*0.99 || mb > 1e6/ns*1.01 {
		t.Errorf("1000 bytes in %v ns, and %v MB/s", ns, mb)
	}
}

func simFigures(t *testing.T) map[string]float64 {
	t.Helper()
	results, _ := figuresOf(t, "BenchmarkSim", 10)
	f := results["sim"]
	delete(f, "B/op") // of the simulator
	delete(f, "allocs/op")
	return f
}

// TestBenchPause: what is done while the clock stands is not measured.
func TestBenchPause(t *testing.T) {
	for kind, r := range resultsOf(t, "BenchmarkPause", 3) {
		if ns := r["measured-ns"]; ns <= 0 || r["ns/op"] <= 0 {
			t.Errorf("%s: %v", kind, r)
		} else if r["ns/op"]*3 < ns {
			t.Errorf("%s: the body had measured %v ns already, but the sum is %v", kind, ns, r["ns/op"]*3)
		}
	}
}

// TestBenchJobs: the iterations of Run are whole jobs.
func TestBenchJobs(t *testing.T) {
	for kind, r := range resultsOf(t, "BenchmarkJobs", 2) {
		if r["ns/op"] <= 0 {
			t.Errorf("%s: %v", kind, r)
		}
	}
}

// TestBenchFailure: a failed benchmark begins with its kind and names the command that runs it alone.
func TestBenchFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode PEs are goroutines only")
	}
	out, ok := again(t, "-test.run=^$", "-test.bench=^BenchmarkFails$", "-test.benchtime=10x")
	for _, want := range []string{
		"processes: a PE failed with status 1:",
		"the body of PE 1 has left its loop before b.Loop returned false: 9 of 10 iterations are missing",
		"run it alone: ", "go test ", "-run '^$' -bench '^BenchmarkFails$/^processes$' ",
	} {
		if ok || !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestMarks: marks are done and taken out of the output, and the rest is passed on as it is.
func TestMarks(t *testing.T) {
	var rest, printed strings.Builder
	c := newMarkedClock(&printed)
	c.StartTimer()
	c.ReportMetric(3, "x")
	if err := c.finish(4); err != nil {
		t.Fatal(err)
	}
	parent := newMarkedClock(&strings.Builder{})
	m := &marks{clock: parent, rest: &rest}
	fmt.Fprintf(m, "[0] before\n%s[1] after\n", strings.ReplaceAll(printed.String(), mark, "[0] "+mark))
	if rest.String() != "[0] before\n[1] after\n" {
		t.Errorf("passed on: %q", &rest)
	}
	if m.err != nil || m.end == nil || m.end.N != 4 || m.end.Extra["x"] != 3 || parent.running || parent.sum.Ns <= 0 {
		t.Errorf("%v, %+v, %+v", m.err, m.end, parent)
	}
	fmt.Fprintf(m, "[0] %snot a figure\n", mark)
	if m.err == nil {
		t.Error("a broken mark is no error")
	}
	if os.Getenv(iterations) != "" {
		t.Errorf("%s is set", iterations)
	}
}
