package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// helpers are functions for the tests of a module: log appends a word to the file log, and first reports whether this
// is the first call with that word.
const helpers = `
func log(t *testing.T, word string) {
	f, err := os.OpenFile("log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, word)
	f.Close()
}

func first(t *testing.T, word string) bool {
	text, _ := os.ReadFile("log")
	log(t, word)
	return !strings.Contains("\n" + string(text), "\n" + word + "\n")
}
`

// runs writes the tests into a module, runs them as the only step, and returns the error, the list of flaky tests and
// the words that the tests have logged.
func runs(t *testing.T, tests string, strict bool, env []string, args ...string) (list, logged string, err error) {
	t.Helper()
	moduleOf(t, helpers+tests)
	argv := append([]string{"go", "test", "-json", "-vet=off", "-timeout=0"}, args...)
	limit := 3 * time.Second
	steps := []step{{name: "fake", run: func(ctx context.Context) error {
		return runGoTest(ctx, laneOf(ctx).stdout(), env, append(argv, "./..."), limit)
	}}}
	err = runSteps(t.Context(), steps, options{strict: strict, list: "ci/flaky.txt"})
	flaky, _ := os.ReadFile("ci/flaky.txt")
	words, _ := os.ReadFile("p/log")
	return string(flaky), strings.Join(strings.Fields(string(words)), " "), err
}

