package main

// pgasrun trace summary: what a trace says, as text or as one object.

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gopgas/gopgas/pgas/trace"
)

const traceHelp = `pgasrun trace says what a trace has recorded.

usage: pgasrun trace summary [-json] FILE

  pgasrun -n 4 -trace t.json ./samples/stencil    records one
  pgasrun trace summary t.json                    late PEs, waits, locks, the critical path
  pgasrun trace summary -json t.json | jq .critical_path.by_pe

FILE may be compressed by gzip; - is standard input. https://ui.perfetto.dev draws it. docs/use/trace.md explains each part.

flags:
`

func traceFlags() (fs *flag.FlagSet, asJSON *bool) {
	fs = flag.NewFlagSet("pgasrun trace", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs, fs.Bool("json", false, "print one JSON object with all of each list")
}

// traceUsage is what -h prints.
func traceUsage() string {
	fs, _ := traceFlags()
	return traceHelp + defaults(fs)
}

// runTrace is pgasrun trace. It returns the exit status.
func runTrace(args []string) int {
	fs, asJSON := traceFlags()
	usage := func(err error) int {
		return complain(fmt.Errorf("%w: `pgasrun trace summary FILE`, `pgasrun trace -h` says more", err), statusUsage)
	}
	if len(args) > 0 && args[0] == "summary" {
		args = args[1:]
	} else if len(args) == 0 || args[0] != "-h" && args[0] != "-help" && args[0] != "--help" {
		return usage(errors.New("trace: the only thing to do with a trace is a summary"))
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(traceUsage())
		return 0
	case err != nil:
		return usage(err)
	case fs.NArg() != 1:
		return usage(errors.New("trace summary: one file is needed"))
	}
	t, err := readTrace(fs.Arg(0))
	if err != nil {
		return complain(err, statusFailed)
	}
	s := t.Summarize()
	out := bufio.NewWriter(os.Stdout)
	if *asJSON {
		err = json.NewEncoder(out).Encode(s)
	} else {
		err = s.WriteText(out)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return complain(err, statusFailed)
	}
	return 0
}

// readTrace reads a trace from a file, or from standard input if it is -.
func readTrace(path string) (*trace.Trace, error) {
	in := os.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	var from io.Reader = bufio.NewReaderSize(in, 1<<20)
	if magic, _ := from.(*bufio.Reader).Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		from = z
	}
	t, err := trace.Read(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
