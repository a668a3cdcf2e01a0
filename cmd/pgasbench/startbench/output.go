package startbench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

func printTable(w io.Writer, all []result, connect bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "PEs\thosts\tready ms\tbarrier ms\t"
	if connect {
		head += "connected ms\t"
	}
	fmt.Fprintln(t, head+"ended ms\tCPU ms\tCPU ms/PE\tMiB/PE\tof its own\tfiles\tthreads\t")
	for _, r := range all {
		fmt.Fprintf(t, "%d\t%d\t%.0f\t%.0f\t", r.PEs, r.Hosts, r.Ready, r.Together)
		if connect {
			fmt.Fprintf(t, "%.0f\t", r.Connected)
		}
		fmt.Fprintf(t, "%.0f\t%.0f\t%.1f\t%.2f\t%.2f\t%.0f\t%.1f\t\n", r.Ended, r.CPU, r.CPU/float64(r.PEs), r.Share, r.Own, r.Files, r.Threads)
	}
	return t.Flush()
}

// modelled are the costs that have a formula.
var modelled = []struct {
	name, unit string
	terms      []term
	of         func(result) float64
}{
	{"CPU time of the job", "ms", jobTerms, func(r result) float64 { return r.CPU }},
	{"memory of a PE", "MiB", peTerms, func(r result) float64 { return r.Share }},
	{"descriptors of a PE", "", peTerms, func(r result) float64 { return r.Files }},
}

// printModel prints the formula of each cost, and what it says of larger jobs.
func (o *Options) printModel(w io.Writer, all []result) error {
	var sizes []size
	for _, r := range all {
		sizes = append(sizes, size{r.PEs, r.Hosts})
	}
	for _, m := range modelled {
		var costs []float64
		for _, r := range all {
			costs = append(costs, m.of(r))
		}
		f, worst, err := fit(sizes, costs, m.terms)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s: %s; at most %.0f %% off the measured ones\n", m.name, f.text(m.unit), 100*worst)
		for _, pes := range o.model {
			s := size{pes, max(1, pes/o.perHost)}
			fmt.Fprintf(w, "  %d PEs on %d hosts: %.4g %s\n", s.PEs, s.Hosts, f.at(s), m.unit)
		}
	}
	return nil
}

// text returns the formula in words.
func (f formula) text(unit string) string {
	var parts []string
	for i, c := range f.each {
		if c > 0 {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%.3g %s", c, unit))+" for "+f.terms[i].name)
		}
	}
	return strings.Join(parts, ", ")
}
