// Program races runs the scenarios of docs/use/races.md on PEs that are goroutines. It is built with the race detector,
// whose reports it lets through. The test of the folder above reads them.
//
// Before each run of a scenario it writes a line to standard error:
//
//	=== FIRST | THEN	conflicts.go:31	conflicts.go:32
//
// with the names of the scenario and the lines of the program on which the PEs access, and after the last scenario the
// line "=== end". So a report belongs to the scenario whose line stands above it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// limit ends a scenario that hangs.
const limit = time.Minute

func main() {
	var opts pgastest.Options
	flag.BoolVar(&opts.Check, "check", false, "check every access, as PGAS_CHECK=1 does")
	flag.BoolVar(&opts.Races, "clocks", false, "look for races as PGAS_CHECK=race does, and print a line for each")
	runs := flag.Int("runs", 1, "run each scenario so many times")
	only := flag.String("only", "", "run the scenario `FIRST | THEN` alone")
	flag.Parse()
	if !detecting && !opts.Races {
		fmt.Fprintln(os.Stderr, "this program shows what the race detector reports: build it with -race")
		os.Exit(2)
	}
	for _, s := range slices.Concat(conflicts, unordered, unrelated, collectives, ordered, underLocks(), underWay, unseen) {
		if *only != "" && *only != s.name() {
			continue
		}
		for range *runs {
			err := s.play(opts)
			var races *pgastest.RacesError
			if errors.As(err, &races) {
				fmt.Fprintln(os.Stderr, races)
				err = nil
			}
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", s.name(), err)
				os.Exit(1)
			}
		}
	}
	fmt.Fprintln(os.Stderr, "=== end")
}

// play runs s once, on PEs of its own.
func (s scenario) play(opts pgastest.Options) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("it has not ended in %v", limit))
	defer cancel()
	order := turn{closed: make(chan struct{})}
	return pgastest.Goroutines(ctx, s.npes(), opts, func(ctx context.Context, w *pgas.World) error {
		p, err := newPE(ctx, w, &order, opts.Check)
		if err != nil {
			return err
		}
		first, then := s.run(p)
		if p.PE() == 0 {
			fmt.Fprintf(os.Stderr, "=== %s\t%s\t%s\n", s.name(), lineOf(first), lineOf(then))
		}
		must(p.Barrier(ctx)) // nothing is reported before that line is written
		if s.alone {
			p.performAlone(first, then)
		} else {
			p.perform(first, then)
		}
		return nil
	})
}

// performAlone has PE 0 make both accesses.
func (p *pe) performAlone(first, then func()) {
	if p.PE() == 0 {
		first()
		then()
	}
	if p.atEnd != nil {
		p.atEnd()
	}
}

// perform does the part of this PE.
func (p *pe) perform(first, then func()) {
	if p.PE() == p.NPEs()-1 {
		then()
	} else {
		first()
	}
	if p.atEnd != nil {
		p.atEnd()
	}
}
