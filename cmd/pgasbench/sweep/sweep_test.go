package sweep_test

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

var figures = []sweep.Figure[int]{
	{Name: "first", Doc: "1: one", Grid: 1},
	{Name: "second", Doc: "2: two", Grid: 2},
}

// TestRows: rows are found by name and listed in their order; a figure that does not exist is answered with those that
// do.
func TestRows(t *testing.T) {
	if f, found := sweep.Find(figures, "second"); !found || f.Grid != 2 {
		t.Errorf("second is %+v, %t", f, found)
	}
	if f, found := sweep.Find(figures, "third"); found {
		t.Errorf("third is %+v", f)
	}
	if got := sweep.Names(figures); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("the names are %v", got)
	}
	if got, want := sweep.List("figures", 7, figures), "figures\n  first   1: one\n  second  2: two\n"; got != want {
		t.Errorf("the list is %q, want %q", got, want)
	}
	if f, err := sweep.Chosen(figures, ""); err != nil || f.Grid != 0 {
		t.Errorf("no figure is %+v, %v", f, err)
	}
	if _, err := sweep.Chosen(figures, "third"); err == nil || err.Error() != "-figure third: there is none of that name; there are first, second" {
		t.Errorf("third: %v", err)
	}
}

// TestParse: flags of the simulator are refused on a job, flags of a job in the simulator, and each mistake is one
// line.
func TestParse(t *testing.T) {
	rules := sweep.Rules{
		Choose: "write -bench", OfSimulator: []string{"seed"}, NotOnJob: "a job is real",
		OfJob: []string{"time"}, NotSimulated: "time is virtual",
	}
	parse := func(line string) (o sweep.Options, err error) {
		fs := flags.New("tool")
		fs.String("time", "", "")
		o.Declare(fs, sweep.Texts{Costs: "aries"})
		return o, o.Parse(fs, strings.Fields(line), rules)
	}
	o, err := parse("-sim -seed 7 -nodes 2,4 -json")
	if err != nil || !o.Simulated || o.Seed != 7 || o.Nodes != "2,4" || !o.JSON || o.Costs != "aries" || o.Jobs < 1 {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := parse("-h"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
	if o, err := parse("-list -seed 7"); err != nil || !o.List {
		t.Errorf("-list: %+v, %v", o, err)
	}
	for line, want := range map[string]string{
		"lb":             `unexpected argument "lb": write -bench`,
		"-seed 7":        "-seed is for -sim: a job is real",
		"-sim -time 1s":  "-time is not for -sim: time is virtual",
		"-sim -jobs all": `invalid value "all" for flag -jobs: write a whole number, such as 4`,
	} {
		if _, err := parse(line); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	t.Setenv("PGAS_PE", "0")
	if _, err := parse("-sim"); err == nil || !strings.Contains(err.Error(), "leave pgasrun away") {
		t.Errorf("-sim of a PE: %v", err)
	}
}

// TestCheck: an axis and a metric that do not exist are answered with those that do.
func TestCheck(t *testing.T) {
	axes, metrics := []string{"pes", "nodes"}, []string{"mean"}
	for _, c := range []struct {
		o    sweep.Options
		want string
	}{
		{sweep.Options{Jobs: 1, X: "pes", Y: "mean"}, ""},
		{sweep.Options{Jobs: 0, X: "pes", Y: "mean"}, "-jobs 0: at least one point at a time"},
		{sweep.Options{Jobs: 1, X: "colour", Y: "mean"}, "-x colour: there are pes"},
		{sweep.Options{Jobs: 1, X: "pes", Y: "fame"}, "-y fame: there are mean"},
	} {
		got := ""
		if err := c.o.Check(axes, axes[:1], metrics); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.o, got, c.want)
		}
	}
}

// TestCurves: results of one name are a curve, in the order of x; a plot takes a curve of two points.
func TestCurves(t *testing.T) {
	type result struct {
		name string
		x, y float64
	}
	results := []result{{"b", 2, 20}, {"a", 1, 10}, {"b", 1, 11}}
	x, y := func(r result) float64 { return r.x }, func(r result) float64 { return r.y }
	curves := sweep.Curves(results, func(r result) string { return r.name }, x)
	points := sweep.Points(curves, x, y)
	if len(points) != 2 || points[0].Name != "b" || points[1].Name != "a" || points[0].Points[0].Y != 11 || points[0].Points[1].Y != 20 {
		t.Errorf("the curves are %+v", points)
	}
	o := sweep.Options{Plot: t.TempDir() + "/plot.svg", X: "pes"}
	if err := o.Draw("PEs", "time", points); err != nil {
		t.Error(err)
	}
	if err := o.Draw("PEs", "time", points[1:]); err == nil || !strings.HasSuffix(err.Error(), "there is nothing to draw: it takes two values or more of pes") {
		t.Errorf("one point: %v", err)
	}
}
