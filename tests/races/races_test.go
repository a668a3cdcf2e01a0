// Package races holds docs/use/races.md, which says which conflicts between PEs the race detector reports: each row of
// its tables is a scenario of the program in the folder program, and is run.
//
// The program is built once, with the race detector, and runs all scenarios several times: on the fast path, and with
// checks, for which each access goes through a transport; on two processors and on one. A row says one of
//
//	reported      each run is reported, with the lines of both accesses, and nothing else is
//	right         the program is right, and no run is reported
//	not reported  the program is wrong, and no run is reported; the row says why
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

// rowsOf returns the rows of all tables of the page whose third cell is a verdict.
func rowsOf(page string) (rows []row, err error) {
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) < 3 || !slices.Contains([]string{"reported", "right", "not reported"}, cells[2]) {
			continue
		}
		r := row{name: cells[0] + " | " + cells[1], verdict: cells[2]}
		if len(cells) > 3 {
			r.because = cells[3]
		}
		if r.verdict == "not reported" && r.because == "" {
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
	if verdict != "reported" {
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

// ways are how the program is run, and how often each scenario.
var ways = []struct {
	name       string
	args       []string
	processors string
	times      int
}{
	{"fast path", []string{"-runs=2"}, "2", 2},
	{"checked", []string{"-check"}, "1", 1},
}

func TestRaces(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program with the race detector")
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) == "0" {
		t.Skip("the race detector needs cgo")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := rowsOf(string(text))
	if err != nil {
		t.Fatal(err)
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := built.Raced(root, "./tests/races/program", program); err != nil {
		t.Fatal(err)
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			compare(t, rows, play(t, program, way.processors, way.args...), way.times)
		})
	}
}

// play runs the program and returns its runs.
func play(t *testing.T, program, processors string, args ...string) []run {
	t.Helper()
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	// Each run is to be reported, though others had the same stacks, or the same addresses.
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+processors,
		"GORACE=exitcode=0 atexit_sleep_ms=0 suppress_equal_stacks=0 suppress_equal_addresses=0")
	output, err := cmd.CombinedOutput()
	runs, ended := runsOf(string(output))
	if err != nil || !ended {
		t.Fatalf("%v\n%s", err, output[max(0, len(output)-10_000):])
	}
	return runs
}

// compare fails unless each row was run so often and as it says, and nothing else was run.
func compare(t *testing.T, rows []row, runs []run, times int) {
	of := map[string][]run{}
	for _, r := range runs {
		of[r.name] = append(of[r.name], r)
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if len(of[row.name]) != times {
				t.Errorf("the page has a row %q, which was run %d times, want %d: the program is to have a scenario of this name", row.name, len(of[row.name]), times)
			}
			for _, r := range of[row.name] {
				if m := r.mistake(row.verdict); m != "" {
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
