package lockbench

// The plot: one parameter along, one metric up, and a curve for each combination of the other parameters
// that differ.

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	plotWidth  = 9 * vg.Inch
	plotHeight = 6 * vg.Inch
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
	p, err := diagram(o.title, x, y, all)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", o.plot, err)
	}
	return writePlot(o.plot, p)
}

func diagram(title string, x parameter, y metric, all []curve) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = x.label, y.label
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = color.Gray{220}, color.Gray{220}
	p.Add(g)
	p.Legend.Top, p.Legend.Left = true, true
	var xs, ys []float64
	for i, c := range all {
		points := make(plotter.XYs, len(c.results))
		for k, r := range c.results {
			points[k] = plotter.XY{X: x.value(r.config), Y: y.value(r)}
			xs, ys = append(xs, points[k].X), append(ys, points[k].Y)
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
		line.Width, marks.Shape = vg.Points(1.5), plotutil.Shape(i)
		line.Dashes = plotutil.Dashes(i / len(plotutil.DefaultColors)) // colours come round again
		p.Add(line, marks)
		p.Legend.Add(c.name, line, marks)
	}
	logarithmic(&p.X, xs, 8)
	p.X.Tick.Marker = valueTicks(xs)
	if logarithmic(&p.Y, ys, 30) {
		p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	} else {
		p.Y.Min = 0
	}
	return p, nil
}

// logarithmic makes a logarithmic axis of a where the values are far apart.
func logarithmic(a *plot.Axis, values []float64, far float64) bool {
	least, most := slices.Min(values), slices.Max(values)
	if least <= 0 || most/least < far {
		return false
	}
	a.Scale = plot.LogScale{}
	return true
}

// valueTicks marks the values that have been measured.
type valueTicks []float64

func (v valueTicks) Ticks(_, _ float64) (ticks []plot.Tick) {
	for _, x := range slices.Compact(slices.Sorted(slices.Values(v))) {
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprint(x)})
	}
	return ticks
}

func writePlot(file string, p *plot.Plot) (err error) {
	c, err := draw.NewFormattedCanvas(plotWidth, plotHeight, strings.TrimPrefix(filepath.Ext(file), "."))
	if err != nil {
		return fmt.Errorf("-plot %s: %w", file, err)
	}
	canvas := draw.New(c)
	p.Draw(draw.Crop(canvas, vg.Points(8), -vg.Points(24), vg.Points(8), -vg.Points(8)))
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("-plot: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil && e != nil {
			err = fmt.Errorf("-plot: %w", e)
		}
	}()
	_, err = c.WriteTo(f)
	return err
}
