package lockbench

// The plot: one parameter along, one metric up, and a curve for each combination of the other parameters
// that differ.

import (
	"slices"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// curves divides results. others are the parameters that tell curves apart.
func curves(results []result, x func(config) float64, others []parameter) []sweep.Curve[result] {
	name := func(r result) string {
		var parts []string
		for _, p := range others {
			text := p.text(r.config)
			if p.value != nil {
				text = strings.TrimSpace(symbol(p) + " " + text)
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ", ")
	}
	return sweep.Curves(results, name, func(r result) float64 { return x(r.config) })
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
	x, _ = sweep.Find(parameters, o.X)
	for _, p := range parameters {
		if p.name != o.X && slices.Contains(names, p.name) && (o.X != "pes" || p.name != "topology") {
			others = append(others, p)
		}
	}
	return x, others
}

// drawPlot writes the plot to the file that o names, as its ending says.
func drawPlot(o *Options, results []result) error {
	x, others := axes(o, results)
	y, _ := sweep.Find(metrics, o.Y)
	points := sweep.Points(curves(results, x.value, others), func(r result) float64 { return x.value(r.config) }, y.Value)
	return o.Draw(x.label, y.Label, points)
}
