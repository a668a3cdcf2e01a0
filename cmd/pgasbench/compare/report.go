package compare

// Judging and printing.

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// judge makes the verdict on r.
func judge(r row, f *figures) verdict {
	v := verdict{Row: r.group + ": " + r.name, Goal: r.goal, Unit: r.kind.unit(), Reached: "?"}
	v.compareWithFloor(r, f)
	var ours, theirs, ratios []float64
	for _, round := range f.rounds {
		if v.Why = r.disagreement(round); v.Why != "" {
			return v
		}
		a, b := r.kind.of(round[r.ours]), 0.0
		for _, p := range r.theirs {
			if x := r.kind.of(round[p]); x > 0 && (b == 0 || x < b) {
				b = x
			}
		}
		if a > 0 && b > 0 {
			ours, theirs, ratios = append(ours, a), append(theirs, b), append(ratios, b/a)
		}
	}
	if len(ratios) == 0 {
		v.Why = f.why(r)
		return v
	}
	v.Ours, v.Theirs, v.Ratio = result.Median(ours), result.Median(theirs), result.Median(ratios)
	v.Least, v.Most, v.Rounds = slices.Min(ratios), slices.Max(ratios), len(ratios)
	v.settle(r.least, ratios)
	return v
}

// disagreement says what the two sides of r have computed in a round if that is not the same.
func (r row) disagreement(round map[point]result.Result) string {
	ours := round[r.ours].Computed
	for _, p := range r.theirs {
		if theirs := round[p].Computed; ours != "" && theirs != "" && ours != theirs {
			return fmt.Sprintf("ours has computed %q, and theirs %q", ours, theirs)
		}
	}
	return ""
}

// compareWithFloor says how many times the floor ours is, in rounds that have both.
func (v *verdict) compareWithFloor(r row, f *figures) {
	parts := r.floor(f.cpus)
	var multiples, floors []float64
	for i, round := range f.rounds {
		ours, floor := r.kind.of(round[r.ours]), f.sum(parts, i)
		if ours > 0 && floor > 0 {
			multiples, floors = append(multiples, ours/floor), append(floors, floor)
		}
	}
	if len(multiples) > 0 {
		v.Multiple, v.FloorNs, v.Floor, v.parts = result.Median(multiples), result.Median(floors), inWords(parts), parts
	}
}

// settle compares the ratios with the goal.
func (v *verdict) settle(least float64, ratios []float64) {
	v.Reached = "-"
	if least == 0 {
		return
	}
	for _, x := range ratios {
		if x >= least {
			v.Met++
		}
	}
	v.Reached = "no"
	if v.Ratio >= least {
		v.Reached = "yes"
	}
}

// why names what kept a row from being measured.
func (f *figures) why(r row) string {
	for _, p := range append([]point{r.ours}, r.theirs...) {
		if err := f.failed[p.suite]; err != nil {
			return err.Error()
		}
	}
	return "not measured in one round on both sides"
}

// format is how a report is printed.
type format uint8

const (
	asTable format = iota
	asJSON
	asMarkdown
)

func report(w io.Writer, wanted []row, f *figures, how format) error {
	verdicts := make([]verdict, len(wanted))
	for i, r := range wanted {
		verdicts[i] = judge(r, f)
	}
	switch how {
	case asJSON:
		return reportJSON(w, append(append(verdicts, f.floorVerdicts()...), f.releasesRow()))
	case asMarkdown:
		return reportMarkdown(w, wanted, verdicts, f)
	}
	return reportTable(w, wanted, verdicts, f)
}

// steady is how far the ratios of a row's rounds may lie apart in a page.
const steady = 3

