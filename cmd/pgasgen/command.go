package main

// A command line: flags, then the name of a subcommand or arguments. Help says what the command is for before it lists
// flags.

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
)

// A command is pgasgen, or one of its subcommands.
type command struct {
	name        string // the name of a subcommand
	usage       string // its command line
	short, long string
	flags       *flag.FlagSet
	subcommands []*command
	exec        func(ctx context.Context, args []string) error
}

// run parses args and runs the command or the subcommand that they name. It returns an errUsage if a flag is wrong, and
// flag.ErrHelp, with the help printed to the flags' output, if that was asked for.
func (c *command) run(ctx context.Context, args []string) error {
	c.flags.Usage = c.help
	if err := c.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return errUsage{err}
	}
	for _, sub := range c.subcommands {
		if c.flags.Arg(0) == sub.name {
			return sub.run(ctx, c.flags.Args()[1:])
		}
	}
	return c.exec(ctx, c.flags.Args())
}

// newFlags returns a flag set whose errors are returned, and whose help goes to a buffer.
func newFlags(name string, help *bytes.Buffer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(help)
	return flags
}

// help prints the page to the output of the flags.
func (c *command) help() {
	w := tabwriter.NewWriter(c.flags.Output(), 0, 2, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "DESCRIPTION\n  %s\n\nUSAGE\n  %s\n\n%s\n\n", c.short, c.usage, c.long)
	if len(c.subcommands) > 0 {
		fmt.Fprintf(w, "SUBCOMMANDS\n")
		for _, sub := range c.subcommands {
			fmt.Fprintf(w, "  %s\t%s\n", sub.name, sub.short)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "FLAGS\n")
	c.flags.VisitAll(func(f *flag.Flag) {
		value, what := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "  %s\t%s\n", strings.TrimSpace("-"+f.Name+" "+value), what)
	})
}
