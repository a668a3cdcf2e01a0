package main

// pgasrun trace summary: what a trace says, as text or as one object.

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
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

`

func traceFlags(asJSON *bool) *flagSet {
	s := newFlags("pgasrun trace", "`pgasrun trace summary FILE`, `pgasrun trace -h` says more", nil)
	s.truth(flagsAlone, asJSON, "json", "print one JSON object with all of each list")
	return s
}

// traceUsage is what -h prints.
func traceUsage() string { return traceHelp + traceFlags(new(bool)).help() }

// runTrace is pgasrun trace.
func runTrace(args []string, to io.Writer) (int, error) {
	var asJSON bool
	s := traceFlags(&asJSON)
	wrong := func(what string) (int, error) { return statusUsage, fmt.Errorf("%s: %s", what, s.hint) }
	if len(args) > 0 && args[0] == "summary" {
		args = args[1:]
	} else if len(args) == 0 || args[0] != "-h" && args[0] != "-help" && args[0] != "--help" {
		return wrong("trace: the only thing to do with a trace is a summary")
	}
	if err := s.parse(args); err != nil {
		return statusUsage, err
	}
	if s.NArg() != 1 {
		return wrong("trace summary: one file is needed")
	}
	t, err := readTrace(s.Arg(0))
	if err != nil {
		return statusFailed, err
	}
	sum := t.Summarize()
	out := bufio.NewWriter(to)
	if asJSON {
		err = json.NewEncoder(out).Encode(sum)
	} else {
		err = sum.WriteText(out)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return statusFailed, err
	}
	return 0, nil
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
