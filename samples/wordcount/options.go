package main

// The command line.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

const help = `wordcount counts the Go identifiers of a source tree, on all PEs of a job at once.

usage: pgasrun [pgasrun's flags] ./samples/wordcount [flags]

  pgasrun -n 4 ./samples/wordcount                 the standard library, four PEs on this host
  pgasrun -n 4 ./samples/wordcount -verify         and hold it against a sequential count
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/wordcount -input /src
                                                   two PEs on each of two hosts, which both have
                                                   the program and the tree
  pgasrun -n 4 ./samples/wordcount -json | jq .top

PE 0 prints the 20 most frequent identifiers and the totals. The exit status is 0 if everything was
counted, and with -verify if it agrees with a sequential count.

flags:
`

// capacityDefault holds the standard library twice over. Room that is not used costs address space alone.
const (
	capacityDefault = 3 << 17
	capacityMost    = 1 << 31
)

type options struct {
	input    string
	capacity int
	verify   bool
	json     bool
}

// parse reads the command line. If it asks for help, text is the help.
func parse(args []string) (o options, text string, err error) {
	fs := flag.NewFlagSet("wordcount", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.input, "input", "", "count the .go files below `dir` (default: the source of the Go tree, GOROOT/src)")
	fs.IntVar(&o.capacity, "capacity", capacityDefault, "different `identifiers` that the map has room for")
	fs.BoolVar(&o.verify, "verify", false, "compare with a sequential count on PE 0; fail if they differ")
	fs.BoolVar(&o.json, "json", false, "print one JSON object")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		var b strings.Builder
		fs.SetOutput(&b)
		fs.PrintDefaults()
		return o, help + b.String(), nil
	case err != nil:
		return o, "", fmt.Errorf("%w; -h lists the flags", err)
	case fs.NArg() > 0:
		return o, "", fmt.Errorf("unexpected argument %q: name the tree with -input", fs.Arg(0))
	case o.capacity < 1 || o.capacity > capacityMost:
		return o, "", fmt.Errorf("-capacity %d: give a number from 1 to %d", o.capacity, capacityMost)
	}
	return o, "", nil
}
