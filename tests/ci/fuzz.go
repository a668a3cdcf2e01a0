package main

// Fuzzing finds its targets by itself, because a list of them would be out of date.

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// target is one fuzz function.
type target struct{ pkg, name string }

func fuzz(ctx context.Context) error {
	listing, err := output(ctx, "go", "test", "-list=^Fuzz", "./...")
	if err != nil {
		return err
	}
	targets := targetsIn(listing)
	if len(targets) == 0 {
		return errors.New("there is no fuzz target, which cannot be: has the output of `go test -list` changed?")
	}
	var failed []error
	for _, t := range targets {
		if err := goTest(nil, "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime=3s", t.pkg)(ctx); err != nil {
			failed = append(failed, fmt.Errorf("%s of %s: %w; the input that failed is in the package's testdata/fuzz now: commit it with the remedy", t.name, t.pkg, err))
		}
	}
	return errors.Join(failed...)
}

// targetsIn reads what go test -list prints: names, and after those of a package its closing line.
func targetsIn(listing string) []target {
	var targets []target
	var names []string
	for line := range strings.Lines(listing) {
		switch fields := strings.Fields(line); {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) >= 2 && (fields[0] == "ok" || fields[0] == "?"):
			for _, name := range names {
				targets = append(targets, target{fields[1], name})
			}
			names = nil
		}
	}
	return targets
}
