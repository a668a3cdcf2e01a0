// Package sweep has what `pgasbench locks` and `pgasbench dsm` have in common: both measure every combination of some
// values, on the PEs of a job or in the simulator, and draw one parameter against a metric.
//
//	options.go  the flags of both, and which of them exclude each other
//	rows.go     tables whose rows are chosen by name
//	plot.go     metrics and curves
package sweep

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/pgasbench/machines"
)

// Options are the values of the flags of both commands.
type Options struct {
	Simulated      bool // simulate the PEs
	List           bool // print the tables, and end
	JSON           bool
	Figure         string // the name of a figure
	Nodes, Threads string // lists of numbers
	Costs, Vary    string // the costs of the machine that is simulated, and which are multiplied
	Seed           uint64
	Jobs           int    // points that are simulated at a time
	Plot           string // the file of the plot
	Title, X, Y    string // the texts and parameters of the plot
}

// Texts are what the help says of flags that the commands describe in their own words.
type Texts struct {
	Simulated, List, Figure, Nodes, Threads, X, Y string
	Costs                                         string // the default of -costs
	Vary                                          string // an example of -vary
}

// Declare declares the flags.
func (o *Options) Declare(fs *flag.FlagSet, t Texts) {
	flags.BoolVar(fs, &o.Simulated, "sim", false, t.Simulated)
	flags.BoolVar(fs, &o.List, "list", false, t.List)
	fs.StringVar(&o.Figure, "figure", "", t.Figure)
	fs.StringVar(&o.Nodes, "nodes", "", t.Nodes)
	fs.StringVar(&o.Threads, "threads", "", t.Threads)
	fs.StringVar(&o.Costs, "costs", t.Costs, "with -sim: what operations cost, on a `machine`: "+strings.Join(machines.Names(), ", "))
	fs.StringVar(&o.Vary, "vary", "", "with -sim: costs of the machine that are `multiplied`, such as "+t.Vary)
	flags.Uint64Var(fs, &o.Seed, "seed", 1, "with -sim: `number` from which all random ones follow")
	flags.IntVar(fs, &o.Jobs, "jobs", runtime.GOMAXPROCS(0), "with -sim: `points` at a time")
	flags.BoolVar(fs, &o.JSON, "json", false, "print one JSON object a line")
	fs.StringVar(&o.Plot, "plot", "", "draw a plot to `file`, .svg or .png")
	fs.StringVar(&o.X, "x", "", t.X)
	fs.StringVar(&o.Y, "y", "", t.Y)
}

// Rules are what a command line must not have.
type Rules struct {
	Choose       string   // how benches are chosen, for an argument that is no flag
	OfSimulator  []string // flags that only -sim has
	NotOnJob     string   // why a job does not have these flags
	OfJob        []string // flags that -sim does not have
	NotSimulated string   // why -sim does not have these flags
}

// Parse reads args by fs. The error is flag.ErrHelp, or one line about a mistake.
func (o *Options) Parse(fs *flag.FlagSet, args []string, r Rules) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: %s", fs.Arg(0), r.Choose)
	}
	if o.List {
		return nil
	}
	var wrong error
	fs.Visit(func(f *flag.Flag) {
		switch {
		case !o.Simulated && slices.Contains(r.OfSimulator, f.Name):
			wrong = fmt.Errorf("-%s is for -sim: %s", f.Name, r.NotOnJob)
		case o.Simulated && slices.Contains(r.OfJob, f.Name):
			wrong = fmt.Errorf("-%s is not for -sim: %s", f.Name, r.NotSimulated)
		}
	})
	if o.Simulated && os.Getenv("PGAS_PE") != "" {
		wrong = errors.New("-sim simulates all PEs by itself: leave pgasrun away")
	}
	return wrong
}

// Check checks -jobs, -x and -y. axes are the parameters that an axis can have, and listed those that the error names.
func (o *Options) Check(axes, listed, metrics []string) error {
	switch {
	case o.Jobs < 1:
		return fmt.Errorf("-jobs %d: at least one point at a time", o.Jobs)
	case !slices.Contains(axes, o.X):
		return fmt.Errorf("-x %s: there are %s", o.X, strings.Join(listed, ", "))
	case !slices.Contains(metrics, o.Y):
		return fmt.Errorf("-y %s: there are %s", o.Y, strings.Join(metrics, ", "))
	}
	return nil
}

// Help returns what -h prints: usage, and then the flags.
func Help(usage string, fs *flag.FlagSet) string {
	var text strings.Builder
	fs.SetOutput(&text)
	fs.PrintDefaults()
	return usage + text.String()
}

// Or returns the values given, or the usual ones if none are given.
func Or[T any](given, usual []T) []T {
	if len(given) > 0 {
		return given
	}
	return usual
}

// PrintJSON prints v as one line.
func PrintJSON(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing a result: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
