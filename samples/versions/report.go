package versions

// What is printed: a table for each number of PEs, or lines of JSON.

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// A result is the result of a mode, as -json prints it.
type result struct {
	Bench     string  `json:"bench"`
	Mode      string  `json:"mode"`
	Bytes     int     `json:"bytes"`
	PEs       int     `json:"pes"`
	Transport string  `json:"transport"`
	P50ns     float64 `json:"p50_ns"`
	Rate      float64 `json:"rate,omitempty"`
	Unit      string  `json:"unit,omitempty"`
	Ratio     float64 `json:"times_as_fast,omitempty"` // as the first mode, if that was measured
}

func newResult(p *Program, m Mode, npes int, took []time.Duration) result {
	r := result{Bench: p.Name, Mode: m.Name, Bytes: p.Bytes(npes), PEs: npes, P50ns: float64(median(took).Nanoseconds())}
	if p.Work != nil && r.P50ns > 0 {
		r.Rate, r.Unit = p.Work(npes)/r.P50ns, p.Unit
	}
	return r
}

// report prints the results of all modes with one number of PEs.
func (p *Program) report(out io.Writer, o *options, where string, results []result) error {
	if first := results[0]; first.Mode == p.Modes[0].Name {
		for i := range results {
			if results[i].P50ns > 0 {
				results[i].Ratio = first.P50ns / results[i].P50ns
			}
		}
	}
	if o.json {
		to := json.NewEncoder(out)
		for _, r := range results {
			if err := to.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := fmt.Fprintf(out, "%s on %s\n", p.About(results[0].PEs), where); err != nil {
		return err
	}
	return p.table(out, results)
}

func (p *Program) table(out io.Writer, results []result) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range results {
		fmt.Fprintf(t, "\t%s\t%.3f µs", r.Mode, r.P50ns/1e3)
		if r.Unit != "" {
			fmt.Fprintf(t, "\t%.3f %s", r.Rate, r.Unit)
		}
		fmt.Fprint(t, "\t")
		if r.Ratio != 0 && r.Mode != p.Modes[0].Name {
			fmt.Fprintf(t, " %5.2f times as fast", r.Ratio)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
