package dsmbench

// What simulations print: a table, a line for each point, or one JSON object a line.

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
)

// output prints results and collects them for the plot.
type output struct {
	w       io.Writer
	o       *Options
	results []outcome
}

func newOutput(o *Options, w io.Writer) *output { return &output{w: w, o: o} }

// inOrder prints each result when those before it have come.
func (out *output) inOrder(ctx context.Context, done []chan outcome) error {
	for i := range done {
		select {
		case r := <-done[i]:
			if err := out.add(r); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (out *output) add(r outcome) error {
	out.results = append(out.results, r)
	if out.o.JSON {
		return sweep.PrintJSON(out.w, r)
	}
	if len(out.results) == 1 {
		if _, err := fmt.Fprintf(out.w, "simulated: costs of %s, seed %d; a PE stands for %d workers; counts of all PEs in one step\n", r.Costs+r.Vary, r.Seed, workersOfPE); err != nil {
			return err
		}
		if err := out.line("bench", "protocol", "notices", "lease", "fault", "nodes", "pes", "step", "program s", "speedup", "fast rd", "slow rd", "fetched MB", "fast rel", "moves"); err != nil {
			return err
		}
	}
	count := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	var cells []string
	for _, p := range parameters {
		cells = append(cells, p.text(r.point))
	}
	return out.line(append(cells, r.Step.Round(time.Microsecond).String(), fmt.Sprintf("%.2f", r.Program), fmt.Sprintf("%.1f", r.Speedup),
		count(r.FastReads), count(r.SlowReads), fmt.Sprintf("%.1f", r.Fetched/1e6), count(r.FastReleases), count(r.Moves))...)
}

// line prints cells in columns: two of words on the left, numbers on the right.
func (out *output) line(cells ...string) error {
	var text strings.Builder
	for i, c := range cells {
		switch {
		case i < 2:
			fmt.Fprintf(&text, "%-17s", c)
		case i < len(parameters):
			fmt.Fprintf(&text, "%8s", c)
		default:
			fmt.Fprintf(&text, "%13s", c)
		}
	}
	_, err := fmt.Fprintln(out.w, text.String())
	return err
}

// close draws the plot.
func (out *output) close() error {
	if out.o.Plot == "" || len(out.results) < len(out.o.points) {
		return nil
	}
	return drawPlot(out.o, out.results)
}
