package doctor

// The report for people: the problems with their remedies, a section a host, and a table of pairs.

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Print writes the report as text. It returns the error of w.
func (r *Report) Print(w io.Writer) error {
	t := &text{w: w}
	t.line("pgasrun doctor, gopgas %s", r.Gopgas)
	t.problems(r.Found)
	for _, h := range r.Hosts {
		t.host(h)
	}
	t.pairs(r.Pairs)
	if len(r.Job.Output) > 0 {
		t.line("\nthe job has printed")
	}
	for _, line := range r.Job.Output {
		t.line("  %s", line)
	}
	return t.err
}

// text is a writer that remembers its first error.
type text struct {
	w   io.Writer
	err error
}

func (t *text) Write(b []byte) (int, error) {
	if t.err == nil {
		_, t.err = t.w.Write(b)
	}
	return len(b), nil
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// marks begin the lines of checks, so that what is wrong is seen, and grep finds it.
var marks = map[State]string{OK: "    ", Note: "note", Problem: "BAD "}

func (t *text) host(h Host) {
	by := "by pgasrun, without a job"
	if h.PE >= 0 {
		by = fmt.Sprintf("by PE %d", h.PE)
	}
	t.line("\nhost %s (%s)", h.Name, by)
	width := 0
	for _, c := range h.Checks {
		width = max(width, len(c.Name))
	}
	for _, c := range h.Checks {
		t.line("  %s %-*s  %s", marks[c.State], width, c.Name, c.Value)
		if c.State == Note && c.Remedy != "" {
			t.line("  %s %-*s  -> %s", marks[OK], width, "", c.Remedy)
		}
	}
}

func (t *text) pairs(pairs []Pair) {
	if len(pairs) == 0 {
		return
	}
	t.line("\npairs of hosts: medians of 8-byte put and quiet, 8-byte get, half a ping-pong of signals, puts of 1 MiB;")
	t.line("the clock of the second host less that of the first")
	table := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  FROM\tTO\tLANES\tPUT\tGET\tSIGNAL\tMB/s\tCLOCK\tRMA\tATOMICS")
	for _, p := range pairs {
		if p.Problem != "" {
			fmt.Fprintf(table, "  %s\t%s\t%s\t-\t-\t-\t-\t-\t-\t-\n", p.FromHost, p.ToHost, lanes(p.Lanes))
			continue
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\t%s\t%s\n", p.FromHost, p.ToHost, lanes(p.Lanes),
			nanoseconds(p.PutNs), nanoseconds(p.GetNs), nanoseconds(p.SignalNs), p.PutMBs, offset(p),
			choose(p.Native, "native", "messages"), choose(p.NICAtomics, "nic", "cpu"))
	}
	table.Flush()
	t.reasons(pairs)
}

// reasons prints each reason once, with the pairs that it is about if not with all.
func (t *text) reasons(pairs []Pair) {
	for _, about := range []struct {
		what string
		why  func(Pair) string
	}{
		{"RMA", func(p Pair) string { return p.NativeWhy }},
		{"atomics", func(p Pair) string { return p.NICWhy }},
	} {
		var order []string
		of := map[string][]string{}
		for _, p := range pairs {
			why := about.why(p)
			if why == "" {
				continue
			}
			if of[why] == nil {
				order = append(order, why)
			}
			of[why] = append(of[why], p.FromHost+"-"+p.ToHost)
		}
		for _, why := range order {
			where := ""
			if len(order) > 1 {
				where = " (" + strings.Join(of[why], ", ") + ")"
			}
			t.line("  %s%s: %s", about.what, where, why)
		}
	}
}

func choose(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// lanes writes lanes as tcp/eth0, each once.
func lanes(all []Lane) string {
	var names []string
	seen := map[string]bool{}
	for _, l := range all {
		name := l.Transport + "/" + l.Device
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	if names == nil {
		return "-"
	}
	return strings.Join(names, ",")
}

func nanoseconds(ns float64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.1f us", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

func offset(p Pair) string {
	return fmt.Sprintf("%+.1f±%.1f us", float64(p.OffsetNs)/1e3, float64(p.ErrorNs)/1e3)
}

func (t *text) problems(found []Found) {
	if len(found) == 0 {
		t.line("\nno problems")
		return
	}
	t.line("\nproblems")
	for _, f := range found {
		t.line("  %s: %s", f.Where, f.What)
		t.line("    -> %s", f.Remedy)
	}
}