func TestAgain(t *testing.T) {
	const fails = `func TestFails(t *testing.T) {
	if first(t, "fails") {
		t.Error("it fails once")
	}
}
func TestPasses(t *testing.T) { log(t, "passes") }
`
	for name, c := range map[string]struct {
		tests  string
		args   []string
		env    []string
		strict bool
		red    bool
		flaky  string // what the list has
		logged string
	}{
		"once":   {tests: fails, flaky: `fake  example\.com/m/p TestFails  p_test\.go:\d+: it fails once\n$`, logged: "fails passes fails"},
		"strict": {tests: fails, strict: true, red: true, flaky: `TestFails`, logged: "fails passes fails"},
		"always": {tests: `func TestFails(t *testing.T) { log(t, "fails"); t.Error("always") }`, red: true, logged: "fails fails"},
		"flags and environment": {args: []string{"-short", "-run=Fails|Nothing", "-skip=^Test.*$/^b$"}, env: []string{"M=1"}, tests: `func TestFails(t *testing.T) {
	log(t, fmt.Sprint(testing.Short(), os.Getenv("M")))
	t.Run("b", func(t *testing.T) { log(t, "b") })
	if first(t, "fails") {
		t.Error("once")
	}
}
func TestOther(t *testing.T) { log(t, "other") }
`, flaky: `TestFails  `, logged: "true1 fails true1 fails"},
		"subtests": {tests: `func TestFails(t *testing.T) {
	for _, name := range []string{"a|b", "fine", "c d"} {
		t.Run(name, func(t *testing.T) {
			t.Run("deeper", func(t *testing.T) { 
				if first(t, strings.ReplaceAll(name, " ", "_")) && name != "fine" {
					t.Errorf("%s fails", name)
				}
			})
		})
	}
}`, flaky: `TestFails/a\|b/deeper  .*: a\|b fails\n.*TestFails/c_d/deeper .*: c d fails`, logged: "a|b fine c_d a|b c_d"},
		"the package ends": {tests: `func TestA(t *testing.T) { log(t, "a") }
func TestB(t *testing.T) { t.Run("sub", func(t *testing.T) { 
	if first(t, "b") {
		fmt.Println("out of order")
		os.Exit(3) 
	}
}) }
func TestC(t *testing.T) { log(t, "c") }
`, args: []string{"-skip=^TestC$/^x$"}, flaky: `p TestB  the package ended in the middle of it: out of order`, logged: "a b b c"},
		"a panic": {tests: `func TestA(t *testing.T) { log(t, "a") }
func TestB(t *testing.T) { 
	if first(t, "b") {
		panic("at the disco")
	}
}
func TestC(t *testing.T) { log(t, "c") }
`, flaky: `TestB  .*panic: at the disco`, logged: "a b b c"},
		"what follows the panic fails": {tests: `func TestB(t *testing.T) { 
	if first(t, "b") {
		panic("at the disco")
	}
}
func TestC(t *testing.T) { t.Error("always") }
`, red: true, logged: "b b"},
		"in order after all tests": {tests: `func TestA(t *testing.T) { log(t, "a") }
func TestMain(m *testing.M) { m.Run(); os.Exit(1) }
`, red: true, logged: "a"},
		"does not compile":   {tests: `func TestA(t *testing.T) { a }`, red: true},
		"a race":             {tests: `func TestA(t *testing.T) { log(t, "a"); t.Error("WARNING: DATA RACE") }`, red: true, logged: "a"},
		"undefined in C":     {tests: `func TestA(t *testing.T) { log(t, "a"); fmt.Println("x.c:3:2: runtime error: shift"); os.Exit(1) }`, red: true, logged: "a"},
		"index out of range": {tests: `func TestA(t *testing.T) { if first(t, "a") { _ = []int{}[len(t.Name())-5+len(os.Args[0])] } }`, flaky: `panic: runtime error: index`, logged: "a a"},
		"skipped then":       {tests: `func TestA(t *testing.T) { if first(t, "a") { t.Error("once") }; t.Skip("never") }`, red: true, logged: "a a"},
		"hangs then":         {tests: `func TestA(t *testing.T) { if first(t, "a") { t.Error("once") } else { go time.Sleep(time.Hour); select {} } }`, red: true, logged: "a a"},
		"too many": {tests: `func TestA(t *testing.T) { log(t, "a"); t.Error("a") }
func TestB(t *testing.T) { log(t, "b"); t.Error("b") }
func TestC(t *testing.T) { log(t, "c"); t.Error("c") }
func TestD(t *testing.T) { log(t, "d"); t.Error("d") }
`, red: true, logged: "a b c d"},
		"a benchmark": {args: []string{"-run=^$", "-bench=.", "-benchtime=1x"}, flaky: `BenchmarkA  .*: once`, logged: "b a b", tests: `func BenchmarkA(b *testing.B) {
	t := &testing.T{}
	log(t, "b")
	if text, _ := os.ReadFile("log"); strings.Count(string(text), "b") < 2 {
		log(t, "a")
		b.Fatal("once")
	}
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			flaky, logged, err := runs(t, c.tests, c.strict, c.env, c.args...)
			if (err != nil) != c.red {
				t.Errorf("it ends with %v, want an error: %t", err, c.red)
			}
			if ok, _ := regexp.MatchString(c.flaky, flaky); !ok || (c.flaky == "") != (flaky == "") {
				t.Errorf("the list is %q, want %q", flaky, c.flaky)
			}
			if logged != c.logged {
				t.Errorf("the tests have logged %q, want %q", logged, c.logged)
			}
		})
	}
}

// TestAgainOfSeveralSteps: a step with something else that is wrong stays red, and another one does not.
func TestAgainOfSeveralSteps(t *testing.T) {
	moduleOf(t, "func TestA(t *testing.T) {}\n")
	passes := &testsFailed{[]again{{argv: []string{"go", "test", "-json", "-run=TestA", "./p"}, limit: quietLimit, pkg: "example.com/m/p", tests: []failed{{"TestA", "once"}}}}, errors.New("exit status 1")}
	fake := func(name string, errs ...error) step {
		return step{name: name, run: func(context.Context) error { return errors.Join(errs...) }}
	}
	err := runSteps(t.Context(), []step{fake("one", passes), fake("both", passes, errors.New("wrong"))}, options{list: filepath.Join(t.TempDir(), "list")})
	if err == nil || !strings.Contains(err.Error(), "1 of 2 steps failed") || !strings.Contains(err.Error(), "-only both") {
		t.Errorf("the error is %v", err)
	}
}

// TestGoTestAgain: of a command in another system what enters it stays.
func TestGoTestAgain(t *testing.T) {
	p := &packageRun{failed: []string{"TestX/nic", "TestX"}, how: map[string]string{}}
	list := p.failedTests(again{pkg: "m/p"}, []string{"unshare", "ci", "enter", "--", "go", "test", "-json", "-count=1", "-p=1", "-run=^Test(X|Y)$/^nic$", "./p"})
	want := "unshare ci enter -- go test -json -p=1 -count=1 -run=^(TestX)$/^(nic)$ m/p"
	if len(list) != 1 || strings.Join(list[0].argv, " ") != want {
		t.Errorf("got %q, want %s", list, want)
	}
}

// TestFuzzFailuresStay: an input that a fuzz target has found fails for good.
func TestFuzzFailuresStay(t *testing.T) {
	s := newSummary(io.Discard)
	for _, e := range []event{
		{Action: "run", Package: "m/p", Test: "FuzzA"},
		{Action: "output", Package: "m/p", Test: "FuzzA", Output: "wrong\n"},
		{Action: "fail", Package: "m/p", Test: "FuzzA"},
		{Action: "output", Package: "m/p", Output: "FAIL\n"},
		{Action: "fail", Package: "m/p"},
	} {
		s.take(e)
	}
	argv := []string{"go", "test", "-json", "-run=^$", "-fuzz=^FuzzA$", "./p"}
	if list, ok := s.failures(nil, argv, quietLimit); ok {
		t.Errorf("%v runs again", list)
	}
	if list, ok := s.failures(nil, argv[:3], quietLimit); !ok || len(list) != 1 || list[0].tests[0] != (failed{"FuzzA", "wrong"}) {
		t.Errorf("as a test of its seeds, %v runs again", list)
	}
}
