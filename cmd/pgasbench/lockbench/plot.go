package lockbench

// The plot: one parameter along, one metric up, and a curve for each combination of the other parameters
// that differ.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
)

// A metric is what a plot shows.
type metric struct {
	name, label string
	value       func(result) float64
}

var metrics = []metric{
	{"throughput", "million acquisitions a second", func(r result) float64 { return r.Throughput / 1e6 }},
	{"mean", "mean time to acquire and release, µs", func(r result) float64 { return r.Mean / 1e3 }},
	{"p50", "median time to acquire and release, µs", func(r result) float64 { return r.P50 / 1e3 }},
	{"p99", "99th percentile of the time to acquire and release, µs", func(r result) float64 { return r.P99 / 1e3 }},
	{"read", "mean time of a reader, µs", func(r result) float64 { return r.ReadMean / 1e3 }},
	{"write", "mean time of a writer, µs", func(r result) float64 { return r.WriteMean / 1e3 }},
	{"acquire", "mean time to acquire, µs", func(r result) float64 { return r.Mean / 1e3 }},
	{"last", "time until the last one has had the lock, µs", func(r result) float64 { return r.Mean / 1e3 }},
	{"wait", "longest wait, µs", func(r result) float64 { return float64(r.Longest) / 1e3 }},
	{cdfMetric, "part of all acquisitions by their time", nil},
	{"took", "time of the run, ms", func(r result) float64 { return float64(r.Took) / 1e6 }},
}

func metricOf(name string) (metric, bool) {
	i := slices.IndexFunc(metrics, func(m metric) bool { return m.name == name })
	if i < 0 {
		return metric{}, false
	}
	return metrics[i], true
}

func metricNames() (names []string) {
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return names
}

// A curve is the results that have everything but x in common, by x.
type curve struct {
	name    string
	results []result
}

// curves divides results, in the order in which they were measured. others are the parameters that tell
// curves apart.
func curves(results []result, x parameter, others []parameter) (all []curve) {
	for _, r := range results {
		var parts []string
		for _, p := range others {
			text := p.text(r.config)
			if p.value != nil {
				text = strings.TrimSpace(symbol(p) + " " + text)
			}
			parts = append(parts, text)
		}
		name := strings.Join(parts, ", ")
		i := slices.IndexFunc(all, func(c curve) bool { return c.name == name })
		if i < 0 {
			i = len(all)
			all = append(all, curve{name: name})
		}
		all[i].results = append(all[i].results, r)
	}
	for _, c := range all {
		slices.SortStableFunc(c.results, func(a, b result) int {
			return int(math.Copysign(1, x.value(a.config)-x.value(b.config)))
		})
	}
	return all
}

// symbol returns the parameter in a legend: what its axis says before the colon.
func symbol(p parameter) string {
	text, _, _ := strings.Cut(p.label, ":")
	return text
}

// axes returns the x of o and the parameters that tell curves apart.
func axes(o *Options, results []result) (x parameter, others []parameter) {
	var points []config
	for _, r := range results {
		points = append(points, r.config)
	}
	names := varied(points)
	x, _ = parameterOf(o.x)
	for _, p := range parameters {
		if p.name != o.x && slices.Contains(names, p.name) && (o.x != "pes" || p.name != "topology") {
			others = append(others, p)
		}
	}
	return x, others
}

// drawPlot writes the plot to the file that o names, as its ending says.
func drawPlot(o *Options, results []result) error {
	if o.y == cdfMetric {
		return drawCDF(o, results)
	}
	x, others := axes(o, results)
	y, _ := metricOf(o.y)
	all := curves(results, x, others)
	if !slices.ContainsFunc(all, func(c curve) bool { return len(c.results) > 1 }) {
		return fmt.Errorf("-plot %s: there is nothing to draw: it takes two values or more of %s", o.plot, o.x)
	}
	var drawn []chart.Curve
	for _, c := range all {
		points := make(plotter.XYs, len(c.results))
		for k, r := range c.results {
			points[k] = plotter.XY{X: x.value(r.config), Y: y.value(r)}
		}
		drawn = append(drawn, chart.Curve{Name: c.name, Points: points})
	}
	p, err := chart.Diagram(o.title, x.label, y.label, drawn)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", o.plot, err)
	}
	return chart.Write(o.plot, p)
}
