package dsmbench

// The plot of simulated points: one parameter along, one metric up, and a curve for each combination of the others.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
)

// A metric is what a plot shows.
type metric struct {
	name, label string
	value       func(outcome) float64
}

var metrics = []metric{
	{"speedup", "speedup over the paper's time in order", func(r outcome) float64 { return r.Speedup }},
	{"program", "time of the program, s", func(r outcome) float64 { return r.Program }},
	{"step", "time of a step, ms", func(r outcome) float64 { return r.Step.Seconds() * 1e3 }},
	{"slow", "slow reads of a step", func(r outcome) float64 { return r.SlowReads }},
	{"fetched", "MB fetched in a step", func(r outcome) float64 { return r.Fetched / 1e6 }},
	{"moves", "blocks that move in a step", func(r outcome) float64 { return r.Moves }},
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

// curves divides results by what they differ in but x.
func curves(results []outcome, x parameter, y metric) (all []chart.Curve) {
	for _, r := range results {
		var parts []string
		for _, p := range parameters {
			differs := slices.ContainsFunc(results, func(other outcome) bool { return p.text(other.point) != p.text(r.point) })
			if differs && p.name != x.name && !(p.name == "pes" && x.name == "nodes" || p.name == "nodes" && x.name == "pes") {
				text := p.text(r.point)
				if p.value != nil {
					text = p.name + " " + text
				}
				parts = append(parts, text)
			}
		}
		name := strings.Join(parts, ", ")
		i := slices.IndexFunc(all, func(c chart.Curve) bool { return c.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, chart.Curve{Name: name})
		}
		all[i].Points = append(all[i].Points, plotter.XY{X: x.value(r.point), Y: y.value(r)})
	}
	for _, c := range all {
		slices.SortFunc(c.Points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	}
	return all
}

// drawPlot writes the plot to the file that o names.
func drawPlot(o *Options, results []outcome) error {
	x, _ := parameterOf(o.x)
	y, _ := metricOf(o.y)
	all := curves(results, x, y)
	if !slices.ContainsFunc(all, func(c chart.Curve) bool { return len(c.Points) > 1 }) {
		return fmt.Errorf("-plot %s: there is nothing to draw: it takes two values or more of %s", o.plot, o.x)
	}
	p, err := chart.Diagram(o.title, x.label, y.label, all)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", o.plot, err)
	}
	return chart.Write(o.plot, p)
}

// drawMeasured writes the plot of what a job has measured: the median by the size of blocks.
func drawMeasured(o *Options, rows []measured) error {
	var all []chart.Curve
	for _, r := range rows {
		name := strings.TrimSpace(r.Bench + " " + r.What)
		i := slices.IndexFunc(all, func(c chart.Curve) bool { return c.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, chart.Curve{Name: name})
		}
		all[i].Points = append(all[i].Points, plotter.XY{X: float64(r.Block), Y: r.P50ns / 1e3})
	}
	all = slices.DeleteFunc(all, func(c chart.Curve) bool { return len(c.Points) < 2 })
	if len(all) == 0 {
		return fmt.Errorf("-plot %s: there is nothing to draw: it takes a bench at two sizes of blocks or more", o.plot)
	}
	p, err := chart.Diagram("Coherent memory by the size of blocks", "bytes of a block", "median, µs", all)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", o.plot, err)
	}
	return chart.Write(o.plot, p)
}
