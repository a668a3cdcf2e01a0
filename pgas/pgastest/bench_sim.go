package pgastest

// Benchmarks in the simulator. What they measure is the time of the simulated machine, which is the same in every run:
// what an algorithm costs on a thousand PEs, which no test has, and whether a change makes it cheaper, which no noise
// hides. How long the simulation took is no figure of the program. It only decides how many iterations there are.

import (
	"context"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// BenchSim measures body on npes PEs in the simulator, on the machine of cfg, as the sub-benchmark sim. Its figure is
// sim-ns/op, the time of that machine, and sim-MB/s after SetBytes; there is no ns/op. Elapsed and what StopTimer
// leaves out are of that time, too. A HeapMax of 0 is that of Run. body must be one that [RunSim] can run.
func BenchSim(b *testing.B, npes int, cfg sim.Config, body BenchBody) {
	b.Helper()
	if isPE() {
		return
	}
	b.Run("sim", func(b *testing.B) {
		b.Helper()
		goroutinesOnly(b)
		ctx, cancel := benchContext(b)
		defer cancel()
		if cfg.HeapMax == 0 {
			cfg.HeapMax = heapMax
		}
		cfg.Check, cfg.Stats = cfg.Check || checks(b), cfg.Stats || counts()
		c := &simClock{b: b}
		_, err := sim.Run(ctx, cfg, npes, func(ctx context.Context, w *pgas.World) error {
			if w.PE() == 0 {
				c.now = w.Now
			}
			return measure(ctx, w, b.N, c, body)
		})
		if err != nil {
			fail(b, err)
		}
		c.report()
	})
}

// simClock is the clock of PE 0 in the simulator. The timer of go test runs all the time beside it.
type simClock struct {
	b       *testing.B
	now     func() time.Duration
	running bool
	started time.Duration
	before  time.Duration // measured until then
	bytes   int64
}

func (c *simClock) StartTimer() {
	if !c.running {
		c.running, c.started = true, c.now()
	}
}

func (c *simClock) StopTimer() { c.before, c.running = c.Elapsed(), false }

func (c *simClock) ResetTimer() { c.before, c.started = 0, c.now() }

func (c *simClock) Elapsed() time.Duration {
	if !c.running {
		return c.before
	}
	return c.before + c.now() - c.started
}

func (c *simClock) SetBytes(n int64) { c.bytes = n }

func (c *simClock) ReportMetric(n float64, unit string) { c.b.ReportMetric(n, unit) }

// report reports the figures of a job that has ended.
func (c *simClock) report() {
	c.b.ReportMetric(0, "ns/op") // leaves it out
	c.b.ReportMetric(float64(c.before)/float64(c.b.N), "sim-ns/op")
	if c.bytes > 0 && c.before > 0 {
		c.b.ReportMetric(float64(c.bytes)*float64(c.b.N)/1e6/c.before.Seconds(), "sim-MB/s")
	}
}
