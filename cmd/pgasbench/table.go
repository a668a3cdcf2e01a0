package main

// What PE 0 prints: a table whose lines appear as they are measured, or one JSON object a line; and the
// plot at the end.

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// output collects and prints results; on other PEs than 0 it does neither.
type output struct {
	w       io.Writer
	json    bool
	plot    string
	on      bool
	results []result.Result
}

func newOutput(o *options, on bool, w io.Writer) *output {
	return &output{w: w, json: o.json, plot: o.plot, on: on}
}

func (o *output) add(r result.Result) error {
	if !o.on {
		return nil
	}
	o.results = append(o.results, r)
	if o.json {
		return r.Write(o.w)
	}
	if len(o.results) == 1 {
		if err := writeHeader(o.w); err != nil {
			return err
		}
	}
	return writeRow(o.w, r)
}

func (o *output) close() error {
	if !o.on || o.plot == "" {
		return nil
	}
	return drawPlot(o.plot, o.results)
}

const (
	figureColumns = "%-16s %8s %4s %-6s %9s %9s %9s %9s %9s"
	columns       = figureColumns + "\n"
	sharesColumns = figureColumns + "  longest wait %s, each PE %d to %d times\n"
)

func writeHeader(w io.Writer) error {
	_, err := fmt.Fprintf(w, columns, "bench", "bytes", "PEs", "via", "median", "min", "p99", "MB/s", "Mop/s")
	return err
}

func writeRow(w io.Writer, r result.Result) error {
	if r.Bench == "idle" {
		_, err := fmt.Fprintf(w, "%-16s %8s %4d %-6s resident %.0f kB, its share %.0f kB\n", r.Bench, "", r.PEs, r.Transport, r.RssKB, r.PssKB)
		return err
	}
	if r.MaxNs > 0 { // of what PEs compete for there are no batches
		_, err := fmt.Fprintf(w, sharesColumns, r.Bench, dashed(r.Bytes), strconv.Itoa(r.PEs), r.Transport,
			duration(r.P50ns), "-", "-", "-", rate(r.Mops), duration(r.MaxNs), r.Least, r.Most)
		return err
	}
	_, err := fmt.Fprintf(w, columns, r.Bench, dashed(r.Bytes), strconv.Itoa(r.PEs), r.Transport,
		duration(r.P50ns), duration(r.MinNs), duration(r.P99ns), rate(r.MBps), rate(r.Mops))
	return err
}

func dashed(bytes int) string {
	if bytes == 0 {
		return "-"
	}
	return strconv.Itoa(bytes)
}

// duration writes nanoseconds with three digits and the unit that suits them.
func duration(ns float64) string {
	if ns == 0 {
		return "0 ns"
	}
	for _, u := range []struct {
		least float64
		name  string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.least {
			return digits(ns/u.least) + " " + u.name
		}
	}
	return digits(ns) + " ns"
}

func rate(v float64) string {
	if v == 0 {
		return "-"
	}
	return digits(v)
}

// digits writes v with three significant digits, and never in powers of ten.
func digits(v float64) string {
	decimals := 2 - int(math.Floor(math.Log10(max(v, 1e-9))))
	return strconv.FormatFloat(v, 'f', min(max(decimals, 0), 6), 64)
}
