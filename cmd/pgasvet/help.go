package main

// What -h prints. The flags are declared by package multichecker when it runs, which prints them all, those without
// effect and those for its own developers, too; here are the others, and every rule is one.

import (
	"flag"
	"fmt"
	"strings"

	"github.com/gopgas/gopgas/cmd/internal/flags"
	"github.com/gopgas/gopgas/cmd/internal/manual"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules"
)

//go:generate go run . manual -o ../../docs/use/man

const helpText = `pgasvet finds mistakes in programs over symmetric and coherent memory that compile.

usage: pgasvet [flags] PACKAGES

  pgasvet ./...                                  every rule, in all packages below
  pgasvet -unfenced -collective ./...            these rules alone
  pgasvet -unfenced=false ./...                  all but this one
  pgasvet -fix ./...                             and make the changes that a rule proposes
  pgasvet help unfenced                          what a rule finds, and why
  go vet -vettool=$(which pgasvet) ./...         under go vet, with its cache

//pgasvet:ok REASON behind a line, or above it, says that the line is right. The exit status is 0 without findings.

`

// help is what -h prints.
func help() string {
	var b strings.Builder
	b.WriteString(helpText)
	fs := flag.NewFlagSet("pgasvet", flag.ContinueOnError)
	fs.SetOutput(&b)
	fs.Bool("fix", false, "make the changes that findings propose")
	fs.Bool("diff", false, "with -fix: print the changes, and make none")
	fs.Bool("json", false, "print findings as JSON")
	fs.Int("c", -1, "print the line of a finding, and `N` lines around it")
	fs.Bool("test", true, "look at test files, too")
	b.WriteString("flags:\n")
	fs.PrintDefaults()

	b.WriteString("\nrules:\n")
	fs = flag.NewFlagSet("pgasvet", flag.ContinueOnError)
	fs.SetOutput(&b)
	for _, rule := range rules.All() {
		what, _, _ := strings.Cut(rule.Doc, "\n")
		fs.Bool(rule.Name, false, what)
	}
	fs.PrintDefaults()
	b.WriteString("\nother things to do:\n" + manual.Usage("pgasvet"))
	return b.String()
}

// checkLines returns an error if -c has a value that is no number. Package multichecker, which declares the flag, would
// say "parse error" and print all flags.
func checkLines(args []string) error {
	for i := 0; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		name, value, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if name != "c" {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if err := new(flags.Int).Set(value); err != nil {
			return fmt.Errorf("invalid value %q for flag -c: %w", value, err)
		}
		return nil
	}
	return nil
}

// described is pgasvet as its manual and its completion have it.
func described() *manual.Command {
	sub := manual.Command{Name: "pgasvet help", Short: "list the rules, or describe one", Help: func() string {
		return "pgasvet help lists the rules.\n\nusage: pgasvet help [RULE]\n"
	}}
	for _, rule := range rules.All() {
		sub.Words = append(sub.Words, rule.Name)
	}
	return &manual.Command{
		Name: "pgasvet", Short: "find mistakes over symmetric and coherent memory that compile", Help: help, Args: manual.Directories, Sub: []manual.Command{sub},
	}
}
