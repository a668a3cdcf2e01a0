package growth

// The page: what was measured, plots, and what grows faster than log P.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopgas/gopgas/cmd/pgasbench/lists"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

const (
	page = "performance.md"

	columns = 120           // the columns of the page's prose
	folder  = "performance" // the folder of the plots and the results, beside the page
)

// A finding is a cost that grows faster than log P.
type finding struct {
	curve
	what   cost
	points []xy
	reason string
	known  bool // whether the reason explains all of it
}

// against names what is along.
func (f finding) against() string {
	if f.spread != "" {
		return "simulated hosts"
	}
	return string(f.axis)
}

func (f finding) operation() string {
	name := f.bench
	if f.bytes > 8 {
		name += ", " + lists.SizeLabel(f.bytes)
	}
	if f.spread != "" {
		name += ", 16 PEs a host"
	}
	return name
}

func (f finding) String() string {
	return fmt.Sprintf("%s of %s against %s, as P^%.2f", f.what, f.operation(), f.against(), exponent(f.points))
}

// curves returns all curves of ours that have PEs or hosts along.
func (r *results) curves(all []job) (found []curve) {
	seen := map[curve]bool{}
	for _, j := range all {
		if j.axis == againstBytes || j.side != ours {
			continue
		}
		for _, one := range r.records[j.name()].Results {
			c := curve{axis: j.axis, side: ours, spread: j.spread, bench: one.Bench, bytes: max(one.Bytes, 8)}
			if one.Bytes == 0 {
				c.bytes = 8
			}
			if !seen[c] {
				seen[c] = true
				found = append(found, c)
			}
		}
	}
	return found
}

// findings returns what grows faster than log P.
func (r *results) findings(all []job) (found []finding) {
	for _, c := range r.curves(all) {
		for _, what := range allCosts {
			points := c.judged(r.series(all, c, what), r.about.CPUs)
			if from, faster := fasterThanLog(points); faster {
				points = points[from:]
				why, known := reasonFor(c.bench, c.axis, what, exponent(points))
				found = append(found, finding{c, what, points, why, known})
			}
		}
	}
	return found
}

// write writes the page and its plots, and returns what grows without a known reason.
func (r *results) write(dir string, all []job) (unknown []string, err error) {
	plots, err := r.plots(filepath.Join(dir, folder), all)
	if err != nil {
		return nil, err
	}
	text, unknown := r.text(all, plots)
	return unknown, os.WriteFile(filepath.Join(dir, page), []byte(text), 0o644)
}

// text returns the page.
func (r *results) text(all []job, plots []plotFile) (text string, unknown []string) {
	var b strings.Builder
	a := r.about
	fmt.Fprintf(&b, `# How cost grows

`+"`pgasbench growth -o docs/figures`"+` draws this page and its plots from the results of one run,
[growth.jsonl](%s/growth.jsonl): commit %s, %s; %s; the peer is OSHMEM of %s.
[pgasbench](../use/pgasbench.md#how-cost-grows) says how to make it anew. Times are medians of one operation.
Absolute times hold on that machine alone. What counts is how a curve runs, and how far above its floor.

With more PEs than CPUs the curves also measure the scheduler. This machine can show no more of so many real PEs; the
simulated ones show the rest.

`, folder, a.Commit, a.Date, a.Machine, a.Peer)
	if a.Short {
		b.WriteString("**The run was made with -short: its figures mean nothing.**\n\n")
	}
	r.floorText(&b, all)
	for _, p := range plots {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n![%s](%s/%s)\n\n", p.title, p.says, p.title, folder, p.name)
		b.WriteString(r.table(all, p))
	}
	unknown = r.findingsText(&b, all)
	r.failuresText(&b, all)
	return wrapped(b.String()), unknown
}

