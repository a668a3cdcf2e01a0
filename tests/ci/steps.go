package main

// The steps of the tests. Each is a few commands that can be run by hand.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// steps begin with the cheapest. Those of processes that wait for each other leave CPU time: what only computes runs
// beside them, in the policy SCHED_IDLE. Those that wait for time-outs use little, and run beside others
// too, and so does what is short.
var steps = []step{
	{name: "gofmt", what: "every Go file is formatted", run: formatted},
	{name: "build", what: "the modules build together, and what the first one requires is what it imports", run: built},
	{name: "generate", what: "checked-in generated files are current", run: generated},
	{name: "peers", what: "the C programs that ours is compared with compile", run: peers},
	{name: "vet", what: "go vet, pgasvet and staticcheck find nothing", run: vetted, beside: computing},
	{name: "compute", what: "the tests that compute: models, the simulator, the generator", run: testsOfComputing, beside: computing},
	{name: "fuzz", what: "every fuzz target, 2,000 inputs each", run: fuzz, beside: computing},
	{name: "lint", what: "the step vet has all analyzers, and finds planted faults", run: testsOfModule("tests/lint"), beside: computing},
	{name: "assembly", what: "the assembly that is checked in is what tests/assembly writes", run: testsOfModule("tests/assembly"), beside: computing},
	{name: "k8s", what: "what pgasrun prints for Kubernetes has the fields and types of its API", run: testsOfModule("tests/k8s"), beside: computing},
	{name: "ui", what: "the page of pgasrun -ui, in Chromium", run: testsOfModule("tests/ui"), beside: waiting},
	{name: "debian13", what: "a Debian 13 is made, and the tests for it compile there", run: compiledUnderDebian13, beside: computing},
	{name: "timeouts", what: "PEs that are silent, dead, attacked or of another version are told of, and no call waits for them", run: testsOfTimeouts, beside: waiting},
	{name: "test", what: "all other tests", run: testsOfProcesses},
	{name: "race", what: "the tests of packages that run PEs as goroutines, under the race detector", run: race},
	{name: "clusters", what: "Slurm, mpirun and a hand start jobs on two hosts", run: goTest(nil, "./tests/clusters"), beside: waiting},
	{name: "nocgo", what: "the module builds without C, and passes the tests that C makes a difference to, most in short mode", run: withoutC, beside: waiting},
	{name: "bench", what: "every benchmark runs", run: benchmarks, beside: waiting},
	{name: "sanitize", what: "the C of the engine and of the pager has no undefined behaviour, where the engine's numbers wrap too", run: sanitize, beside: waiting},
	{name: "ucx118", what: "the tests of what calls UCX, and of mpirun and prun, pass in a Debian 13, with UCX 1.18 and Open MPI 5", run: testsUnderDebian13, beside: waiting},
}

// shortSteps are the steps of -short: those that a change breaks most often, in a few minutes.
func shortSteps() []step {
	static := slices.DeleteFunc(slices.Clone(steps), func(s step) bool {
		return !slices.Contains([]string{"gofmt", "build", "vet", "generate"}, s.name)
	})
	return append(static, step{name: "test", what: "the tests in short mode: PEs are goroutines only", run: goTest(nil, "-short", everything)})
}

// goTest returns a step that runs go test with args. The step vet has vetted all packages.
func goTest(env []string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return runGoTest(ctx, laneOf(ctx).stdout(), env, append([]string{"go", "test", "-json", "-vet=off", "-timeout=0"}, args...), quietLimit)
	}
}

// fastPath makes the PEs of tests use the fast path; by default pgastest makes them check every access. The
// steps race and nocgo use it, so that both are tested with goroutines and with processes.
const fastPath = "PGAS_CHECK=0"

// sanitized makes gcc end a program on undefined behaviour in C, and starts the engine's numbers shortly before they
// wrap.
var sanitized = []string{
	"CGO_CFLAGS=-g -O1 -fsanitize=undefined -fno-sanitize-recover=undefined -DFIRST_NUMBER=0xffffff80u",
	"CGO_LDFLAGS=-fsanitize=undefined",
}

func sanitize(ctx context.Context) error {
	chosen := turn(ctx, []string{"./ucx/engine", "./pgas/transport/ucp", "./dsm/pager"}, few)
	return goTest(sanitized, append([]string{"-short"}, chosen...)...)(ctx)
}

var benchmarkFunc = regexp.MustCompile(`(?m)^func (Benchmark\w*)\(`)

