package main

// pgasbench as its manual and its completion have it: by what -h prints.

import (
	"context"
	"io"
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

func described() *manual.Command {
	return &manual.Command{
		Name: "pgasbench", Short: "measure the operations of pgas between PEs", Help: help,
		Sub: []manual.Command{
			{Name: "pgasbench compare", Short: "measure ours against other runtimes, in one run", Help: compareHelp},
			{Name: "pgasbench dsm", Short: "measure coherent memory", Help: dsmbench.Help},
			{Name: "pgasbench floor", Short: "measure what the machine itself can do", Help: floor.Help},
			{Name: "pgasbench growth", Short: "measure how cost grows, for a page with plots", Help: growth.Help},
			{Name: "pgasbench locks", Short: "measure locks as their papers do", Help: lockbench.Help},
			{Name: "pgasbench notify", Short: "measure notified access as its paper does", Help: notifyHelp},
			{Name: "pgasbench start", Short: "measure how long jobs take to start", Help: startbench.Help},
		},
	}
}

func compareHelp() string {
	var text strings.Builder
	compare.Main(context.Background(), []string{"-h"}, &text, io.Discard) // its error is flag.ErrHelp
	return text.String()
}
