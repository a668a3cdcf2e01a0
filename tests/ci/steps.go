package main

// The steps of the tests, cheapest first. Each is a few commands that can be run by hand.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// staticcheck is pinned: a newer one may know more, which must not break a checkout of today.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// testTimeout ends a test binary that hangs.
const testTimeout = "-timeout=12m"

// step is one line of the report.
type step struct {
	name string
	what string
	run  func(ctx context.Context) error
}

var steps = []step{
	{"gofmt", "every Go file is formatted", formatted},
	{"build", "the module builds", goCommand("build", "./...")},
	{"vet", "go vet finds nothing", goCommand("vet", "./...")},
	{"staticcheck", "staticcheck finds nothing", goCommand("run", staticcheck, "./...")},
	{"generate", "checked-in generated files are current", generated},
	{"peers", "the C programs that ours is compared with compile", peers},
	{"test", "all tests", goCommand("test", testTimeout, "./...")},
	{"race", "the tests of packages that run PEs as goroutines, under the race detector", goCommand(append([]string{"test", "-race", "-short", testTimeout}, raced...)...)},
	{"nocgo", "the module builds and passes its tests without C", withoutC},
	{"bench", "every benchmark runs", goCommand("test", "-run=^$", "-bench=.", "-benchtime=1x", testTimeout, "./...")},
	{"fuzz", "every fuzz target, for three seconds each", fuzz},
}

// raced are the packages whose tests run PEs as goroutines, or goroutines of the launcher.
var raced = []string{"./pgas/...", "./atomics", "./locks/...", "./notify", "./ucx/...", "./samples/...", "./templates/...", "./cmd/pgasrun"}

// choose returns the named steps in their order, or all.
func choose(only string) ([]step, error) {
	if only == "" {
		return steps, nil
	}
	names := strings.Split(only, ",")
	chosen := slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return !slices.Contains(names, s.name) })
	for _, name := range names {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.name == name }) {
			return nil, usageError{fmt.Errorf("run-tests: there is no step %q: ./run-tests -list lists them", name)}
		}
	}
	return chosen, nil
}

func runSteps(ctx context.Context, chosen []step) error {
	begin := time.Now()
	for i, s := range chosen {
		fmt.Printf("\n== %d/%d %s: %s\n", i+1, len(chosen), s.name, s.what)
		start := time.Now()
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("run-tests: step %s failed after %.1f s (%w): `./run-tests -only %s` runs it alone", s.name, time.Since(start).Seconds(), err, s.name)
		}
		fmt.Printf("== %s: ok, %.1f s\n", s.name, time.Since(start).Seconds())
	}
	fmt.Printf("\nrun-tests: %d steps passed in %.0f s\n", len(chosen), time.Since(begin).Seconds())
	return nil
}

// goCommand is a step that is one go command.
func goCommand(args ...string) func(context.Context) error {
	return func(ctx context.Context) error { return show(ctx, nil, append([]string{"go"}, args...)...) }
}

func formatted(ctx context.Context) error {
	files, err := goFiles()
	if err != nil {
		return err
	}
	out, err := output(ctx, append([]string{"gofmt", "-l"}, files...)...)
	if err == nil && out != "" {
		err = fmt.Errorf("run `gofmt -w %s`", strings.Join(strings.Fields(out), " "))
	}
	return err
}

// goFiles are all but those below testdata, some of which are wrong on purpose.
func goFiles() (files []string, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// generated generates into the checkout and looks whether that has changed anything. A file that was
// changed before does not count.
func generated(ctx context.Context) error {
	if err := show(ctx, nil, "go", "tool", "pgasgen", "-check", "./..."); err != nil {
		return err
	}
	before, err := changes(ctx)
	if err != nil {
		return err
	}
	if err := show(ctx, nil, "go", "generate", "./..."); err != nil {
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

// peers compiles the C programs, to where they do not stay.
func peers(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gopgas-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, argv := range [][]string{
		{"oshcc", "-O3", "-Wall", "-o", filepath.Join(dir, "osh"), "tests/peers/osh.c"},
		{"mpicc", "-O3", "-Wall", "-o", filepath.Join(dir, "mpi"), "tests/peers/mpi.c"},
		{"gcc", "-O3", "-Wall", "-o", filepath.Join(dir, "ucp"), "tests/peers/ucp.c", "-lucp", "-lucs"},
		{"gcc", "-O3", "-Wall", "-o", filepath.Join(dir, "floor"), "tests/peers/floor.c"},
	} {
		if err := show(ctx, nil, argv...); err != nil {
			return err
		}
	}
	return nil
}

func withoutC(ctx context.Context) error {
	for _, argv := range [][]string{{"go", "build", "./..."}, {"go", "test", testTimeout, "./..."}} {
		if err := show(ctx, []string{"CGO_ENABLED=0"}, argv...); err != nil {
			return err
		}
	}
	return nil
}
