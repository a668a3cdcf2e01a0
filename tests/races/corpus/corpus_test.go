// Package corpus runs small programs, of which half are wrong, under the detectors of races.
//
//ci:race
package corpus

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/tests/races/corpus/testdata/programs"
)

// The variables that make this test binary run programs, and write what they say to standard error.
const (
	envDetector = "CORPUS_DETECTOR" // one of the detectors below
	envRuns     = "CORPUS_RUNS"     // how often each program
	envPrograms = "CORPUS_PROGRAMS" // a regular expression of names
)

// detectors are the ways to run a program once.
var detectors = map[string]func(ctx context.Context, p programs.Program, run int) error{
	"goroutines": func(ctx context.Context, p programs.Program, _ int) error {
		return pgastest.Goroutines(ctx, p.NPEs, pgastest.Options{}, p.Body)
	},
	"checked": func(ctx context.Context, p programs.Program, _ int) error {
		return pgastest.Goroutines(ctx, p.NPEs, pgastest.Options{Races: true}, p.Body)
	},
	"late": func(ctx context.Context, p programs.Program, run int) error {
		return pgastest.Late(ctx, p.NPEs, p.NPEs, pgastest.Options{Seed: uint64(run)}, p.Body)
	},
	"sim": func(ctx context.Context, p programs.Program, run int) error {
		_, err := sim.Run(ctx, sim.Config{Adversary: true, Seed: uint64(run)}, p.NPEs, p.Body)
		return err
	},
}

func TestMain(m *testing.M) {
	if name := os.Getenv(envDetector); name != "" {
		runPrograms(name)
		return
	}
	os.Exit(m.Run())
}

// runPrograms runs the chosen programs, with a line on standard error before each and after each.
func runPrograms(detector string) {
	runs, err := strconv.Atoi(os.Getenv(envRuns))
	if err != nil {
		panic(err)
	}
	ctx, cancel := hang.Context(context.Background())
	defer cancel()
	chosen := regexp.MustCompile(os.Getenv(envPrograms))
	for _, p := range programs.Programs() {
		if !chosen.MatchString(p.String()) || p.OneHost && (detector == "late" || detector == "sim") {
			continue
		}
		for run := range runs {
			fmt.Fprintf(os.Stderr, "\n=== %s\n", p)
			if err := detectors[detector](ctx, p, run); err != nil {
				fmt.Fprintf(os.Stderr, "\n--- %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
			}
		}
	}
}

// allPrograms returns the programs that are right, or those that are not.
func allPrograms(right bool) (some []programs.Program) {
	for _, p := range programs.Programs() {
		if p.Right == right {
			some = append(some, p)
		}
	}
	return some
}

// outcome is what the runs of a program have shown.
type outcome struct {
	runs      int
	lines     int      // runs with a report of the two lines
	otherwise int      // other runs with a report, or an error of the program
	others    []string // what those have shown
}

// TestMarks: each program has lines that conflict.
func TestMarks(t *testing.T) {
	marked := marks(t)
	for _, p := range programs.Programs() {
		if n := len(marked[p.Name]); n == 0 || n > 3 {
			t.Errorf("%s has %d marked lines, want 1 to 3", p, n)
		}
	}
}

// unseen has the wrong programs that the race detector does not report, and why.
var unseen = map[string]string{
	"ptr/ptrStoreWithoutFence": "a store is in the order of its program",
	"lock/writeUnderRLock":     "the words of the lock order its readers, unless they come at the same time: seen in one run of three",
}

// TestGoroutines: PEs that are goroutines, under Go's race detector. What two PEs do may be ordered by chance, so a
// program that is not reported runs again.
func TestGoroutines(t *testing.T) {
	if !raceEnabled {
		t.Skip("needs -race")
	}
	outcomes := judge(t, "goroutines", "", 1)
	for range 5 {
		if missed := missing(outcomes); len(missed) > 0 {
			for name, o := range judge(t, "goroutines", "^("+strings.Join(missed, "|")+")$", 3) {
				outcomes[name] = o
			}
		}
	}
	for _, name := range missing(outcomes) {
		t.Errorf("%s is not found", name)
	}
	held(t, outcomes, "`go test -race`, in up to 16 runs")
}

// missing returns the wrong programs that have shown nothing, but for the unseen.
func missing(outcomes map[string]*outcome) (names []string) {
	for name, o := range outcomes {
		short, wrong := strings.CutSuffix(name, "/wrong")
		if wrong && o.lines+o.otherwise == 0 && unseen[short] == "" {
			names = append(names, name)
		}
	}
	return names
}

// TestChecked: PEs that are goroutines, under the detector of PGAS_CHECK=race, which does not see the loads and stores
// of the program. The second time the programs read their own copies with Get.
func TestChecked(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector sees more")
	}
	held(t, judge(t, "checked", "", 1), "`PGAS_CHECK=race`, one run, with the assertions")
	if testing.Short() {
		return // the other half is linked first
	}
	held(t, judgeIn(t, loadsAsGets(t), "checked", "", 1), "`PGAS_CHECK=race`, one run, own copies read by `Get`")
}

