// Package spin searches Promela models with the model checker spin, in tests.
//
// A model says in its first comment what is checked, and which bugs can be planted, by a macro each: spin must find
// every one of them.
package spin

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A Run is one search through a model.
type Run struct {
	Model   string // NAME.pml, in the directory of the test
	Defines string // "P=3 ROUNDS=2"
	Claim   string // the ltl formula to check, with weak fairness; none: assertions and invalid end states
	Bad     bool   // there must be an error
}

// pan's answers.
var (
	errorsFound = regexp.MustCompile(`errors: (\d+)`)
	statesSeen  = regexp.MustCompile(`(\d+) states, stored`)
	wrong       = regexp.MustCompile(`pan:\d+: .*`)
	cutShort    = regexp.MustCompile(`max search depth too small|out of memory|Search not completed|aborting`)
)

// search lets spin do r. Short tests are for the race detector, which has nothing to see in a model.
func search(t *testing.T, r Run) {
	if testing.Short() {
		t.Skip("no Go code runs here")
	}
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed, which the models are checked with (Debian: apt-get install spin gcc)", tool)
		}
	}
	source, err := filepath.Abs(r.Model + ".pml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	defines := []string{"-a"}
	for _, d := range strings.Fields(r.Defines) {
		defines = append(defines, "-D"+d)
	}
	command(t, dir, "spin", append(defines, source)...)
	// Most searches take less time than gcc would to make them faster.
	compile, args := []string{"-O0", "-DNOCLAIM", "-DSAFETY"}, []string{"-m2000000"}
	if r.Claim != "" {
		compile, args = []string{"-O1", "-DNFAIR=3"}, append(args, "-a", "-f", "-N", r.Claim)
	}
	command(t, dir, "gcc", append(compile, "-w", "-DVECTORSZ=4096", "-DMEMLIM=3000", "-DCOLLAPSE", "-o", "pan", "pan.c")...)
	judge(t, r, command(t, dir, "./pan", args...))
}

// command runs a program in dir and returns what it printed.
func command(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func judge(t *testing.T, r Run, out []byte) {
	t.Helper()
	found := errorsFound.FindSubmatch(out)
	if found == nil || statesSeen.Find(out) == nil {
		t.Fatalf("spin has not come to an end:\n%s", out)
	}
	failed := string(found[1]) != "0"
	switch {
	case failed && !r.Bad:
		t.Errorf("spin has found an error (repeat with spin -a and the same macros):\n%s", out)
	case !failed && r.Bad:
		t.Errorf("spin has not found the planted bug:\n%s", out)
	case !failed && cutShort.Match(out):
		t.Errorf("spin has not looked at everything:\n%s", out)
	}
	first, _, _ := bytes.Cut(out, []byte("\n"))
	if failed && r.Bad {
		t.Logf("caught by spin: %s", wrong.Find(out))
	}
	t.Logf("%s; %s", statesSeen.Find(out), first)
}

// Searches does all of a table, each in a subtest with the name of its macros.
func Searches(t *testing.T, runs []Run) {
	for _, r := range runs {
		t.Run(strings.TrimSpace(r.Claim+" "+r.Defines), func(t *testing.T) {
			t.Parallel() // each is a program of its own, of one thread
			search(t, r)
		})
	}
}
