package main

// Fuzzing finds its targets by itself, because a list of them would be out of date. It reads the sources: to ask go
// test -list would link the tests of every package, which takes a minute.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// inputs is how many inputs a target is tried with. It is a number of inputs, not a time: when a time ends on a loaded
// machine, go test of Go 1.26 can report the end of the time itself as the failure (go.dev/issue/75804).
const inputs = "2000x"

func fuzz(ctx context.Context) error {
	targets, err := fuzzTargets(".")
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("there is no fuzz target, which cannot be: is this the root of the module?")
	}
	cache, err := output(ctx, "go", "env", "GOCACHE")
	if err != nil {
		return err
	}
	f := &fuzzer{cache: filepath.Join(strings.TrimSpace(cache), "fuzz"), binaries: map[string]string{}}
	if f.tmp, err = os.MkdirTemp("", "gopgas-fuzz-"); err != nil {
		return err
	}
	defer os.RemoveAll(f.tmp)
	var failed []error
	today := turn(ctx, packagesOf(targets), week)
	for _, t := range targets {
		if !slices.Contains(today, t.pkg) {
			continue
		}
		if err := f.try(ctx, t); err != nil {
			failed = append(failed, fmt.Errorf("%s of %s: %w; if its output names a failing input, that is in the package's testdata/fuzz now: commit it with the remedy", t.name, t.pkg, err))
		}
	}
	return errors.Join(failed...)
}

// fuzzer has a binary of the tests of each package, which go test -fuzz would link for each target.
type fuzzer struct {
	tmp, cache string
	binaries   map[string]string
}

func (f *fuzzer) try(ctx context.Context, t target) error {
	binary, built := f.binaries[t.pkg]
	if !built {
		binary = filepath.Join(f.tmp, fmt.Sprint(len(f.binaries)), filepath.Base(t.pkg)+".test")
		if err := show(ctx, nil, "go", "test", "-c", "-vet=off", "-fuzz=.", "-o", binary, t.pkg); err != nil {
			return err
		}
		f.binaries[t.pkg] = binary
	}
	path, err := output(ctx, "go", "list", t.pkg)
	if err != nil {
		return err
	}
	converter, err := output(ctx, "go", "tool", "-n", "test2json")
	if err != nil {
		return err
	}
	argv := []string{strings.TrimSpace(converter), "-p", t.pkg, binary, "-test.v=test2json", "-test.timeout=0", "-test.run=^$", "-test.fuzz=^" + t.name + "$",
		"-test.fuzztime=" + inputs, "-test.fuzzcachedir=" + filepath.Join(f.cache, strings.TrimSpace(path))}
	s, err := goTestRunIn(ctx, t.pkg, laneOf(ctx).stdout(), nil, argv, quietLimit)
	if err == nil && (s.packages[t.pkg] == nil || !slices.Contains(s.packages[t.pkg].passed, t.name)) {
		return errors.New("it did not run")
	}
	return err
}

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// fuzzTargets finds the fuzz functions below root, in the order of their files.
func fuzzTargets(root string) ([]target, error) { return functions(root, fuzzFunc) }
