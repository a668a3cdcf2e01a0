// Pgasbench measures the operations of pgas between two PEs, and compares them with other runtimes.
//
// It is a program of PEs like any other (pgas.Main): PE 0 works with the last PE and prints. bench.go holds the table
// of benches; a file each holds puts and gets, atomics, ping-pongs, the rest, over runner.go. point.go measures a
// point, points.go those that the command line names. main.go has the table of subcommands, and runs.go runs each. Each
// has a package: compare, dsmbench, floor, growth, lockbench, startbench; pgasbench notify is notifycmd.go and
// loggp.go. How operations are timed stands in package result. docs/use/pgasbench.md says how to read the figures.
//
//ci:computes
package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/gopgas/gopgas/cmd/internal/manual"
	"github.com/gopgas/gopgas/cmd/pgasbench/compare"
	"github.com/gopgas/gopgas/cmd/pgasbench/dsmbench"
	"github.com/gopgas/gopgas/cmd/pgasbench/floor"
	"github.com/gopgas/gopgas/cmd/pgasbench/growth"
	"github.com/gopgas/gopgas/cmd/pgasbench/lockbench"
	"github.com/gopgas/gopgas/cmd/pgasbench/startbench"
)

//go:generate go run . manual -o ../../docs/use/man

func main() {
	if floor.IsFollower() {
		os.Exit(floor.Follow())
	}
	if startbench.IsPE() {
		startbench.PE()
		return
	}
	status, _ := commands().Do(os.Args[1:], os.Stdout, os.Stderr)
	os.Exit(status)
}

// commands is pgasbench with its subcommands.
func commands() *manual.Command {
	return &manual.Command{
		Name: "pgasbench", Short: "measure the operations of pgas between PEs", Help: help, Run: command(runBenches),
		Sub: []manual.Command{
			{Name: "pgasbench compare", Short: "measure ours against other runtimes, in one run", Help: compareHelp, Run: command(runCompare)},
			{Name: "pgasbench dsm", Short: "measure coherent memory", Help: dsmbench.Help, Run: command(runDSM)},
			{Name: "pgasbench floor", Short: "measure what the machine itself can do", Help: floor.Help, Run: command(runFloor)},
			{Name: "pgasbench growth", Short: "measure how cost grows, for a page with plots", Help: growth.Help, Run: command(runGrowth)},
			{Name: "pgasbench locks", Short: "measure locks as their papers do", Help: lockbench.Help, Run: command(runLocks)},
			{Name: "pgasbench notify", Short: "measure notified access as its paper does", Help: notifyHelp, Run: command(runNotify)},
			{Name: "pgasbench start", Short: "measure how long jobs take to start", Help: startbench.Help, Run: command(runStart)},
		},
	}
}

// command is run for a table: it prints by itself, since PEs print as one.
func command(run func(args []string) int) func([]string, io.Writer) (int, error) {
	return func(args []string, _ io.Writer) (int, error) { return run(args), nil }
}

func compareHelp() string {
	var text strings.Builder
	compare.Main(context.Background(), []string{"-h"}, &text, io.Discard) // its error is flag.ErrHelp
	return text.String()
}
