// Package races holds docs/use/races.md, which says which conflicts between PEs the race detector reports: each row of
// its tables is a scenario of the program in the folder program, and is run.
//
// The program is built once, with the race detector, and runs all scenarios several times: as programs run under
// pgastest, with checks, and with PGAS_RACE=plain; on one, two and four processors. A row says one of
//
//	reported              each run is reported, with the lines of both accesses, and nothing else is
//	reported (not plain)  the same, but no run with PGAS_RACE=plain is reported
//	right                 the program is right, and no run is reported
//	not reported          the program is wrong, and no run is reported; the row says why
//
//ci:waits
package races

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/tests/built"
)

const page = "../../docs/use/races.md"

// A row is a row of a table: a scenario, and what is said of it.
type row struct {
	name    string // the first two cells
	verdict string
	because string // the fourth cell, or ""
}

// The verdicts of rows.
const (
	reported    = "reported"
	notPlain    = "reported (not plain)"
	right       = "right"
	notReported = "not reported"
)

var verdicts = []string{reported, notPlain, right, notReported}

// rowsOf returns the rows of all tables of the page whose third cell is a verdict.
func rowsOf(page string) (rows []row, err error) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) < 3 || !slices.Contains(verdicts, cells[2]) {
			continue
		}
		r := row{name: cells[0] + " | " + cells[1], verdict: cells[2]}
		if len(cells) > 3 {
			r.because = cells[3]
		}
		if r.verdict == notReported && r.because == "" {
			return nil, fmt.Errorf("the row %q does not say why it is not reported", r.name)
		}
		if slices.ContainsFunc(rows, func(other row) bool { return other.name == r.name }) {
			return nil, fmt.Errorf("there are two rows %q", r.name)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// A run is one run of a scenario.
type run struct {
	name        string
	first, then string // file:line of the two accesses
	reports     []string
}

// runsOf returns the runs in the output of the program, which its package comment describes.
func runsOf(output string) (runs []run, ended bool) {
	for _, part := range strings.Split("\n"+output, "\n=== ")[1:] {
		head, rest, _ := strings.Cut(part, "\n")
		if head == "end" {
			return runs, true
		}
		names := strings.Split(head, "\t")
		r := run{name: names[0], first: names[1], then: names[2]}
		r.reports = strings.Split(rest, "WARNING: DATA RACE\n")[1:]
		runs = append(runs, r)
	}
	return runs, false
}

// aFrame is the line of a report that has the place of a function of the program.
var aFrame = regexp.MustCompile(`/tests/races/program/(\w+\.go:\d+) `)

// mistake returns what is wrong with the reports of a run if the page has that verdict for it, or "".
func (r run) mistake(verdict string) string {
	if verdict != reported {
		if len(r.reports) > 0 {
			return "it is reported:\n" + r.reports[0]
		}
		return ""
	}
	if len(r.reports) == 0 {
		return "it is not reported"
	}
	for _, report := range r.reports {
		access, previous, _ := strings.Cut(report, "\nPrevious ")
		previous, _, _ = strings.Cut(previous, "\n\n")
		if !passes(access, r.then) || !passes(previous, r.first) {
			return fmt.Sprintf("a report does not name %s and %s:\n%s", r.first, r.then, report)
		}
	}
	return ""
}

// passes reports whether a stack of a report has the place in it.
func passes(stack, place string) bool {
	return slices.ContainsFunc(aFrame.FindAllStringSubmatch(stack, -1), func(m []string) bool { return m[1] == place })
}

// A way is how the program is run, and how often each scenario.
type way struct {
	name       string
	processors string
	args       []string
	plain      bool // with PGAS_RACE=plain
	times      int
}

var ways = []way{
	{name: "default", processors: "2", args: []string{"-runs=2"}, times: 2},
	{name: "checked", processors: "1", args: []string{"-check"}, times: 1},
	{name: "plain", processors: "4", plain: true, times: 1},
	{name: "plain and checked", processors: "2", args: []string{"-check"}, plain: true, times: 1},
}

// TestRaces runs each scenario in each way.
func TestRaces(t *testing.T) { runWays(t, ways) }

// TestRacesOften runs each scenario so often that a report which does not always come is missed.
func TestRacesOften(t *testing.T) {
	if !*long {
		t.Skip("-long runs each scenario 60 times")
	}
	var often []way
	for _, processors := range []string{"1", "2", "4"} {
		often = append(often, way{name: processors + " processors", processors: processors, args: []string{"-runs=20"}, times: 20})
	}
	runWays(t, often)
}

func runWays(t *testing.T, ways []way) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program with the race detector")
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) == "0" {
		t.Skip("the race detector needs cgo")
	}
	rows, program := build(t, "-race")
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			way.compare(t, rows, way.play(t, program))
		})
	}
}

