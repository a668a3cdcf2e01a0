// Command wordcount counts the Go identifiers of a source tree in a map that is spread over the PEs of a job: a
// containers.StringMap.
//
// options.go is the command line, count.go one PE's work, report.go what PE 0 prints. samples/hashtable does the same
// in a table of its own, by atomics, and so does tests/peers/wordcount.c in C, by OpenSHMEM.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/progress"
	"github.com/gopgas/gopgas/samples/source"
)

// main ends a job that has failed as a whole, by a wrong flag or a missing tree, only after all PEs have
// left it: they all know, so PE 0 reports it and the launcher has nothing to add.
func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the heap is small, and the CPUs are for counting
	}
	opts, text, failure := parse(os.Args[1:])
	pgas.Main(func(ctx context.Context, w *pgas.World) (err error) {
		if failure == nil && text == "" {
			failure, err = wordcount(ctx, w, opts, os.Stdout)
		}
		if w.PE() != 0 {
			failure = nil
		} else {
			fmt.Print(text)
		}
		return err
	})
	if failure != nil {
		warn(failure)
		os.Exit(1)
	}
}

// ringBytes is what a PE may have under way to another before that one must run, and allRings to all: on a host with
// fewer CPUs than PEs a PE should not wait for its turn as often as the default has it.
const ringBytes, allRings = 256 << 10, 8 << 20

func warn(err error) { fmt.Fprintln(os.Stderr, "wordcount:", err) }

// wordcount runs the steps of the program. A failure is of the job as a whole, and PE 0 reports it; an err is of this
// PE.
func wordcount(ctx context.Context, w *pgas.World, opts options, out io.Writer) (failure, err error) {
	c, failure, err := prepare(ctx, w, opts)
	if c == nil || err != nil {
		return failure, err
	}
	start := time.Now()
	if err := c.run(ctx); err != nil {
		return ofAll(err, opts)
	}
	took := time.Since(start)
	if err := c.progress.End(ctx); err != nil {
		return nil, err
	}
	r, err := summarize(ctx, c, took, opts.verify)
	if err != nil {
		return nil, err
	}
	if err := c.counts.Free(ctx); err != nil || w.PE() != 0 {
		return nil, err
	}
	return publish(out, r, opts.json), nil
}

// ofAll tells a failure of all PEs, a map or a heap that is full, from others.
func ofAll(e error, opts options) (failure, err error) {
	switch {
	case errors.As(e, new(*containers.MapFullError)):
		return fmt.Errorf("the map has no room for more identifiers: give a larger -capacity than %d", opts.capacity), nil
	case errors.As(e, new(*pgas.HeapFullError)):
		return fmt.Errorf("a map with -capacity %d: %w", opts.capacity, e), nil
	}
	return nil, e
}

// prepare lists the files, sends the list to all PEs, and makes the map. If there is nothing to count it returns
// neither a counter nor an err; PE 0 has the failure.
func prepare(ctx context.Context, w *pgas.World, opts options) (c *counter, failure, err error) {
	c = &counter{w: w, words: newWords()}
	c.root, failure = source.Tree(opts.input)
	if w.PE() == 0 && failure == nil {
		failure = c.list()
	}
	if c.files, err = source.Share(ctx, w, c.files); err != nil || len(c.files) == 0 {
		return nil, failure, err
	}
	if c.tickets, err = containers.NewTickets(ctx, w); err != nil {
		return nil, nil, err
	}
	if c.counts, err = containers.NewStringMap[int64](ctx, w, containers.Capacity(opts.capacity), containers.Ring(min(ringBytes, allRings/w.NPEs()))); err != nil {
		failure, err = ofAll(err, opts)
		return nil, failure, err
	}
	total := 0 // PEs take files as they go, so PE 0 says how many all have
	if w.PE() == 0 {
		total = len(c.files)
	}
	c.progress, err = progress.New(ctx, w, "files", total)
	return c, nil, err
}
