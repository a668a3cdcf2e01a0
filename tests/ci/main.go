// Command ci is behind the two commands of the README: run-main-job and run-tests. It imports nothing
// that needs C, so that it can be built before a C compiler is there, and install one.
//
//	main.go        the command line
//	install.go     what is missing, and apt
//	job.go         the main job, on one machine and on two hosts
//	step.go        what a step of the tests is
//	steps.go       the steps
//	day.go         what of them has its turn today
//	lanes.go       which of them run beside others
//	debian13.go    the step with another release of UCX
//	root.go        running a program in another system's files
//	gotest.go      go test, ended when it makes no progress, not by the clock
//	events.go      what go test reports of a package
//	again.go       a second run for tests that fail, alone, and the list of those that are flaky
//	hundred.go     a test a hundred times, on a busy machine
//	attributes.go  what the steps do with a package, which stands in the package
//	declared.go    what test files declare: functions, and what the steps do with them
//	fuzz.go        the step that runs the fuzz targets
//	autogroup.go   a setting of the kernel that starves PEs
//	run.go         running a program so that nothing of it is left, and the lane that it runs in
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	interrupted := ctx.Err() != nil
	stop()
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case interrupted:
		fmt.Fprintln(os.Stderr, "interrupted; what was started has been ended")
		os.Exit(130)
	}
	fmt.Fprintln(os.Stderr, err)
	if errors.As(err, &usage) {
		os.Exit(2)
	}
	os.Exit(1)
}

func run(ctx context.Context, args []string) error {
	// The checkout may belong to another user.
	os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -buildvcs=false"))
	if len(args) == 0 {
		return usageError{errors.New("ci is run by ./run-main-job and ./run-tests: use them")}
	}
	switch args[0] {
	case "main-job":
		return mainJobCommand(ctx, args[1:])
	case "tests":
		return testsCommand(ctx, args[1:])
	case "debian13":
		return debian13Command(ctx, args[1:])
	case "busy":
		return busyCommand(args[1:])
	case "enter":
		return enter(args[1:])
	}
	return usageError{fmt.Errorf("ci has no command %s: use ./run-main-job or ./run-tests", args[0])}
}

func mainJobCommand(ctx context.Context, args []string) error {
	fs := newFlags("run-main-job", `Installs what is missing and counts every identifier of Go's own source tree with a distributed
hashtable: on four PEs of this machine, then on two hosts (network namespaces) with two PEs each.
Both runs are compared with a sequential count.`)
	input := fs.String("input", "", "count the identifiers below this `directory` (default: the source of the Go installation)")
	if err := parse(fs, args); err != nil {
		return err
	}
	if err := install(ctx, "run-main-job", forMainJob); err != nil {
		return err
	}
	defer withoutAutogroups(autogroupFile)()
	return mainJob(ctx, *input)
}

func testsCommand(ctx context.Context, args []string) error {
	fs := newFlags("run-tests", `Installs what the tests need and runs every step, or those named by -only. It goes on after a step that
fails, and lists those at the end. A test that fails runs again, alone, when all steps are done; if it passes
then, it is listed as flaky. No test fails for being slow: what reports nothing for minutes, not counting what
the load of the machine takes, is ended as hanging.`)
	only := fs.String("only", "", "run these `steps` and no others: names separated by commas")
	short := fs.Bool("short", false, "only the first steps, with `go test -short`: a few minutes")
	strict := fs.Bool("strict", false, "fail, too, if a test passes only when it runs again alone")
	many := fs.String("hundred", "", "run the tests that match this `pattern` of go test -run a hundred times beside 8 busy loops,\nin all packages, or in those whose directories follow; no step runs")
	long := fs.Bool("long", false, "also what other days have: all ten adversaries of the simulator, not three; all weekly tests, not a\nseventh; and all packages in the steps whose tests the step test runs too, and fuzz, not a third")
	list := fs.Bool("list", false, "list the steps, and run nothing")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if *many != "" {
		defer withoutAutogroups(autogroupFile)()
		return hundred(ctx, *many, fs.Args(), hundredTimes, busyLoops)
	}
	if err := noArguments(fs); err != nil {
		return err
	}
	all := steps
	if *short {
		all = shortSteps()
	}
	if *list {
		for _, s := range all {
			fmt.Printf("%-12s %s\n", s.name, s.what)
		}
		return nil
	}
	chosen, err := choose(all, *only)
	if err != nil {
		return err
	}
	if err := install(ctx, "run-tests", slices.Concat(forMainJob, forTests, forDebian13)); err != nil {
		return err
	}
	defer withoutAutogroups(autogroupFile)()
	if *long {
		ctx = context.WithValue(ctx, longKey{}, true)
	}
	return runSteps(ctx, chosen, options{strict: *strict, list: flakyList})
}

func newFlags(name, what string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {
		fmt.Printf("%s\n\nusage: ./%s [flags]\n\n", what, name)
		fs.SetOutput(os.Stdout)
		fs.PrintDefaults()
		fs.SetOutput(io.Discard)
	}
	return fs
}

func parse(fs *flag.FlagSet, args []string) error {
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	return noArguments(fs)
}

func parseFlags(fs *flag.FlagSet, args []string) error {
	err := fs.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{fmt.Errorf("%s: %w: ./%s -h lists the flags", fs.Name(), err, fs.Name())}
}

func noArguments(fs *flag.FlagSet) error {
	if fs.NArg() == 0 {
		return nil
	}
	return usageError{fmt.Errorf("%s: it takes no arguments, but got %s: ./%s -h lists the flags", fs.Name(), fs.Arg(0), fs.Name())}
}