// wrapped returns text with its lines of prose, but not its rows of tables, broken at columns.
func wrapped(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for room := columns; len(line) > room && !strings.HasPrefix(line, "|"); {
			at := strings.LastIndexByte(line[:room+1], ' ')
			if at < 0 {
				break
			}
			b.WriteString(line[:at] + "\n")
			line = line[at+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// floorText says what the floor of the machine was.
func (r *results) floorText(b *strings.Builder, all []job) {
	b.WriteString("| floor | |\n|---|---|\n")
	for _, f := range []struct {
		bench, says string
		bytes       int
	}{
		{"locked-add", "one locked instruction", 8}, {"cache-line", "one trip of a cache line", 8}, {"yield", "one hand-over of a CPU", 8},
		{"copy", "copy of 512 B", 512}, {"hosts-roundtrip", "TCP round trip between two hosts", 8},
	} {
		if ns := r.floorFigure(all, f.bench, f.bytes); ns > 0 {
			fmt.Fprintf(b, "| %s | %s |\n", f.says, result.Duration(ns))
		}
	}
	b.WriteString("\n")
}

// table returns our figures of a plot along PEs or hosts: times, and as multiples of the floor where there is one, or
// the plot's other costs.
func (r *results) table(all []job, p plotFile) string {
	if p.axis == againstBytes {
		return ""
	}
	costs := p.costs
	if costs == nil {
		costs = []cost{ofTime}
	}
	var xs []float64
	for _, what := range costs {
		for _, c := range p.curves {
			points := r.series(all, c, what)
			if len(points) > len(xs) {
				xs = nil
				for _, q := range points {
					xs = append(xs, q.x)
				}
			}
		}
	}
	head, rule, rows := "| "+string(p.axis), "|---", ""
	for _, x := range xs {
		head += fmt.Sprintf(" | %.0f", x)
		rule += "|---"
	}
	for _, what := range costs {
		for _, c := range p.curves {
			rows += r.tableRow(all, c, what, xs)
		}
	}
	return head + " |\n" + rule + "|\n" + rows + "\n"
}

// tableRow returns the row of a curve, or nothing if no figure is known.
func (r *results) tableRow(all []job, c curve, what cost, xs []float64) string {
	points := r.series(all, c, what)
	if len(points) == 0 {
		return ""
	}
	var floor []xy
	name := finding{curve: c}.operation()
	if what != ofTime {
		name += ", " + string(what)
	} else if c.axis != againstSimulated {
		floor, _ = r.floorSeries(all, c, points)
	}
	row := "| " + name
	for _, x := range xs {
		row += " | " + cell(points, floor, x, what)
	}
	return row + " |\n"
}

// cell writes the cost at x, and in brackets how many times the floor that is.
func cell(points, floor []xy, x float64, what cost) string {
	for _, p := range points {
		if p.x != x {
			continue
		}
		text := what.write(p.y)
		for _, f := range floor {
			if f.x == x {
				text += fmt.Sprintf(" (%.1f)", p.y/f.y)
			}
		}
		return text
	}
	return "–"
}

// findingsText names what grows faster than log P, and returns what has no reason.
func (r *results) findingsText(b *strings.Builder, all []job) (unknown []string) {
	fmt.Fprintf(b, `## What grows faster than log P

A cost is named here if it grows more than %.1f times as much as the logarithm of P does, from the first figure to the last
or from the middle one. P is the number of PEs or hosts. Of real PEs or hosts it takes the numbers greater than the
number of CPUs, because sharing CPUs is a step. With 16 simulated PEs on each host it is the number of hosts if there are
several. CPU time and bytes are of one PE or host where all take part.

A reason explains growth up to a power of P. Where the cost grows faster, or nothing is known, the table says so.

`, slack)
	found := r.findings(all)
	if len(found) == 0 {
		b.WriteString("Nothing does.\n\n")
		return nil
	}
	b.WriteString("| operation | against | cost | grows as | from–to | reason |\n|---|---|---|---|---|---|\n")
	for _, f := range found {
		text := f.reason
		switch {
		case text == "":
			text = "**no reason is known**"
		case !f.known:
			text += "; **no reason is known** why it grows so fast"
		}
		if !f.known {
			unknown = append(unknown, f.String())
		}
		first, last := f.points[0], f.points[len(f.points)-1]
		fmt.Fprintf(b, "| %s | %s | %s | P^%.2f | %s at %.0f, %s at %.0f | %s |\n", f.operation(), f.against(), f.what, exponent(f.points),
			f.what.write(first.y), first.x, f.what.write(last.y), last.x, text)
	}
	fmt.Fprintf(b, "\nAll other costs of the %d curves against PEs and hosts stay within it.\n\n", len(r.curves(all)))
	return unknown
}

// write writes a value of the cost.
func (c cost) write(v float64) string {
	switch c {
	case ofWire:
		return fmt.Sprintf("%.0f B", v)
	case ofMemory:
		return fmt.Sprintf("%.0f kB", v)
	}
	return result.Duration(v)
}

// failuresText names jobs without figures.
func (r *results) failuresText(b *strings.Builder, all []job) {
	head := "## What could not be measured\n\n"
	for _, j := range all {
		if why := r.records[j.name()].Failed; why != "" {
			fmt.Fprintf(b, "%s- %s: %s\n", head, j.name(), strings.TrimSpace(why))
			head = ""
		}
	}
}
