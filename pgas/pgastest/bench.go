package pgastest

// Benchmarks of PEs: one body, timed inside jobs of every kind of PE.
//
// go test chooses b.N as for any benchmark, and calls the benchmark again with a larger one until it takes long enough.
// Each call is a job, whose PEs all get that number: b.N of PE 0 is b.N of every PE. So they agree without a message,
// and what they measure has no message of ours in it.
//
// The clock is PE 0's. It runs between two barriers, so what it measures ends when every PE has done its iterations,
// and all that they have issued is complete. PEs in processes have a clock of their own (clock.go), whose figures go to
// that of go test.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// BenchBody is what one PE of a benchmark does. Its error fails the benchmark.
type BenchBody = func(ctx context.Context, w *pgas.World, b *B) error

// B is a benchmark as one of its PEs sees it. Its methods but Loop concern the clock and the figures of PE 0, and do
// nothing on other PEs. A B belongs to the goroutine of the body.
type B struct {
	// N is the number of iterations, the same on every PE of the job.
	N int

	left  int // iterations that Loop has not begun
	begun bool
	ended bool
	err   error
	meet  func() error // a barrier
	clock clock
}

// clock is what measures: of a *testing.B, that; of PEs in processes, see clock.go.
type clock interface {
	StartTimer()
	StopTimer()
	ResetTimer()
	Elapsed() time.Duration
	SetBytes(n int64)
	ReportMetric(n float64, unit string)
}

// Loop reports whether there is another iteration: it returns true N times, and then false. It is collective in so far
// as its first call and its last are barriers, from and to which the clock runs: what a body does before its loop and
// after it is not measured. All PEs must call it to its end. After a failed barrier it returns false, and the benchmark
// fails with that error.
func (b *B) Loop() bool {
	if b.left > 0 {
		b.left--
		return true
	}
	return b.turn()
}

// turn begins or ends the loop.
//
//go:noinline
func (b *B) turn() bool {
	if b.begun {
		b.end()
		return false
	}
	b.begun = true
	if b.barrier(); b.err != nil {
		return false
	}
	b.clock.ResetTimer()
	b.clock.StartTimer()
	b.left = b.N - 1
	return true
}

// end stops the clock when all PEs have come here.
func (b *B) end() {
	if b.ended {
		return
	}
	b.ended = true
	b.barrier()
	b.clock.StopTimer()
}

func (b *B) barrier() {
	if b.err == nil {
		b.err = b.meet()
	}
}

// StartTimer lets the clock run, as that of a [testing.B].
func (b *B) StartTimer() { b.clock.StartTimer() }

// StopTimer stops the clock while PE 0 does what is not to be measured.
func (b *B) StopTimer() { b.clock.StopTimer() }

// ResetTimer begins the measurement anew.
func (b *B) ResetTimer() { b.clock.ResetTimer() }

// Elapsed returns what the clock has measured so far, on other PEs than 0 nothing.
func (b *B) Elapsed() time.Duration { return b.clock.Elapsed() }

// SetBytes says how many bytes an iteration moves, for a figure of MB/s.
func (b *B) SetBytes(n int64) { b.clock.SetBytes(n) }

// ReportMetric adds a figure, as that of a [testing.B] does.
func (b *B) ReportMetric(n float64, unit string) { b.clock.ReportMetric(n, unit) }

// Bench measures body on npes PEs of every kind, as the sub-benchmarks goroutines, processes and, with two PEs or more
// and where network namespaces are allowed, hosts.
//
// The body runs b.N iterations by Loop, which measures these alone, or by counting to N itself; then all of the body is
// measured, but for what ResetTimer and StopTimer leave out. Accesses are not checked, unless PGAS_CHECK=1 is in the
// environment.
func Bench(b *testing.B, npes int, body BenchBody) {
	b.Helper()
	BenchGoroutines(b, npes, body)
	BenchProcesses(b, npes, body)
	if npes > 1 {
		BenchHosts(b, npes, 2, body)
	}
}

// BenchGoroutines measures body on npes goroutine PEs, as a sub-benchmark.
func BenchGoroutines(b *testing.B, npes int, body BenchBody) {
	b.Helper()
	b.Run("goroutines", func(b *testing.B) {
		b.Helper()
		if isPE() {
			return
		}
		b.StopTimer()
		b.ResetTimer()
		ctx, cancel := benchContext(b)
		defer cancel()
		err := Goroutines(ctx, npes, Options{Check: checks(b), Stats: counts()}, func(ctx context.Context, w *pgas.World) error {
			return measure(ctx, w, b.N, b, body)
		})
		if err != nil {
			fail(b, err)
		}
	})
}

