// Pgasbench measures the operations of pgas between two PEs, and compares them with other runtimes.
//
// It is a program of PEs like any other (pgas.Main): PE 0 works with the last PE and prints. bench.go
// holds the table of benches and how one is run; a file each holds puts and gets, atomics, ping-pongs,
// the rest. How operations are timed stands in package result, what `pgasbench compare` does in package
// compare. docs/pgasbench.md says how to read the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/gopgas/gopgas/cmd/pgasbench/compare"
	"github.com/gopgas/gopgas/pgas"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "compare" {
		os.Exit(runCompare(os.Args[2:]))
	}
	o, err := parseOptions(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		once(func() { fmt.Print(help()) })
		return
	case err != nil:
		once(func() { fmt.Fprintf(os.Stderr, "pgasbench: %v; pgasbench -h shows how it is used\n", err) })
		os.Exit(exitUsage)
	case o.list:
		once(func() { listBenches(os.Stdout) })
		return
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		return run(ctx, w, o, os.Stdout, os.Stderr)
	})
}

// once lets f speak in one process of the job: all PEs have the same command line.
func once(f func()) {
	if pe := os.Getenv("PGAS_PE"); pe == "" || pe == "0" {
		f()
	}
}

func runCompare(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := compare.Main(ctx, args, os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, compare.ErrUsage):
		fmt.Fprintf(os.Stderr, "pgasbench: %v; pgasbench compare -h shows how it is used\n", err)
		return exitUsage
	case err != nil:
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}
