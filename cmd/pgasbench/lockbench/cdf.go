package lockbench

// The other kind of plot: how many acquisitions took no longer than a time, with a curve for each point (alock 6).

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
	"github.com/gopgas/gopgas/cmd/pgasbench/histogram"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// cdf returns the part of all acquisitions that took up to each time, in nanoseconds, where there are any.
func cdf(times []int64) (points plotter.XYs) {
	all, below := int64(0), int64(0)
	for _, n := range times {
		all += n
	}
	for i, n := range times {
		if n == 0 {
			continue
		}
		at := max(histogram.Middle(i), 1)
		points = append(points, plotter.XY{X: at, Y: float64(below) / float64(all)})
		below += n
		points = append(points, plotter.XY{X: at, Y: float64(below) / float64(all)})
	}
	return points
}

// drawCDF writes the plot to the file that o names.
func drawCDF(o *Options, results []result) error {
	p := plot.New()
	p.Title.Text = o.Title
	p.X.Label.Text, p.Y.Label.Text = "time to acquire and release, ns", "part of all acquisitions"
	p.Legend.Left, p.Legend.Top = true, true
	_, others := axes(o, results)
	if x, ok := sweep.Find(parameters, o.X); ok && slices.ContainsFunc(results, func(r result) bool { return x.text(r.config) != x.text(results[0].config) }) {
		others = append(others, x)
	}
	least, most := math.Inf(1), 0.0
	for i, c := range curves(results, func(config) float64 { return 0 }, others) {
		points := cdf(c.Results[0].times)
		least, most = min(least, points[0].X), max(most, points[len(points)-1].X)
		line, err := plotter.NewLine(points)
		if err != nil {
			return fmt.Errorf("drawing %s: %w", o.Plot, err)
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		line.Dashes = plotutil.Dashes(i / len(plotutil.DefaultColors))
		p.Add(line)
		p.Legend.Add(strings.TrimSpace(c.Name), line)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = least, max(most, 2*least), 0, 1
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	return chart.Write(o.Plot, p)
}