// BenchProcesses measures body on npes PEs that are processes of this host, as a sub-benchmark. env ("NAME=value") is
// added to their environment.
func BenchProcesses(b *testing.B, npes int, body BenchBody, env ...string) {
	b.Helper()
	b.Run("processes", func(b *testing.B) {
		b.Helper()
		if benchIfPE(b, body); isPE() {
			return
		}
		benchJob(b, []boot.Host{{Name: launch.Local, PEs: npes}}, env)
	})
}

// BenchHosts measures body on npes PEs spread over nhosts hosts, as a sub-benchmark. It skips, with the reason, where
// hosts cannot be made. env ("NAME=value") is added to the environment of the PEs.
func BenchHosts(b *testing.B, npes, nhosts int, body BenchBody, env ...string) {
	b.Helper()
	b.Run("hosts", func(b *testing.B) {
		b.Helper()
		if benchIfPE(b, body); isPE() {
			return
		}
		goroutinesOnly(b)
		hosts, remove := makeHosts(b, nhosts)
		defer remove()
		benchJob(b, spread(npes, hosts.Names), env)
	})
}

// iterations names the variable by which PEs in processes get b.N.
const iterations = "PGASTEST_N"

// benchJob measures on PEs in processes.
func benchJob(b *testing.B, hosts []boot.Host, env []string) {
	b.Helper()
	b.StopTimer()
	b.ResetTimer()
	goroutinesOnly(b)
	ctx, cancel := benchContext(b)
	defer cancel()
	m := &marks{clock: b}
	if err := processes(ctx, b, hosts, m, append(env, fmt.Sprintf("%s=%d", iterations, b.N))...); err != nil {
		fail(b, err)
	}
	if err := m.report(b); err != nil {
		fail(b, err)
	}
}

// benchIfPE measures and ends the process if it is a PE of this benchmark.
func benchIfPE(b *testing.B, body BenchBody) {
	runIfPE(b.Name(), func(ctx context.Context, w *pgas.World) error {
		n, err := strconv.Atoi(os.Getenv(iterations))
		if err != nil {
			return fmt.Errorf("%s=%s is no number of iterations", iterations, os.Getenv(iterations))
		}
		return measure(ctx, w, n, newMarkedClock(os.Stdout), body)
	})
}

// measure runs the body of one PE. c is the clock of PE 0.
func measure(ctx context.Context, w *pgas.World, n int, c clock, body BenchBody) error {
	if w.PE() != 0 {
		c = noClock{}
	}
	b := &B{N: n, clock: c, meet: func() error { return w.Barrier(ctx) }}
	if b.barrier(); b.err != nil {
		return b.err
	}
	c.StartTimer()
	defer c.StopTimer()
	if err := body(ctx, w, b); err != nil {
		return err
	}
	if b.left > 0 {
		return fmt.Errorf("the body of PE %d has left its loop before b.Loop returned false: %d of %d iterations are missing", w.PE(), b.left, n)
	}
	if b.end(); b.err != nil {
		return b.err
	}
	if m, ok := c.(*markedClock); ok {
		return m.finish(n)
	}
	return nil
}

// noClock is that of other PEs than 0.
type noClock struct{}

func (noClock) StartTimer()                  {}
func (noClock) StopTimer()                   {}
func (noClock) ResetTimer()                  {}
func (noClock) Elapsed() time.Duration       { return 0 }
func (noClock) SetBytes(int64)               {}
func (noClock) ReportMetric(float64, string) {}

// benchContext is hang.Context with room for -benchtime: a benchmark that was asked to run for a minute does not hang.
func benchContext(b *testing.B) (context.Context, context.CancelFunc) {
	limit := hang.Limit
	if f := flag.Lookup("test.benchtime"); f != nil {
		if d, err := time.ParseDuration(f.Value.String()); err == nil {
			limit += 10 * d
		} else {
			limit *= 10 // a number of iterations, of whatever length
		}
	}
	return hang.Within(b.Context(), limit)
}

var errNoFigures = errors.New("PE 0 has ended without figures")
