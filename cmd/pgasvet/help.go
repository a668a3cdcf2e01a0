package main

// What -h prints. The flags are declared by package multichecker when it runs, which prints them all, those without
// effect and those for its own developers, too; here are the others, and every rule is one.

import (
	"flag"
	"fmt"
	"os"
	"strings"

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

// answerFlags makes one line of what package flag says of a wrong flag. Package multichecker would print all flags.
func answerFlags() {
	var said strings.Builder
	flag.CommandLine.SetOutput(&said)
	flag.Usage = func() {
		fault, remedy := strings.TrimSpace(said.String()), "write a whole number, such as 4"
		if strings.HasPrefix(fault, "invalid boolean") {
			remedy = "write the flag alone, or =false behind it"
		}
		fault = strings.Replace(fault, "parse error", remedy, 1)
		fmt.Fprintf(os.Stderr, "pgasvet: %s: `pgasvet -h` lists the flags\n", fault)
	}
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
