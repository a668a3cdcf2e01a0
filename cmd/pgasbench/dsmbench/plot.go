package dsmbench

// The plot of simulated points: one parameter along, one metric up, and a curve for each combination of the others.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// drawPlot writes the plot to the file that o names, with a curve for each combination of what differs besides x.
func drawPlot(o *Options, results []outcome) error {
	x, _ := sweep.Find(parameters, o.X)
	y, _ := sweep.Find(metrics, o.Y)
	name := func(r outcome) string {
		var parts []string
		for _, p := range parameters {
			differs := slices.ContainsFunc(results, func(other outcome) bool { return p.text(other.point) != p.text(r.point) })
			if !differs || p.name == x.name || p.name == "pes" && x.name == "nodes" || p.name == "nodes" && x.name == "pes" {
				continue
			}
			text := p.text(r.point)
			if p.value != nil {
				text = p.name + " " + text
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, ", ")
	}
	along := func(r outcome) float64 { return x.value(r.point) }
	return o.Draw(x.label, y.Label, sweep.Points(sweep.Curves(results, name, along), along, y.Value))
}

// drawMeasured writes the plot of what a job has measured: the median by the size of blocks.
func drawMeasured(o *Options, rows []measured) error {
	name := func(r measured) string { return strings.TrimSpace(r.Bench + " " + r.What) }
	block := func(r measured) float64 { return float64(r.Block) }
	all := sweep.Points(sweep.Curves(rows, name, block), block, func(r measured) float64 { return r.P50ns / 1e3 })
	all = slices.DeleteFunc(all, func(c chart.Curve) bool { return len(c.Points) < 2 })
	if len(all) == 0 {
		return fmt.Errorf("-plot %s: there is nothing to draw: it takes a bench at two sizes of blocks or more", o.Plot)
	}
	p, err := chart.Diagram("Coherent memory by the size of blocks", "bytes of a block", "median, µs", all)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", o.Plot, err)
	}
	return chart.Write(o.Plot, p)
}
