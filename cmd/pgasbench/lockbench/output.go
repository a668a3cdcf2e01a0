package lockbench

// What is printed: a table, a line for each point, or one JSON object a line; and the plot at the end.

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// output collects and prints results; on other PEs than 0 it does neither.
type output struct {
	w       io.Writer
	o       *Options
	on      bool
	columns []parameter // the parameters that differ between the points
	results []result
}

func newOutput(o *Options, on bool, w io.Writer, points []config) *output {
	out := &output{w: w, o: o, on: on}
	names := varied(points)
	for _, p := range parameters {
		if slices.Contains(names, p.name) || slices.Contains([]string{"bench", "lock", "pes"}, p.name) {
			out.columns = append(out.columns, p)
		}
	}
	return out
}

// measured takes what the PEs did in c.
func (out *output) measured(c config, tallies []Tally) error {
	r, err := sum(c, tallies)
	if err != nil || !out.on {
		return err
	}
	out.results = append(out.results, r)
	if out.o.JSON {
		return sweep.PrintJSON(out.w, r)
	}
	if len(out.results) == 1 {
		if err := out.header(c); err != nil {
			return err
		}
	}
	return out.row(r)
}

func (out *output) close() error {
	if !out.on || out.o.Plot == "" {
		return nil
	}
	if out.o.Y == cdfMetric {
		return drawCDF(out.o, out.results)
	}
	return drawPlot(out.o, out.results)
}

// header prints what all points have in common, and names the columns.
func (out *output) header(c config) error {
	if about := about(c); about != "" {
		if _, err := fmt.Fprintln(out.w, about); err != nil {
			return err
		}
	}
	var cells []string
	for _, p := range out.columns {
		cells = append(cells, p.name)
	}
	return out.line(cells, "acq/s", "mean", "p50", "p99", "wait p99", "wait max", "fair")
}

// about returns the machine that is simulated.
func about(c config) string {
	if !c.Simulated {
		return ""
	}
	machine := c.Topology
	if c.Nodes > 0 {
		machine = "hosts of one socket"
	}
	costs := c.Costs
	if c.Vary != "" {
		costs += " with " + c.Vary + " times as much"
	}
	return fmt.Sprintf("simulated: %s, costs of %s, %s atomics, seed %d", machine, costs, c.Atomics, c.Seed)
}

func (out *output) row(r result) error {
	var cells []string
	for _, p := range out.columns {
		cells = append(cells, p.text(r.config))
	}
	fair := "-"
	if r.Time > 0 {
		fair = fmt.Sprintf("%d-%d", r.Least, r.Most)
	}
	return out.line(cells, rate(r.Throughput), duration(r.Mean), duration(r.P50), duration(r.P99), duration(r.WaitP99), duration(float64(r.Longest)), fair)
}

// widths of columns that are not 8 wide.
var widths = map[string]int{"bench": 12, "lock": 10, "pes": 5, "topology": 24}

func (out *output) line(cells []string, figures ...string) error {
	var text strings.Builder
	for i, p := range out.columns {
		width := widths[p.name]
		if width == 0 {
			width = 8
		}
		if p.value == nil {
			width = -width // words stand on the left
		}
		fmt.Fprintf(&text, "%*s ", width, cells[i])
	}
	for _, f := range figures {
		fmt.Fprintf(&text, "%10s ", f)
	}
	_, err := fmt.Fprintln(out.w, strings.TrimRight(text.String(), " "))
	return err
}

// duration writes nanoseconds with three digits and the unit that suits them.
func duration(ns float64) string {
	for _, u := range []struct {
		least time.Duration
		name  string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if ns >= float64(u.least) {
			return digits(ns/float64(u.least)) + " " + u.name
		}
	}
	return digits(ns) + " ns"
}

// rate writes a number with three digits and a letter for thousands or millions.
func rate(v float64) string {
	switch {
	case v >= 1e6:
		return digits(v/1e6) + " M"
	case v >= 1e3:
		return digits(v/1e3) + " k"
	}
	return digits(v)
}

// digits writes v with three significant digits, and never in powers of ten.
func digits(v float64) string {
	decimals := 2 - int(math.Floor(math.Log10(max(v, 1e-9))))
	return strconv.FormatFloat(v, 'f', min(max(decimals, 0), 6), 64)
}