// wrong are the programs for the two tests below: the right ones run in TestRightPrograms of tests/races.
const wrong = "/wrong$"

// TestLate: one run over a network in which all is late.
func TestLate(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests of the late network are in pgastest")
	}
	held(t, judge(t, "late", wrong, 1), "`RunLate`, one run")
}

// TestSim: ten seeds of the simulator.
func TestSim(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has nothing to find in the simulator, which runs all PEs on one goroutine")
	}
	held(t, judge(t, "sim", wrong, 10), "`RunSim`, ten seeds")
}

// TestVet: pgasvet, which reads the programs.
func TestVet(t *testing.T) {
	if raceEnabled {
		t.Skip("pgasvet runs no program")
	}
	held(t, vetOutcomes(t), "`pgasvet`")
}

// page says how many wrong programs each detector finds at least.
const page = "../../../docs/use/detectors.md"

// held fails the test if a right program is reported, or fewer wrong ones than the page says of the detector.
func held(t *testing.T, outcomes map[string]*outcome, detector string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`\n\| ` + regexp.QuoteMeta(detector) + ` \| (\d+) \| (\d+) \|`).FindSubmatch(text)
	if row == nil {
		t.Fatalf("%s has no row of %s", page, detector)
	}
	found, all := 0, 0
	for _, p := range programs.Programs() {
		o := outcomes[p.String()]
		if o == nil {
			continue
		}
		reported := o.lines+o.otherwise > 0
		switch {
		case !p.Right:
			all++
			if reported {
				found++
			}
		case reported:
			t.Errorf("%s is reported: %v", p, o.others)
		}
	}
	t.Logf("\n%s", table(outcomes))
	if atLeast, _ := strconv.Atoi(string(row[1])); found < atLeast || strconv.Itoa(all) != string(row[2]) {
		t.Errorf("%d of %d wrong programs found: the page says at least %s of %s", found, all, row[1], row[2])
	}
}

// judge runs the programs as the detector runs them, and returns the outcome of each.
func judge(t *testing.T, detector, programs string, runs int) map[string]*outcome {
	t.Helper()
	return judgeIn(t, os.Args[0], detector, programs, runs)
}

// judgeIn is judge with the programs of another test binary.
func judgeIn(t *testing.T, binary, detector, programs string, runs int) map[string]*outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), envDetector+"="+detector, envPrograms+"="+programs, fmt.Sprint(envRuns, "=", runs),
		"GORACE=exitcode=0 suppress_equal_stacks=0 suppress_equal_addresses=0 atexit_sleep_ms=0",
		"PGAS_HEAP_MAX=4M") // the detector looks at all of a heap when it is made
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, text[max(0, len(text)-4000):])
	}
	marks := marks(t)
	outcomes := map[string]*outcome{}
	for _, section := range strings.Split(string(text), "\n=== ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		o := outcomes[name]
		if o == nil {
			o = new(outcome)
			outcomes[name] = o
		}
		o.count(rest, marks[strings.Split(name, "/")[1]])
	}
	return outcomes
}

// count adds a run of a program that has written text, and whose lines are marked.
func (o *outcome) count(text string, marked map[string]bool) {
	o.runs++
	var other string
	for _, found := range conflicts(text) {
		if marked[found[0]] && marked[found[1]] {
			o.lines++
			return
		}
		other = found[0] + " and " + found[1]
	}
	if _, err, ok := strings.Cut(text, "\n--- "); ok && other == "" {
		other = "fails: " + strings.TrimSpace(err)
	}
	if other != "" {
		o.otherwise++
		o.others = append(o.others, other)
	}
}
