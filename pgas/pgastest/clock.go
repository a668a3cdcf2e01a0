package pgastest

// The clock of PE 0 in a process of its own, and how its figures get to go test.
//
// PE 0 prints a mark whenever its clock starts, stops or is reset, and at the end one with its figures. The process of
// go test takes the marks out of its output. It does the same to its own *testing.B when they arrive, which is late by
// what a line takes through the launcher, and good enough for choosing the next b.N. What it reports at the end are the
// figures of PE 0, which are exact.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"
)

// mark begins the lines of the protocol; no other output has an escape character and these words behind it.
const mark = "\x1bpgastest "

// figures are those of PE 0.
type figures struct {
	N       int
	Ns      int64
	Mallocs uint64
	Alloced uint64 // bytes
	Bytes   int64  // that an iteration moves
	Extra   map[string]float64
}

// markedClock is the clock of a PE 0 that is a process.
type markedClock struct {
	w       io.Writer
	sum     figures
	running bool
	began   time.Time
	memory  runtime.MemStats // then
}

func newMarkedClock(w io.Writer) *markedClock { return &markedClock{w: w} }

func (c *markedClock) StartTimer() {
	if c.running {
		return
	}
	fmt.Fprintln(c.w, mark+"start")
	c.running = true
	runtime.ReadMemStats(&c.memory)
	c.began = time.Now()
}

func (c *markedClock) StopTimer() {
	if !c.running {
		return
	}
	c.sum.Ns += time.Since(c.began).Nanoseconds()
	before := c.memory
	runtime.ReadMemStats(&c.memory)
	c.sum.Mallocs += c.memory.Mallocs - before.Mallocs
	c.sum.Alloced += c.memory.TotalAlloc - before.TotalAlloc
	c.running = false
	fmt.Fprintln(c.w, mark+"stop")
}

func (c *markedClock) ResetTimer() {
	fmt.Fprintln(c.w, mark+"reset")
	c.sum.Ns, c.sum.Mallocs, c.sum.Alloced, c.sum.Extra = 0, 0, 0, nil
	if c.running {
		runtime.ReadMemStats(&c.memory)
		c.began = time.Now()
	}
}

func (c *markedClock) Elapsed() time.Duration {
	d := time.Duration(c.sum.Ns)
	if c.running {
		d += time.Since(c.began)
	}
	return d
}

func (c *markedClock) SetBytes(n int64) { c.sum.Bytes = n }

func (c *markedClock) ReportMetric(n float64, unit string) {
	if c.sum.Extra == nil {
		c.sum.Extra = map[string]float64{}
	}
	c.sum.Extra[unit] = n
}

// finish prints the figures of n iterations.
func (c *markedClock) finish(n int) error {
	c.StopTimer()
	c.sum.N = n
	text, err := json.Marshal(&c.sum)
	if err != nil {
		return fmt.Errorf("the figures of the benchmark: %w", err)
	}
	_, err = fmt.Fprintf(c.w, "%s%s\n", mark, text)
	return err
}

// marks takes the marks out of the output of a job. The launcher writes whole lines of a PE at once, each with the
// number of its PE before it.
type marks struct {
	clock clock
	rest  io.Writer
	end   *figures
	err   error
}

// Write does what each mark says, and passes on the other lines.
func (m *marks) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		_, word, marked := bytes.Cut(line, []byte(mark))
		if !marked {
			if _, err := m.rest.Write(line); err != nil {
				return 0, err
			}
			continue
		}
		switch word = bytes.TrimSpace(word); string(word) {
		case "start":
			m.clock.StartTimer()
		case "stop":
			m.clock.StopTimer()
		case "reset":
			m.clock.ResetTimer()
		default:
			m.end = &figures{}
			m.err = json.Unmarshal(word, m.end)
		}
	}
	return len(p), nil
}

// report gives the figures of the job to b.
func (m *marks) report(b *testing.B) error {
	switch {
	case m.err != nil:
		return fmt.Errorf("reading the figures of PE 0: %w", m.err)
	case m.end == nil || m.end.N != b.N:
		return errNoFigures
	}
	each := func(sum float64) float64 { return sum / float64(m.end.N) }
	b.ReportMetric(each(float64(m.end.Ns)), "ns/op")
	b.ReportMetric(each(float64(m.end.Mallocs)), "allocs/op")
	b.ReportMetric(each(float64(m.end.Alloced)), "B/op")
	if m.end.Bytes > 0 && m.end.Ns > 0 {
		const mega, second = 1e6, 1e9
		b.ReportMetric(float64(m.end.Bytes)*float64(m.end.N)/mega/(float64(m.end.Ns)/second), "MB/s")
	}
	for unit, n := range m.end.Extra {
		b.ReportMetric(n, unit)
	}
	return nil
}
