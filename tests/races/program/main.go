// Program races runs the scenarios of docs/use/races.md on PEs that are goroutines. It is built with the race detector,
// whose reports it lets through. The test of the folder above reads them.
//
// Before each run of a scenario it writes a line to standard error:
//
//	=== FIRST | THEN	conflicts.go:31	conflicts.go:32
//
// with the names of the scenario and the lines of the program on which the PEs access, and after the last scenario the
// line "=== end". So the line above a report names its scenario. Over a late network and in the
// simulator each run has a seed of its own, from 0 on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// limit ends a scenario that hangs.
const limit = time.Minute

func main() {
	var opts pgastest.Options
	flag.BoolVar(&opts.Check, "check", false, "check every access, as PGAS_CHECK=1 does")
	flag.BoolVar(&opts.Races, "clocks", false, "look for races as PGAS_CHECK=race does, and print a line for each")
	runs := flag.Int("runs", 1, "run each scenario so many times")
	only := flag.String("only", "", "run the scenario `FIRST | THEN` alone")
	skip := flag.String("skip", "^$", "leave out scenarios whose names match this regular `expression`")
	on := flag.String("on", "goroutines", "run the PEs as `goroutines`, over a late network (late), or in the simulator (sim)")
	flag.Parse()
	if !detecting && !opts.Races && *on == "goroutines" {
		fmt.Fprintln(os.Stderr, "this program shows what the race detector reports: build it with -race")
		os.Exit(2)
	}
	for _, s := range slices.Concat(conflicts, unordered, unrelated, collectives, ordered, underLocks(), underWay, unseen) {
		if *only != "" && *only != s.name() || regexp.MustCompile(*skip).MatchString(s.name()) {
			continue
		}
		for seed := range uint64(*runs) {
			opts.Seed = seed
			err := s.play(machines[*on], opts)
			var races *pgastest.RacesError
			var failure *sim.Failure
			if errors.As(err, &races) || errors.As(err, &failure) {
				fmt.Fprintln(os.Stderr, err)
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
func (s scenario) play(m machine, opts pgastest.Options) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("it has not ended in %v", limit))
	defer cancel()
	order := turn{closed: make(chan struct{}), pause: m.pause}
	return m.run(ctx, s.npes(), opts, func(ctx context.Context, w *pgas.World) error {
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

// A machine runs the PEs of a scenario.
type machine struct {
	run   func(ctx context.Context, npes int, opts pgastest.Options, body pgastest.Body) error
	pause func(w *pgas.World) // how a PE spends time until its turn comes
}

var machines = map[string]machine{
	"goroutines": {pgastest.Goroutines, sleep},
	"late": {func(ctx context.Context, npes int, opts pgastest.Options, body pgastest.Body) error {
		return pgastest.Late(ctx, npes, npes, opts, body)
	}, sleep},
	"sim": {func(ctx context.Context, npes int, opts pgastest.Options, body pgastest.Body) error {
		cfg := sim.Config{Adversary: true, Seed: opts.Seed, Check: opts.Check, Races: opts.Races}
		_, err := sim.Run(ctx, cfg, npes, body)
		return err
	}, (*pgas.World).Yield},
}

// sleep is short: the detector forgets what a goroutine has done long ago.
func sleep(*pgas.World) { time.Sleep(20 * time.Microsecond) }
