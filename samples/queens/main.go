// Queens counts the ways to place n queens on a board so that none attacks another. Its boards are the tasks of a pool,
// from which all PEs take. It goes on after a failure, with every board counted once:
//
//	pgasrun -n 4 -survive 20 -checkpoint DIR queens -queens 16 -round 10s
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

func main() {
	var o options
	flag.IntVar(&o.queens, "queens", 12, "how many queens, on as many rows")
	flag.IntVar(&o.depth, "depth", 3, "split a board into tasks until it has so many queens")
	flag.DurationVar(&o.round, "round", 10*time.Second, "save the tasks after each such time, where pgasrun -checkpoint says")
	flag.BoolVar(&o.verify, "verify", false, "compare the counts with those of one PE")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: pgasrun -n PES queens [flags]\n\nQueens counts the ways to place queens on a board so that none attacks another.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "queens:", err)
		os.Exit(2)
	}
	pgas.Survive(o.run)
}

func (o options) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q: queens takes flags only", flag.Arg(0))
	case o.queens < 1 || o.queens > 20:
		return fmt.Errorf("-queens %d: give a number from 1 to 20", o.queens)
	case o.depth < 0:
		return fmt.Errorf("-depth %d: give a number of queens, such as 3", o.depth)
	case o.round <= 0:
		return fmt.Errorf("-round %v: give a time that is longer than most tasks, such as 10s", o.round)
	}
	return nil
}

// run counts and reports on PE 0.
func (o options) run(ctx context.Context, w *pgas.World) error {
	start := w.Now()
	got, err := o.search(ctx, w)
	if err != nil || w.PE() > 0 {
		return err
	}
	if want := o.alone(board{}); o.verify && got != want {
		return fmt.Errorf("%d solutions in %d tasks: one PE finds %d in %d", got.solutions, got.tasks, want.solutions, want.tasks)
	}
	fmt.Printf("%d queens: %d solutions in %d tasks\n", o.queens, got.solutions, got.tasks)
	fmt.Printf("%d PEs of %d host(s): %.3f s\n", w.NPEs(), len(w.Hosts()), (w.Now() - start).Seconds())
	return nil
}
