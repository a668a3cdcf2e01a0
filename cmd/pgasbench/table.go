package main

// What PE 0 prints: a table whose lines appear as they are measured, or one JSON object a line; and the
// plot at the end.

import (
	"fmt"
	"io"
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
	sharesColumns = figureColumns + "  waits: median %s, p99 %s, longest %s; passed by %d; %d to %d turns each%s\n"
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
	costs := ""
	if r.PssKB > 0 {
		costs = fmt.Sprintf("  CPU %s, %s switches, %.0f B between hosts, %.0f kB a PE", result.Duration(r.CPUns), rate(r.Switches), r.WireBytes, r.PssKB)
	}
	if r.Most > 0 { // of what PEs compete for there are no batches
		_, err := fmt.Fprintf(w, sharesColumns, r.Bench, dashed(r.Bytes), strconv.Itoa(r.PEs), r.Transport,
			result.Duration(r.P50ns), "-", "-", "-", rate(r.Mops),
			result.Duration(r.WaitP50ns), result.Duration(r.P99ns), result.Duration(r.MaxNs), r.Passed, r.Least, r.Most, costs)
		return err
	}
	_, err := fmt.Fprintf(w, figureColumns+"%s\n", r.Bench, dashed(r.Bytes), strconv.Itoa(r.PEs), r.Transport,
		result.Duration(r.P50ns), result.Duration(r.MinNs), result.Duration(r.P99ns), rate(r.MBps), rate(r.Mops), costs)
	return err
}

func dashed(bytes int) string {
	if bytes == 0 {
		return "-"
	}
	return strconv.Itoa(bytes)
}

func rate(v float64) string {
	if v == 0 {
		return "-"
	}
	return result.Digits(v)
}
