package races

// The rows of the page under the detector that PGAS_CHECK=race asks for, on PEs that are goroutines: it compares clocks
// of PEs and of operations, and sees no plain loads and stores.

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// plainAccess is in the names of rows in which one of the accesses is a plain load or store, which is not seen.
var plainAccess = regexp.MustCompile(`\b(load|loads|store|stores|Ptr)\b`)

// laterOnly are rows in which the lock orders the two accesses in the order in which they come.
var laterOnly = []string{
	"put under `locks.SpinRW` as a reader | later, put under it as a reader",
	"put before locking and unlocking | later, locking, unlocking, put",
}

// TestRacesByClocks: each wrong row is reported but for those whose reason is above, with the lines of both accesses,
// and no right one is.
func TestRacesByClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	rows, program := build(t)
	for _, args := range [][]string{{"-clocks", "-runs=2"}, {"-clocks", "-check"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel() // they mostly wait
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			output, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output[max(0, len(output)-10_000):])
			}
			ran := map[string][]clockRun{}
			for _, part := range strings.Split("\n"+string(output), "\n=== ")[1:] {
				r := clockRunOf(part)
				ran[r.name] = append(ran[r.name], r)
			}
			for _, row := range rows {
				if len(ran[row.name]) == 0 {
					t.Errorf("%q was not run", row.name)
				}
				for _, r := range ran[row.name] {
					if m := r.mistake(row); m != "" {
						t.Errorf("%q: %s", row.name, m)
					}
				}
			}
		})
	}
}

// clockRun is one run of a scenario.
type clockRun struct {
	name, first, then string
	reports           []string
}

// clockRunOf returns the run of a part of the program's output.
func clockRunOf(part string) (r clockRun) {
	head, rest, _ := strings.Cut(part, "\n")
	names := append(strings.Split(head, "\t"), "", "")
	r.name, r.first, r.then = names[0], names[1], names[2]
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "race on ") {
			r.reports = append(r.reports, line)
		}
	}
	return r
}

// mistake returns what is wrong with the reports of a run, or "".
func (r clockRun) mistake(row row) string {
	wrong := row.verdict != right && !slices.Contains(laterOnly, row.name)
	switch {
	case !wrong && len(r.reports) > 0:
		return "it is reported: " + r.reports[0]
	case wrong && len(r.reports) == 0 && !plainAccess.MatchString(row.name):
		return "it is not reported"
	case len(r.reports) > 0 && !slices.ContainsFunc(r.reports, r.names):
		return fmt.Sprintf("no report names %s and %s: %s", r.first, r.then, r.reports[0])
	}
	return ""
}

// names reports whether a report names the lines of both accesses, or of the one that there is.
func (r clockRun) names(report string) bool {
	named := func(place string) bool { return regexp.MustCompile("program/" + place + `\b`).MatchString(report) }
	return named(r.first) && (strings.HasSuffix(r.name, " | nothing") || named(r.then))
}
