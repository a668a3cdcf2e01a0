package main

// What each subcommand runs.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gopgas/gopgas/cmd/pgasbench/compare"
	"github.com/gopgas/gopgas/cmd/pgasbench/dsmbench"
	"github.com/gopgas/gopgas/cmd/pgasbench/floor"
	"github.com/gopgas/gopgas/cmd/pgasbench/growth"
	"github.com/gopgas/gopgas/cmd/pgasbench/lockbench"
	"github.com/gopgas/gopgas/cmd/pgasbench/startbench"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
	"github.com/gopgas/gopgas/pgas/version"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

// runBenches measures operations with the PEs of this job, or with simulated ones.
func runBenches(args []string) int {
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return say(os.Stdout, help(), 0)
	case err != nil:
		return say(os.Stderr, fmt.Sprintf("pgasbench: %v; pgasbench -h shows how it is used\n", err), exitUsage)
	case o.version:
		return say(os.Stdout, "pgasbench "+version.Current()+"\n", 0)
	case o.list:
		return say(os.Stdout, list(), 0)
	case o.simulated:
		return simulate(o)
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		return run(ctx, w, o, os.Stdout, os.Stderr)
	})
	return 0
}

// simulate measures with simulated PEs.
func simulate(o *options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	const mostEvents = 2_000_000_000 // ends what would take longer than a user waits
	cfg := sim.Config{Seed: 1, Topology: o.topology, HeapMax: 256 << 20, MaxEvents: mostEvents}
	_, err := sim.Run(ctx, cfg, o.pes, func(ctx context.Context, w *pgas.World) error {
		return run(ctx, w, o, os.Stdout, os.Stderr)
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}

// say lets PE 0 speak for the job, whose PEs all have the same command line, and returns the status. All
// leave together: the first to end with a bad status would silence the others.
func say(to io.Writer, text string, status int) int {
	if os.Getenv("PGAS_PE") == "" { // no launcher, no job
		fmt.Fprint(to, text)
		return status
	}
	w, err := pgas.Init(context.Background())
	if err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	if w.PE() == 0 {
		fmt.Fprint(to, text)
	}
	if err := w.Close(); err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return status
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

// runFloor measures the machine.
func runFloor(args []string) int {
	o, err := floor.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(floor.Help())
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "pgasbench: %v; pgasbench floor -h shows how it is used\n", err)
		return exitUsage
	case o.List:
		fmt.Print(floor.List())
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := floor.Main(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}

// runGrowth measures how costs grow.
func runGrowth(args []string) int {
	o, err := growth.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(growth.Help())
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "pgasbench: %v; pgasbench growth -h shows how it is used\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := growth.Main(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}

// runStart measures what the start of jobs costs.
func runStart(args []string) int {
	o, err := startbench.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(startbench.Help())
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "pgasbench: %v; pgasbench start -h shows how it is used\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := startbench.Main(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}

// runLocks measures with the PEs of this job, or simulates one.
func runLocks(args []string) int {
	o, err := lockbench.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return say(os.Stdout, lockbench.Help(), 0)
	case err != nil:
		return say(os.Stderr, fmt.Sprintf("pgasbench: %v; pgasbench locks -h shows how it is used\n", err), exitUsage)
	case o.List:
		return say(os.Stdout, lockbench.List(), 0)
	case o.Simulated:
		return simulateLocks(o)
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		return lockbench.Run(ctx, w, o, os.Stdout, os.Stderr)
	})
	return 0
}

func simulateLocks(o *lockbench.Options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := lockbench.Simulate(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}

// runDSM measures coherent memory with the PEs of this job, or simulates skeletons of programs.
func runDSM(args []string) int {
	o, err := dsmbench.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return say(os.Stdout, dsmbench.Help(), 0)
	case err != nil:
		return say(os.Stderr, fmt.Sprintf("pgasbench: %v; pgasbench dsm -h shows how it is used\n", err), exitUsage)
	case o.List:
		return say(os.Stdout, dsmbench.List(), 0)
	case !o.Simulated:
		pgas.Main(func(ctx context.Context, w *pgas.World) error { return dsmbench.Run(ctx, w, o, os.Stdout) })
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dsmbench.Simulate(ctx, o, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}

// runNotify measures notified access with the PEs of this job, or with simulated ones.
func runNotify(args []string) int {
	o, err := parseNotify(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return say(os.Stdout, notifyHelp(), 0)
	case err != nil:
		return say(os.Stderr, fmt.Sprintf("pgasbench: %v; pgasbench notify -h shows how it is used\n", err), exitUsage)
	case !o.simulated:
		pgas.Main(func(ctx context.Context, w *pgas.World) error {
			return measureNotify(ctx, w, o, os.Stdout, os.Stderr)
		})
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := simulateNotify(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "pgasbench: %v\n", err)
		return exitFailure
	}
	return 0
}
