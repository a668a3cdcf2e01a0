package main

// A test that fails runs again: once, alone, when all steps are done, with the environment and the flags of its step.
// If it passes then, it is flaky, and the run is green unless it is strict. Each flaky test is appended to a list.
//
// Not every failure can be run again. What stays red at once is listed in failures, and more failures than maxAgain are
// no coincidence.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxAgain is how many failures of a run may run again. If there are more, none does.
const maxAgain = 3

// flakyList has a line for each time that a test was flaky in this checkout.
const flakyList = ".ci/flaky.txt"

// again is a command that runs again what has failed.
type again struct {
	env, argv []string
	limit     time.Duration
	pkg       string
	tests     []failed // which have to pass now
}

// failed is a test that failed, and how: a line of its output.
type failed struct{ test, how string }

func (a again) String() string {
	text := a.pkg
	for _, f := range a.tests {
		text += " " + f.test
	}
	return text
}

// testsFailed is the error of a run of go test of which each failure can run again.
type testsFailed struct {
	again []again
	err   error
}

func (e *testsFailed) Error() string { return e.err.Error() }
func (e *testsFailed) Unwrap() error { return e.err }

// runGoTest runs go test. Its error is a *testsFailed if all that has failed can run again.
func runGoTest(ctx context.Context, out io.Writer, env, argv []string, limit time.Duration) error {
	s, err := goTestRun(ctx, out, env, argv, limit)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		if list, ok := s.failures(env, argv, limit); ok {
			return &testsFailed{list, err}
		}
	}
	return err
}

// failures returns what of a run of go test that has failed is to run again, or false if some of it cannot. It cannot
// if packages do not compile or fail before a test has begun or after the last; if a fuzz target has found an input;
// and if there is a proof. What hangs does not come here.
func (s *summary) failures(env, argv []string, limit time.Duration) (list []again, ok bool) {
	if slices.ContainsFunc(argv, func(a string) bool { return strings.HasPrefix(a, "-fuzz=") }) {
		return nil, false
	}
	for name, said := range s.printed { // by what had not ended
		if p := s.packages[name.pkg]; p != nil {
			p.how[name.test] = firstLine(said)
			p.proof = p.proof || proofs.MatchString(strings.Join(said, ""))
		}
	}
	for _, pkg := range s.failedPackages {
		p := s.packages[pkg]
		if p == nil || p.proof {
			return nil, false
		}
		base := again{env: env, limit: limit, pkg: pkg}
		var of []again
		if p.over {
			of = p.failedTests(base, argv)
		} else {
			of = p.crashed(base, argv)
		}
		if len(of) == 0 {
			return nil, false
		}
		list = append(list, of...)
	}
	return list, len(list) > 0
}

// failedTests makes a command for each test that has failed, or for its subtests if it is them that have.
func (p *packageRun) failedTests(base again, argv []string) (list []again) {
	for _, test := range p.failed {
		if strings.Contains(test, "/") {
			continue
		}
		a := base
		var names []string
		for _, name := range p.failed {
			under := func(other string) bool { return strings.HasPrefix(other, name+"/") }
			if (name == test || strings.HasPrefix(name, test+"/")) && !slices.ContainsFunc(p.failed, under) {
				names = append(names, name)
				a.tests = append(a.tests, failed{name, p.how[name]})
			}
		}
		selection := []string{"-run=" + onlyTests(names)}
		if isBenchmark(test) {
			selection = []string{"-run=^$", "-bench=" + onlyTests(names)}
		}
		a.argv = goTestAgain(argv, base.pkg, []string{"-run=", "-bench="}, selection)
		list = append(list, a)
	}
	return list
}

// crashed makes the command for a package that has ended in the middle: it runs all tests that have not passed, of
// which some may not have begun.
func (p *packageRun) crashed(a again, argv []string) []again {
	top := func(name string) string { name, _, _ = strings.Cut(name, "/"); return name }
	var passed []string // or skipped, which they would be again
	for _, name := range slices.Concat(p.passed, p.skipped) {
		if name == top(name) {
			passed = append(passed, name)
		}
	}
	for _, name := range p.begun {
		how := "the package ended in the middle of it: " + p.how[name]
		switch n := len(a.tests); {
		case slices.Contains(passed, top(name)):
		case name == top(name):
			a.tests = append(a.tests, failed{name, how})
		case n > 0 && a.tests[n-1].test == top(name) && p.how[name] != saidNothing:
			a.tests[n-1].how = how // a subtest knows better
		}
	}
	if len(a.tests) == 0 {
		return nil
	}
	skip := ""
	if len(passed) > 0 {
		skip = onlyTests(passed)
	}
	for _, arg := range argv {
		if old, found := strings.CutPrefix(arg, "-skip="); found {
			skip = strings.TrimPrefix(skip+"|"+old, "|") // fewest levels first: see notSimulated
		}
	}
	var selection []string
	if skip != "" {
		selection = []string{"-skip=" + skip}
	}
	a.argv = goTestAgain(argv, a.pkg, []string{"-skip="}, selection)
	return []again{a}
}