// reportMarkdown prints ratios first: they are what stays of a figure on another machine. Ratios below 1 are in bold.
// It leaves out rows without figures, and rows whose rounds do not agree: what these measured is what else ran.
func reportMarkdown(w io.Writer, wanted []row, verdicts []verdict, f *figures) error {
	text, unsteady := "| | ratio | of the rounds | ours | theirs | ours in the floor's |\n|---|---|---|---|---|---|\n", ""
	for i, v := range verdicts {
		switch {
		case v.Rounds == 0:
			continue
		case v.Most > steady*v.Least:
			unsteady += "; " + v.Row
			continue
		}
		ratio, k := times(v.Ratio), wanted[i].kind
		if v.Ratio < 1 {
			ratio = "**" + ratio + "**"
		}
		text += fmt.Sprintf("| %s | %s | %s–%s | %s | %s | %s |\n", v.Row, ratio, times(v.Least), times(v.Most), k.write(v.Ours), k.write(v.Theirs), multipleOf(v.Multiple, v.parts))
	}
	if unsteady != "" {
		unsteady = fmt.Sprintf("Left out, because the ratios of their rounds differ by more than a factor of %d: %s.\n", steady, unsteady[2:])
	}
	_, err := fmt.Fprintf(w, "%s\n%s%s%s%s", text, f.releasesUsed(), f.floor(), f.caution(), unsteady)
	return err
}

func reportJSON(w io.Writer, verdicts []verdict) error {
	e := json.NewEncoder(w)
	for _, v := range verdicts {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

var heads = []string{"", "ours", "theirs", "ratio", "from–to", "of the floor", "goal", "reached"}

func reportTable(w io.Writer, wanted []row, verdicts []verdict, f *figures) error {
	lines := [][]string{heads}
	group := ""
	for i, r := range wanted {
		if r.group != group {
			group = r.group
			lines = append(lines, []string{group})
		}
		lines = append(lines, cells(r, verdicts[i]))
	}
	if err := writeAligned(w, lines); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nRatios say how many times better ours is: medians of %d rounds in one run. Times are medians;\nof the floor: ours as a multiple of what the machine needs at least.\n%s%s%s", len(f.rounds), f.releasesUsed(), f.floor(), f.caution())
	return err
}

// caution is a sentence about a machine that others were using.
func (f *figures) caution() string {
	if len(f.busy) == 0 || slices.Max(f.busy) < busyAbove {
		return ""
	}
	return fmt.Sprintf("Others took up to %.0f %% of this machine meanwhile: rows in which a PE waits mean little.\n", 100*slices.Max(f.busy))
}

func cells(r row, v verdict) []string {
	if v.Reached == "?" {
		return []string{"  " + r.name, "", "", "", "", multipleOf(v.Multiple, v.parts), v.Goal, "? " + v.Why}
	}
	reached := v.Reached
	if reached != "-" {
		reached += fmt.Sprintf(" (%d of %d rounds)", v.Met, v.Rounds)
	}
	return []string{
		"  " + r.name, r.kind.write(v.Ours), r.kind.write(v.Theirs), times(v.Ratio),
		times(v.Least) + "–" + times(v.Most), multipleOf(v.Multiple, v.parts), v.Goal, reached,
	}
}

func times(x float64) string {
	if x < 10 {
		return strconv.FormatFloat(x, 'f', 2, 64) + "x"
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + "x"
}

// writeAligned prints columns: the first and the last three to the left, numbers to the right.
func writeAligned(w io.Writer, lines [][]string) error {
	widths := make([]int, len(heads))
	for _, line := range lines {
		for i, cell := range line {
			if i < len(heads)-1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			gap := widths[i] - utf8.RuneCountInString(cell)
			switch {
			case i == len(line)-1:
				text += cell
			case i == 0 || i >= len(heads)-3:
				text += cell + spaces(gap+2)
			default:
				text += spaces(gap) + cell + "  "
			}
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

func spaces(n int) string { return fmt.Sprintf("%*s", max(n, 0), "") }

func listRows(w io.Writer, wanted []row) {
	for _, r := range wanted {
		goal := r.goal
		if goal == "" {
			goal = "-"
		}
		fmt.Fprintf(w, "%-70s %s\n", r.group+": "+r.name, goal)
	}
}