// build returns the rows of the page and the program, which it builds with further flags of go build.
func build(t *testing.T, flags ...string) (rows []row, program string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = rowsOf(string(text)); err != nil {
		t.Fatal(err)
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "program")
	if err := built.Program(root, "./tests/races/program", program, flags...); err != nil {
		t.Fatal(err)
	}
	return rows, program
}

// play runs the program and returns its runs.
func (w way) play(t *testing.T, program string) []run {
	t.Helper()
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, w.args...)
	// Each run is to be reported, though others had the same stacks, or the same addresses.
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+w.processors,
		"GORACE=exitcode=0 atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0", "PGAS_RACE=")
	if w.plain {
		cmd.Env = append(cmd.Env, "PGAS_RACE=plain")
	}
	output, err := cmd.CombinedOutput()
	runs, ended := runsOf(string(output))
	if err != nil || !ended {
		t.Fatalf("%v\n%s", err, output[max(0, len(output)-10_000):])
	}
	return runs
}

// verdict returns what a row says of runs in this way.
func (w way) verdict(r row) string {
	switch {
	case r.verdict == notPlain && w.plain:
		return notReported
	case r.verdict == notPlain:
		return reported
	}
	return r.verdict
}

// compare fails unless each row was run as often as it is to be, and as it says, and nothing else was run.
func (w way) compare(t *testing.T, rows []row, runs []run) {
	of := map[string][]run{}
	for _, r := range runs {
		of[r.name] = append(of[r.name], r)
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if len(of[row.name]) != w.times {
				t.Errorf("the page has a row %q, which was run %d times, want %d: the program is to have a scenario of this name", row.name, len(of[row.name]), w.times)
			}
			for _, r := range of[row.name] {
				if m := r.mistake(w.verdict(row)); m != "" {
					t.Errorf("the page says %q, but %s", row.verdict, m)
				}
			}
		})
		delete(of, row.name)
	}
	for name := range of {
		t.Errorf("the program has a scenario %q, of which the page has no row", name)
	}
}

// TestRowsFindFaults: a page and reports that are wrong are found.
func TestRowsFindFaults(t *testing.T) {
	for page, want := range map[string]string{
		"| put | get | not reported | |":               "does not say why",
		"| put | get | right |\n| put | get | right |": "two rows",
	} {
		if _, err := rowsOf(page); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", page, err, want)
		}
	}
	rows, err := rowsOf("| put | get | reported |\n|---|---|---|\n| put | put | not reported | it is so |\n| put | twice |")
	if err != nil || !slices.Equal(rows, []row{{"put | get", "reported", ""}, {"put | put", "not reported", "it is so"}}) {
		t.Errorf("rows %v, %v", rows, err)
	}

	const report = "=== put | get\ta.go:1\ta.go:2\n" +
		"WARNING: DATA RACE\nRead at 0x1 by goroutine 2:\n  main.f()\n      /x/tests/races/program/a.go:2 +0x1\n\n" +
		"Previous write at 0x1 by goroutine 1:\n  main.g()\n      /x/tests/races/program/a.go:1 +0x1\n\n" +
		"Goroutine 2 created at:\n  main.h()\n      /x/tests/races/program/a.go:3 +0x1\n=== end\n"
	for text, want := range map[string]string{
		report: "",
		strings.Replace(report, "a.go:1 ", "a.go:3 ", 1): "does not name",
		strings.Replace(report, "a.go:2 ", "a.go:1 ", 1): "does not name",
		"=== put | get\ta.go:1\ta.go:2\n=== end\n":       "it is not reported",
	} {
		runs, ended := runsOf(text)
		if !ended || len(runs) != 1 {
			t.Fatalf("%d runs in %q", len(runs), text)
		}
		if got := runs[0].mistake("reported"); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	runs, _ := runsOf(report)
	if runs[0].mistake("right") == "" {
		t.Error("a report of a program that is right is not found")
	}
}
