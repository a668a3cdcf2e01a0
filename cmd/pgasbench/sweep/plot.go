package sweep

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/gopgas/gopgas/cmd/pgasbench/chart"
)

// A Metric is what a plot of results shows.
type Metric[R any] struct {
	Name, Label string
	Value       func(R) float64
}

// Row makes metrics the rows of a table.
func (m Metric[R]) Row() (name, doc string) { return m.Name, m.Label }

// A Curve is the results of one name.
type Curve[R any] struct {
	Name    string
	Results []R
}

// Curves divides results by name. Curves stand in the order of their first results, and the results of a curve in the
// order of x.
func Curves[R any](results []R, name func(R) string, x func(R) float64) (all []Curve[R]) {
	for _, r := range results {
		n := name(r)
		i := slices.IndexFunc(all, func(c Curve[R]) bool { return c.Name == n })
		if i < 0 {
			i = len(all)
			all = append(all, Curve[R]{Name: n})
		}
		all[i].Results = append(all[i].Results, r)
	}
	for _, c := range all {
		slices.SortStableFunc(c.Results, func(a, b R) int { return cmp.Compare(x(a), x(b)) })
	}
	return all
}

// Points returns curves as a plot has them.
func Points[R any](curves []Curve[R], x, y func(R) float64) (all []chart.Curve) {
	for _, c := range curves {
		points := make(plotter.XYs, len(c.Results))
		for i, r := range c.Results {
			points[i] = plotter.XY{X: x(r), Y: y(r)}
		}
		all = append(all, chart.Curve{Name: c.Name, Points: points})
	}
	return all
}

// Draw writes the plot of curves to the file that o names. It returns an error if no curve has two points.
func (o *Options) Draw(xLabel, yLabel string, curves []chart.Curve) error {
	if !slices.ContainsFunc(curves, func(c chart.Curve) bool { return len(c.Points) > 1 }) {
		return fmt.Errorf("-plot %s: there is nothing to draw: it takes two values or more of %s", o.Plot, o.X)
	}
	p, err := chart.Diagram(o.Title, xLabel, yLabel, curves)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", o.Plot, err)
	}
	return chart.Write(o.Plot, p)
}
