package chart

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

var wide = []Curve{
	{"first", plotter.XYs{{X: 1, Y: 2}, {X: 64, Y: 300}}},
	{"second", plotter.XYs{{X: 1, Y: 3}, {X: 64, Y: 10}}},
}

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		curves    []Curve
		logX, low bool // the axis along is logarithmic; that upwards begins with 0
	}{
		{wide, true, false},
		{[]Curve{{"narrow", plotter.XYs{{X: 1, Y: 2}, {X: 4, Y: 20}}}}, false, true},
		{[]Curve{{"from zero", plotter.XYs{{X: 0, Y: 0}, {X: 64, Y: 300}}}}, false, true},
	} {
		p, err := Diagram("title", "x", "y", c.curves)
		if err != nil {
			t.Fatal(err)
		}
		_, logX := p.X.Scale.(plot.LogScale)
		_, logY := p.Y.Scale.(plot.LogScale)
		if logX != c.logX || logY == c.low || c.low && p.Y.Min != 0 {
			t.Errorf("%s: logarithmic along %v, upwards %v from %g", c.curves[0].Name, logX, logY, p.Y.Min)
		}
	}
	if _, err := Diagram("", "", "", []Curve{{"bad", plotter.XYs{{X: 1, Y: math.NaN()}}}}); err == nil {
		t.Error("a value that is no number is drawn")
	}
}

func TestRanks(t *testing.T) {
	p, err := Diagram("", "", "", []Curve{{"", plotter.XYs{{X: 4096, Y: 1}, {X: 0, Y: 3}, {X: 64, Y: 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]float64{0: 0, 32: 0.25, 64: 0.5, 4096: 1} {
		if got := p.X.Norm(x); got != want {
			t.Errorf("%g stands at %g, want %g", x, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	p, err := Diagram("Above", "bytes", "time", wide)
	if err != nil {
		t.Fatal(err)
	}
	below, err := Diagram("Below", "bytes", "rate", wide[:1])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	svg, png := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.png")
	for _, file := range []string{svg, png} {
		if err := Write(file, p, below); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"Above", "Below", "first", "second", "bytes", "rate"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("%q is not in the drawing", word)
		}
	}
	if data, err := os.ReadFile(png); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("it is no PNG: %v", err)
	}
	if err := Write(filepath.Join(dir, "a.xyz"), p); err == nil || !strings.Contains(err.Error(), "-plot") {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestCheckName(t *testing.T) {
	for file, good := range map[string]bool{"": true, "a.svg": true, "b/a.png": true, "a.pdf": false, "svg": false} {
		if err := CheckName(file); (err == nil) != good {
			t.Errorf("%q: %v", file, err)
		}
	}
}