// benchmarks runs each once, in the packages that have some: a package's tests are linked for it.
func benchmarks(ctx context.Context) error {
	found, err := functions(".", benchmarkFunc)
	if err != nil {
		return err
	}
	args := []string{"-run=^$", "-bench=.", "-benchtime=1x"}
	args = append(args, turn(ctx, packagesOf(found), few)...)
	return goTest(nil, args...)(ctx)
}

// race leaves out tests that only compute: the simulator runs all PEs of a test on one goroutine. It has all packages
// but those of programs each day, so that a race shows with the change that makes it.
func race(ctx context.Context) error {
	args := []string{"-race", "-short", "-skip=^" + computed + "$"}
	chosen, err := having(ctx, func(dir string, of []string) bool { return isRaced(dir, of) && !isProgram(dir) })
	if err != nil {
		return err
	}
	programs, err := having(ctx, func(dir string, of []string) bool { return isRaced(dir, of) && isProgram(dir) })
	if err != nil {
		return err
	}
	return goTest([]string{fastPath}, slices.Concat(args, chosen, turn(ctx, programs, few))...)(ctx)
}

// isProgram reports whether a package is one of programs, or tests some.
func isProgram(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return slices.Contains([]string{"cmd", "samples", "templates", "tests"}, top)
}

// choose returns the steps of all that only names, in the order of all; all of them if only is empty.
func choose(all []step, only string) ([]step, error) {
	if only == "" {
		return all, nil
	}
	names := strings.Split(only, ",")
	chosen := slices.DeleteFunc(slices.Clone(all), func(s step) bool { return !slices.Contains(names, s.name) })
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s step) bool { return s.name == name }) {
			return nil, usageError{fmt.Errorf("run-tests: there is no step %q: ./run-tests -list lists them", name)}
		}
	}
	return chosen, nil
}

// built builds the modules of the workspace together, and compares the go.mod of the first, which users get, with
// what it imports. tests/release builds each of them by itself, as of a release.
func built(ctx context.Context) error {
	if err := show(ctx, nil, "go", "build", everything); err != nil {
		return err
	}
	return show(ctx, noWorkspace, "go", "mod", "tidy", "-diff")
}

var noWorkspace = []string{"GOWORK=off"}

// testsOfModule returns a step that runs the tests of a module that is not in the workspace.
func testsOfModule(dir string) func(context.Context) error {
	return func(ctx context.Context) error {
		return show(ctx, noWorkspace, "go", "test", "-C", dir, "-count=1", ".")
	}
}

// vetted runs the analyzers of go vet, this repository's own and those of staticcheck. They are one program,
// which loads each package once, and go vet keeps what it finds. The program has no paths in it, so that
// other checkouts profit.
func vetted(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gopgas-lint-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool := filepath.Join(dir, "lint")
	if err := show(ctx, noWorkspace, "go", "build", "-C", "tests/lint", "-trimpath", "-o", tool, "."); err != nil {
		return err
	}
	return show(ctx, nil, "go", "vet", "-vettool="+tool, everything)
}

func formatted(ctx context.Context) error {
	files, err := goFiles(".")
	if err != nil {
		return err
	}
	out, err := output(ctx, append([]string{"gofmt", "-l"}, files...)...)
	if err == nil && out != "" {
		err = fmt.Errorf("run `gofmt -w %s`", strings.Join(strings.Fields(out), " "))
	}
	return err
}

// generated runs go generate in the checkout and fails if that has changed a file. A file that was
// changed before does not count.
func generated(ctx context.Context) error {
	if err := show(ctx, nil, "go", "tool", "pgasgen", "-check", everything); err != nil {
		return err
	}
	before, err := changes(ctx)
	if err != nil {
		return err
	}
	if err := show(ctx, nil, "go", "generate", everything); err != nil {
		return err
	}
	after, err := changes(ctx)
	if err == nil && after != before {
		err = errors.New("go generate has changed files: commit what `git diff` shows")
	}
	return err
}

func changes(ctx context.Context) (string, error) {
	return output(ctx, "git", "-c", "safe.directory=*", "diff", "--no-ext-diff")
}

// peers compiles the C programs, into a temporary directory.
func peers(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gopgas-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := filepath.Glob("tests/peers/*.c")
	if err != nil {
		return err
	}
	for _, program := range programs {
		if argv := compilePeer(program, filepath.Join(dir, "program")); argv != nil {
			err = errors.Join(err, show(ctx, nil, argv...))
		}
	}
	return err
}

