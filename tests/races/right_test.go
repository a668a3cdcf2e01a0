package races

// Programs that are right, in runs in which everything comes late, early and in any order: none may fail, and the
// detector of PGAS_CHECK=race reports none.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/tests/built"
	"github.com/gopgas/gopgas/tests/races/corpus/testdata/programs"
)

// A rightProgram is a program without a mistake.
type rightProgram struct {
	name string
	pes  int
	body pgastest.Body
}

// rightPrograms returns the programs of TestMistakes without their mistakes, and those of package corpus that are
// right.
func rightPrograms() (all []rightProgram) {
	for _, m := range mistakes {
		all = append(all, rightProgram{m.name + " " + m.form, m.pes, m.play(true)})
	}
	for _, p := range programs.Programs() {
		if p.Right && !p.OneHost {
			all = append(all, rightProgram{p.String(), p.NPEs, p.Body})
		}
	}
	return all
}

// TestRightPrograms runs each right program over late networks and in the simulator, there with and without the
// detector of races. With -long it has 100 seeds of the simulator, otherwise 10.
func TestRightPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many jobs")
	}
	seeds, lateSeeds := uint64(10), uint64(2)
	if *long {
		seeds, lateSeeds = 100, 20
	}
	for _, p := range rightPrograms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel() // over a late network they mostly wait
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			for seed := range seeds {
				if err := errors.Join(p.simulated(ctx, seed, false), p.simulated(ctx, seed, true)); err != nil {
					t.Fatal(err)
				}
			}
			for seed := range lateSeeds {
				if err := pgastest.Late(ctx, p.pes, p.pes, pgastest.Options{Seed: seed}, p.body); err != nil {
					t.Fatalf("over a late network with seed %d: %v", seed, err)
				}
			}
		})
	}
}

// simulated runs p in the simulator with a seed.
func (p rightProgram) simulated(ctx context.Context, seed uint64, races bool) error {
	cfg := sim.Config{Adversary: true, Seed: seed, HeapMax: 4 << 20, Races: races}
	if _, err := sim.Run(ctx, cfg, p.pes, p.body); err != nil {
		return fmt.Errorf("in the simulator with seed %d, races looked for: %v: %w", seed, races, err)
	}
	return nil
}

// notSimulated are scenarios in which PEs share memory, or wait for each other, in ways that the simulator does not
// know. Over a late network PEs share no memory either.
const (
	notLate      = "`Ptr`"
	notSimulated = notLate + "|close of a Go channel|SRSL"
)

// failed is the beginning of the error of a run, as the program prints it.
var failed = regexp.MustCompile(`(?m)^PE \d+(?: of \d+)?: `)

// TestScenarios runs the scenarios of the page over late networks and in the simulator, there also with the
// detector of races. None fails but for races, and races are reported by each run as TestRacesByClocks says.
func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	simulated, late := "-runs=10", "-runs=1"
	if *long {
		simulated, late = "-runs=100", "-runs=5"
	}
	rows, program := build(t)
	for _, way := range [][]string{
		{"-on=sim", simulated, "-skip=" + notSimulated},
		{"-on=sim", simulated, "-skip=" + notSimulated, "-clocks"},
		{"-on=late", late, "-skip=" + notLate},
		{"-on=late", late, "-skip=" + notLate, "-clocks"},
	} {
		t.Run(strings.Join(way, " "), func(t *testing.T) {
			t.Parallel() // over a late network they mostly wait
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			output, err := exec.CommandContext(ctx, program, way...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output[max(0, len(output)-10_000):])
			}
			judgeScenarios(t, rows, string(output), slices.Contains(way, "-clocks"))
		})
	}
}

// judgeScenarios fails the test for each run in an output of the program that is not as its row says.
func judgeScenarios(t *testing.T, rows []row, output string, clocks bool) {
	t.Helper()
	for _, part := range strings.Split("\n"+output, "\n=== ")[1:] {
		part = strings.ReplaceAll(failed.ReplaceAllString(part, "failed: "), "failed: race on ", "race on ")
		r := clockRunOf(part)
		i := slices.IndexFunc(rows, func(row row) bool { return row.name == r.name })
		switch {
		case i < 0:
		case strings.Contains(part, "failed: "):
			t.Errorf("%q fails: %s", r.name, part)
		case clocks || len(r.reports) > 0:
			if m := r.mistake(rows[i]); m != "" {
				t.Errorf("%q: %s", r.name, m)
			}
		}
	}
}

// TestBodiesOfRepository runs the bodies of all tests that the simulator can run with 100 seeds of it, and those of
// RunLate, with checks and with the detector of races: none fails.
func TestBodiesOfRepository(t *testing.T) {
	if !*long {
		t.Skip("-long runs the tests of the repository with 100 seeds")
	}
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	var seeds []string
	for seed := range 100 {
		seeds = append(seeds, strconv.Itoa(seed))
	}
	for _, pkg := range withBodies(t, root) {
		for _, check := range []string{"1", "race"} {
			t.Run(pkg+" "+check, func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=2h", "-run=/^(sim|late)$|//^(sim|late)$", pkg)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "PGAS_CHECK="+check, "TEST_ADVERSARIES="+strings.Join(seeds, ","))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out[max(0, len(out)-10_000):])
				}
			})
		}
	}
}

// withBodies returns the packages whose tests call a function of pgastest for the simulator or a late network.
func withBodies(t *testing.T, root string) (packages []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !calls.Match(text) {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if pkg := "./" + dir; !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

var calls = regexp.MustCompile(`pgastest\.Run(All|Sim|Late|LateSeeds)\(`)
