package corpus

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/tests/races/corpus/testdata/programs"
)

// tally is a row of the table: the programs of a theme.
type tally struct{ wrong, lines, otherwise, missed, right, reported int }

// table returns what a detector has found, by theme, and the programs that are not as they should be.
func table(outcomes map[string]*outcome) string {
	var text, odd strings.Builder
	rows, themes := map[string]*tally{}, []string{}
	for _, p := range programs.Programs() {
		o := outcomes[p.String()]
		if o == nil {
			continue
		}
		row := rows[p.Theme]
		if row == nil {
			row = new(tally)
			rows[p.Theme], themes = row, append(themes, p.Theme)
		}
		row.add(p, o)
		if bad := p.Right && o.lines+o.otherwise > 0 || !p.Right && o.lines < o.runs; bad {
			slices.Sort(o.others)
			fmt.Fprintf(&odd, "%-45s %d runs: %d lines, %d otherwise, %d nothing %.200s\n", p, o.runs, o.lines, o.otherwise,
				o.runs-o.lines-o.otherwise, strings.Join(slices.Compact(o.others), " | "))
		}
	}
	fmt.Fprintf(&text, "%-12s %6s %11s %10s %7s %6s %6s\n", "theme", "wrong", "both lines", "otherwise", "missed", "right", "false")
	rows["all"] = new(tally)
	for _, theme := range append(themes, "all") {
		r := rows[theme]
		fmt.Fprintf(&text, "%-12s %6d %11d %10d %7d %6d %6d\n", theme, r.wrong, r.lines, r.otherwise, r.missed, r.right, r.reported)
		rows["all"].sum(r)
	}
	if os.Getenv("CORPUS_ODD") != "" {
		return text.String() + odd.String()
	}
	return text.String()
}

func (r *tally) add(p programs.Program, o *outcome) {
	switch {
	case p.Right:
		r.right++
		if o.lines+o.otherwise > 0 {
			r.reported++
		}
		return
	case o.lines > 0:
		r.lines++
	case o.otherwise > 0:
		r.otherwise++
	default:
		r.missed++
	}
	r.wrong++
}

func (r *tally) sum(o *tally) {
	*r = tally{r.wrong + o.wrong, r.lines + o.lines, r.otherwise + o.otherwise, r.missed + o.missed, r.right + o.right, r.reported + o.reported}
}

// TestMeasure prints the table of the detector that CORPUS_MEASURE names.
func TestMeasure(t *testing.T) {
	name := os.Getenv("CORPUS_MEASURE")
	if name == "" {
		t.Skip("CORPUS_MEASURE names no detector")
	}
	if name == "pgasvet" {
		t.Logf("pgasvet\n%s", table(vetOutcomes(t)))
		return
	}
	binary := os.Args[0]
	if name == "checked/gets" {
		name, binary = "checked", loadsAsGets(t)
	}
	runs := 1
	fmt.Sscan(os.Getenv("CORPUS_RUNS"), &runs)
	t.Logf("%s, %d runs each\n%s", name, runs, table(judgeIn(t, binary, name, os.Getenv("CORPUS_PROGRAMS"), runs)))
}