// compilePeer returns the command that compiles a program of tests/peers, or nil for the one that needs a library which
// Debian does not have. A program is of OpenSHMEM unless it is listed here.
func compilePeer(program, binary string) []string {
	compiler, libraries := "oshcc", []string{"-lm"}
	switch filepath.Base(program) {
	case "argo.c":
		return nil
	case "mpi.c":
		compiler = "mpicc"
	case "ucp.c":
		compiler, libraries = "gcc", []string{"-lucp", "-lucs"}
	}
	return append([]string{compiler, "-O3", "-Wall", "-Wextra", "-Werror", "-o", binary, program}, libraries...)
}

// notSimulated leaves out the subtests of pgastest.RunSim and tests that only compute. Package pgas uses no C in
// the simulator and never its fast path, so the steps test and compute have run the same. The patterns of fewest
// levels come first: go test asks no other once one matches the beginning of a test's name, and then runs the test.
const notSimulated = `-skip=^` + computed + `$|^.*$/^sim(#.*)?$|^.*$/^.*$/^sim(#.*)?$`

func withoutC(ctx context.Context) error {
	env := []string{"CGO_ENABLED=0", fastPath}
	if err := show(ctx, env, "go", "build", everything); err != nil {
		return err
	}
	whole, err := having(ctx, with("nocgo=whole"))
	if err != nil {
		return err
	}
	short, err := having(ctx, with("nocgo=short"))
	if err != nil {
		return err
	}
	return errors.Join(
		goTest(env, append([]string{"-p=1", notSimulated}, turn(ctx, whole, week)...)...)(ctx),
		goTest(env, append([]string{"-p=1", "-short", notSimulated}, turn(ctx, short, week)...)...)(ctx))
}

// computed names tests of other packages that only compute: planted bugs, which are compiled, and programs in the
// simulator.
const computed = `Test\w*(?:Mutants|Explored|Adversaries|Simulated)`

var computedFunc = regexp.MustCompile(`(?m)^func (` + computed + `)\(`)

// testsOfComputing runs those that are not weekly, and then those weekly ones whose day it is.
func testsOfComputing(ctx context.Context) error {
	matched, err := having(ctx, with("computes"))
	if err != nil {
		return err
	}
	rest, err := having(ctx, not(with("computes")))
	if err != nil {
		return err
	}
	tests, err := functions(".", computedFunc)
	if err != nil {
		return err
	}
	weekly, err := weeklyTests(".")
	if err != nil {
		return err
	}
	skip := "-skip=^(" + strings.Join(namesOf(weekly), "|") + ")$"
	args := []string{"-run=^" + computed + "$", skip}
	for _, p := range rest {
		if slices.ContainsFunc(tests, func(t target) bool { return strings.HasSuffix(p, strings.TrimPrefix(t.pkg, ".")) }) {
			args = append(args, p)
		}
	}
	failed := []error{goTest(nil, append([]string{skip}, matched...)...)(ctx), goTest(nil, args...)(ctx)}
	today := turn(ctx, weekly, week)
	for len(today) > 0 { // those of a package together
		n := slices.IndexFunc(today, func(t target) bool { return t.pkg != today[0].pkg })
		if n < 0 {
			n = len(today)
		}
		failed = append(failed, goTest(nil, "-run=^("+strings.Join(namesOf(today[:n]), "|")+")$", today[0].pkg)(ctx))
		today = today[n:]
	}
	return errors.Join(failed...)
}

// testsOfProcesses runs the packages one by one, without those that have a step of their own: two whose processes
// wait for each other take several times as long at a time as one after the other. Of those that take long, one is run
// whole, another each day, and the others in short mode.
func testsOfProcesses(ctx context.Context) error {
	whole, err := having(ctx, not(with("computes", "waits", "clusters", "long")))
	if err != nil {
		return err
	}
	long, err := having(ctx, with("long"))
	if err != nil {
		return err
	}
	today := turn(ctx, long, few)
	short := slices.DeleteFunc(long, func(p string) bool { return slices.Contains(today, p) })
	args := []string{"-p=1", "-skip=^" + computed + "$"}
	err = goTest(seedsOf(ctx, time.Now()), slices.Concat(args, whole, today)...)(ctx)
	if len(short) > 0 {
		err = errors.Join(err, goTest(seedsOf(ctx, time.Now()), slices.Concat(args, []string{"-short"}, short)...)(ctx))
	}
	return err
}

func testsOfTimeouts(ctx context.Context) error {
	matched, err := having(ctx, with("waits"))
	if err != nil {
		return err
	}
	return goTest(nil, append([]string{"-p=1"}, matched...)...)(ctx)
}
