package pgastest

// The test binary runs again, with tests and benchmarks that fail or measure on request: what go test prints of them is
// what is tested.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
)

// onRequest names the variable that makes the tests of this file do what they are for.
const onRequest = "PGASTEST_ON_REQUEST"

func requested(tb testing.TB) {
	tb.Helper()
	if os.Getenv(onRequest) == "" {
		tb.Skip("it is for the tests of this package, which run it")
	}
}

// again runs this binary with args and returns its output.
func again(t *testing.T, args ...string) (out string, ok bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), onRequest+"=1")
	text, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), err == nil
}

// TestFailsInProcesses fails on request where PEs are processes.
func TestFailsInProcesses(t *testing.T) {
	requested(t)
	RunAll(t, 1, failInProcesses)
}

func failInProcesses(_ context.Context, w *pgas.World) error {
	if isPE() {
		return fmt.Errorf("PE %d is out of luck", w.PE())
	}
	return nil
}

// TestFailureNamesKind: the message of a failure begins with the kind of PEs, and the last line says which kinds fail
// and which pass. The command that both name runs that kind and no other, and fails, too.
func TestFailureNamesKind(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode PEs are goroutines only")
	}
	out, ok := again(t, "-test.run=^TestFailsInProcesses$", "-test.v=false")
	if ok {
		t.Fatalf("the test has passed:\n%s", out)
	}
	first, rest, _ := strings.Cut(out, ": processes: a PE failed with status 1:\n")
	if !regexp.MustCompile(`^--- FAIL: TestFailsInProcesses .*\n +--- FAIL: TestFailsInProcesses/processes .*\n +subtest_test.go:\d+$`).MatchString(first) {
		t.Errorf("the failure begins with %q", first)
	}
	if !strings.Contains(rest, "PE 0 is out of luck") || !strings.Contains(rest, "fails with PEs as processes; passes as goroutines, sim\n") {
		t.Errorf("the failure says\n%s", out)
	}
	commands := regexp.MustCompile(`(?m)alone: (.*go test .*)$`).FindAllStringSubmatch(out, -1)
	if len(commands) != 2 || commands[0][1] != commands[1][1] {
		t.Fatalf("commands %q in\n%s", commands, out)
	}
	cmd := exec.Command("sh", "-c", commands[0][1]+" -v -count=1")
	cmd.Env = append(os.Environ(), onRequest+"=1")
	alone, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(alone), "--- FAIL: TestFailsInProcesses/processes") || strings.Contains(string(alone), "/goroutines") || strings.Contains(string(alone), "/sim") {
		t.Errorf("%s: %v\n%s", commands[0][1], err, alone)
	}
}

func TestKindOf(t *testing.T) {
	for name, want := range map[string]string{
		"TestSum/goroutines":           "goroutines",
		"TestSum/three_PEs/nic/hosts":  "nic/hosts",
		"TestSum/sim/seed=3":           "sim/seed=3",
		"BenchmarkPut/8_B/processes":   "processes",
		"TestSum/hosts/odd":            "",
		"TestSum/late#01":              "",
		"TestSum/hosts/processes/late": "hosts/processes/late",
	} {
		if got := kindOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// stranger is a testing.TB that has no subtests.
type stranger struct {
	testing.TB
	said string
}

func (s *stranger) Helper() {}

func (s *stranger) Fatalf(format string, args ...any) { s.said = fmt.Sprintf(format, args...) }

func TestSubtestOfWrappers(t *testing.T) {
	ran := ""
	type wrapper struct{ *testing.T }
	subtest(wrapper{t}, "wrapped", func(tb testing.TB) { ran = tb.Name() })
	if want := t.Name() + "/wrapped"; ran != want {
		t.Errorf("ran %q, want %q", ran, want)
	}
	s := &stranger{TB: t}
	if subtest(s, "none", func(testing.TB) { t.Error("it has run") }); !strings.Contains(s.said, "*testing.B, or what embeds one") {
		t.Errorf("a testing.TB without subtests is told %q", s.said)
	}
}

// own is a flag of the program under test.
var own = flag.String("pgastest.own", "", "a `text`, for TestCommandKeepsSettings")

// TestCommandKeepsSettings: the command that runs a kind alone has the flags and settings of the test, and so have PEs
// that are processes.
func TestCommandKeepsSettings(t *testing.T) {
	if isPE() {
		RunProcesses(t, 1, func(context.Context, *pgas.World) error {
			if *own != "it's" {
				return fmt.Errorf("the flag is %q", *own)
			}
			return nil
		})
		return
	}
	if err := flag.Set("pgastest.own", "it's"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGAS_SPIN", "0")
	t.Setenv("GORACE", "history_size=7 halt_on_error=1")
	got := command(t, "TestX/hosts")
	for _, want := range []string{"PGAS_SPIN=0 ", "GORACE='history_size=7 halt_on_error=1' ", ` '-pgastest.own=it'\''s'`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: it has no %s", got, want)
		}
	}
	if !testing.Short() {
		RunProcesses(t, 1, nil)
	}
}

// TestSeeds: a run has all seeds of the adversary, or those that the environment names.
func TestSeeds(t *testing.T) {
	for text, want := range map[string]string{"": "[0 1 2 3 4 5 6 7 8 9]", "3,9": "[3 9]", "17": "[17]"} {
		if got, err := seeds(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: seeds %v (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "1,", "-1"} {
		if got, err := seeds(text); err == nil || !strings.Contains(err.Error(), "TEST_ADVERSARIES="+text) {
			t.Errorf("%q: seeds %v (%v)", text, got, err)
		}
	}
}