// goTestAgain returns argv, a command line that runs go test, for one package, with another selection of its tests.
func goTestAgain(argv []string, pkg string, replaced, selection []string) []string {
	at := 0
	for i := range argv[1:] {
		if argv[i] == "go" && argv[i+1] == "test" {
			at = i + 2
		}
	}
	again := slices.Clone(argv[:at])
	for _, arg := range argv[at:] {
		isReplaced := func(flag string) bool { return strings.HasPrefix(arg, flag) }
		if strings.HasPrefix(arg, "-") && arg != "-count=1" && !slices.ContainsFunc(replaced, isReplaced) {
			again = append(again, arg)
		}
	}
	return append(append(append(again, "-count=1"), selection...), pkg)
}

// onlyTests returns a pattern of go test that selects tests of one depth. Those that are deeper than the others are
// selected by what contains them.
func onlyTests(names []string) string {
	depth := len(strings.Split(names[0], "/"))
	for _, name := range names {
		depth = min(depth, len(strings.Split(name, "/")))
	}
	levels := make([][]string, depth)
	for _, name := range names {
		for i := range levels {
			if part := regexp.QuoteMeta(strings.Split(name, "/")[i]); !slices.Contains(levels[i], part) {
				levels[i] = append(levels[i], part)
			}
		}
	}
	var pattern []string
	for _, parts := range levels {
		pattern = append(pattern, "^("+strings.Join(parts, "|")+")$")
	}
	return strings.Join(pattern, "/")
}

// canRunAgain returns the commands that run all failures of a step again, or none if one of these failures cannot.
func canRunAgain(err error) []again {
	switch e := err.(type) {
	case *testsFailed:
		return e.again
	case interface{ Unwrap() []error }:
		var all []again
		for _, err := range e.Unwrap() {
			some := canRunAgain(err)
			if len(some) == 0 {
				return nil
			}
			all = append(all, some...)
		}
		return all
	case interface{ Unwrap() error }:
		return canRunAgain(e.Unwrap())
	}
	return nil
}

// run runs it again and returns why it has failed again.
func (a again) run(ctx context.Context, out io.Writer) error {
	s, err := goTestRun(ctx, out, a.env, a.argv, a.limit)
	if err != nil {
		return err
	}
	for _, f := range a.tests {
		if p := s.packages[a.pkg]; p == nil || !p.ran(f.test) {
			return fmt.Errorf("%s %s did not run again or was skipped, so nothing is known of it", a.pkg, f.test)
		}
	}
	return nil
}

// ran reports whether a test has run and passed, in a package that passes. Of a benchmark there is no event that says
// so.
func (p *packageRun) ran(test string) bool {
	return slices.Contains(p.passed, test) || isBenchmark(test) && slices.Contains(p.begun, test) && !slices.Contains(p.skipped, test)
}

// options are how a run of steps judges.
type options struct {
	strict bool   // a flaky test makes the run red
	list   string // the file to which flaky tests are appended
}

// runAgain runs the failures of the steps again, and returns the steps that failed nevertheless.
func runAgain(ctx context.Context, failed []result, o options) []result {
	n := 0
	for _, r := range failed {
		n += len(canRunAgain(r.err))
	}
	if n > maxAgain {
		fmt.Printf("\n== again: %d tests have failed, more than %d: that is no coincidence, and none runs again\n", n, maxAgain)
		return failed
	}
	var red []result
	for _, r := range failed {
		if list := canRunAgain(r.err); len(list) == 0 || !r.flaky(ctx, list, o) || o.strict {
			red = append(red, r)
		}
	}
	return red
}

// flaky reports whether all of list passes now.
func (r result) flaky(ctx context.Context, list []again, o options) bool {
	all := true
	for _, a := range list {
		fmt.Printf("\n== again: %s of the step %s, alone\n", a, r.name)
		if err := a.run(ctx, os.Stdout); err != nil {
			fmt.Printf("== again: failed: %v\n", err)
			all = false
			continue
		}
		for _, f := range a.tests {
			fmt.Printf("FLAKY %s %s (step %s): %s\n", a.pkg, f.test, r.name, f.how)
			line := fmt.Sprintf("%s  %s  %s %s  %s\n", time.Now().Format("2006-01-02 15:04"), r.name, a.pkg, f.test, f.how)
			if err := appendTo(o.list, line); err != nil {
				fmt.Printf("== again: %v\n", err)
				all = false // a list with a gap hides a flaky test
			}
		}
	}
	return all
}

func appendTo(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// showFlaky prints the list, if there is one.
func showFlaky(list string) {
	if text, err := os.ReadFile(list); err == nil && len(text) > 0 {
		fmt.Printf("\nflaky tests, to be mended before anything else (%s: delete the lines of what is mended):\n%s", list, text)
	}
}
