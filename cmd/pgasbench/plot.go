package main

// The plot: latency by size above, bandwidth by size below, both axes logarithmic.

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// curves sorts results by bench, then by size: benches with fewer than two sizes have no curve.
func curves(results []result.Result) map[string][]result.Result {
	by := map[string][]result.Result{}
	for _, r := range results {
		if r.Bytes > 0 && r.P50ns > 0 {
			by[r.Bench] = append(by[r.Bench], r)
		}
	}
	for name, rs := range by {
		slices.SortFunc(rs, func(a, b result.Result) int { return a.Bytes - b.Bytes })
		if len(rs) < 2 {
			delete(by, name)
		}
	}
	return by
}

// drawPlot writes the plot to file, as its name's ending says.
func drawPlot(file string, results []result.Result) error {
	by := curves(results)
	if len(by) == 0 {
		return fmt.Errorf("-plot %s: there is nothing to draw: it takes a bench at two sizes or more", file)
	}
	latency, err := panel(by, "Latency by size", "µs", func(r result.Result) float64 { return r.P50ns / 1e3 })
	if err != nil {
		return fmt.Errorf("drawing %s: %w", file, err)
	}
	bandwidth, err := panel(by, "Bandwidth by size", "MB/s", func(r result.Result) float64 { return r.MBps })
	if err != nil {
		return fmt.Errorf("drawing %s: %w", file, err)
	}
	bandwidth.Legend.Top, bandwidth.Legend.Left = true, true
	return chart.Write(file, latency, bandwidth)
}

// panel draws one diagram with a line for each bench.
func panel(by map[string][]result.Result, title, unit string, value func(result.Result) float64) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "bytes", unit
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = sizeTicks{}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(chart.Grid())
	for i, name := range slices.Sorted(maps.Keys(by)) {
		points := make(plotter.XYs, len(by[name]))
		for k, r := range by[name] {
			points[k] = plotter.XY{X: float64(r.Bytes), Y: value(r)}
		}
		if err := chart.AddCurve(p, i, chart.Curve{Name: name, Points: points}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// sizeTicks marks powers of 4, written as programmers do.
type sizeTicks struct{}

func (sizeTicks) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for size := 1.0; size <= most; size *= 4 {
		if size >= least {
			ticks = append(ticks, plot.Tick{Value: size, Label: lists.SizeLabel(int(size))})
		}
	}
	return ticks
}
