// Package chart draws diagrams for pgasbench: one parameter along, one figure up, and a curve for each name.
package chart

import (
	"fmt"
	"image/color"
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
	width  = 9 * vg.Inch
	height = 5.5 * vg.Inch // the height of a diagram
)

// A Curve is one line of a diagram, by x.
type Curve struct {
	Name   string
	Points plotter.XYs
}

// CheckName returns an error unless file is "", or ends as a format that Write knows.
func CheckName(file string) error {
	if file != "" && !strings.HasSuffix(file, ".svg") && !strings.HasSuffix(file, ".png") {
		return fmt.Errorf("-plot %s: the name must end in .svg or .png", file)
	}
	return nil
}

// Diagram draws all curves. An axis is logarithmic if its values are far apart. It returns an error if a value is no
// number.
func Diagram(title, x, y string, all []Curve) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Add(Grid())
	p.Legend.Top, p.Legend.Left = true, true
	var xs, ys []float64
	for i, c := range all {
		for _, p := range c.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
		if err := AddCurve(p, i, c); err != nil {
			return nil, err
		}
	}
	if !logarithmic(&p.X, xs, 8) && slices.Min(xs) == 0 {
		p.X.Scale = newRanks(xs) // a logarithmic axis has no 0, and on a linear one all small values would meet there
	}
	p.X.Tick.Marker = valueTicks(xs)
	if logarithmic(&p.Y, ys, 30) {
		p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	} else {
		p.Y.Min = 0
	}
	return p, nil
}

// AddCurve adds c to p as its curve number i, and to the legend if it has a name.
func AddCurve(p *plot.Plot, i int, c Curve) error {
	line, marks, err := plotter.NewLinePoints(c.Points)
	if err != nil {
		return err
	}
	line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
	line.Width, marks.Shape = vg.Points(1.5), plotutil.Shape(i)
	line.Dashes = plotutil.Dashes(i / len(plotutil.DefaultColors)) // colours come round again
	p.Add(line, marks)
	if c.Name != "" {
		p.Legend.Add(c.Name, line, marks)
	}
	return nil
}

// Grid returns light lines behind the curves.
func Grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = color.Gray{220}, color.Gray{220}
	return g
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

// ranks is an axis on which the measured values stand at equal distances.
type ranks []float64

func newRanks(values []float64) ranks { return slices.Compact(slices.Sorted(slices.Values(values))) }

// Normalize implements plot.Normalizer.
func (r ranks) Normalize(_, _, x float64) float64 {
	i, found := slices.BinarySearch(r, x)
	at := float64(i)
	if !found && 0 < i && i < len(r) {
		at -= (r[i] - x) / (r[i] - r[i-1])
	}
	return at / float64(max(len(r)-1, 1))
}

// valueTicks marks the values that have been measured.
type valueTicks []float64

func (v valueTicks) Ticks(_, _ float64) (ticks []plot.Tick) {
	for _, x := range newRanks(v) {
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprint(x)})
	}
	return ticks
}

// Write draws diagrams to file, one below the other, in the format that the end of the name says.
func Write(file string, diagrams ...*plot.Plot) error {
	return write(file, 1, width, height, diagrams)
}

// WriteGrid draws smaller diagrams, two beside each other.
func WriteGrid(file string, diagrams ...*plot.Plot) error {
	const columns, small = 2, 0.6
	return write(file, columns, columns*small*width, small*height, diagrams)
}

// write draws diagrams in rows of so many columns, on a canvas of so much width and of so much height for each row.
func write(file string, columns int, width, height vg.Length, diagrams []*plot.Plot) (err error) {
	rows := make([][]*plot.Plot, (len(diagrams)+columns-1)/columns)
	for i := range rows {
		rows[i] = make([]*plot.Plot, columns)
		copy(rows[i], diagrams[i*columns:])
	}
	c, err := draw.NewFormattedCanvas(width, vg.Length(len(rows))*height, strings.TrimPrefix(filepath.Ext(file), "."))
	if err != nil {
		return fmt.Errorf("-plot %s: %w", file, err)
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: columns, PadX: vg.Centimeter, PadY: vg.Centimeter, PadTop: vg.Points(8), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(24)}
	for i, canvases := range plot.Align(rows, tiles, draw.New(c)) {
		for k, canvas := range canvases {
			if rows[i][k] != nil {
				rows[i][k].Draw(canvas)
			}
		}
	}
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
