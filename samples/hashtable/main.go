// Command hashtable counts the Go identifiers of a source tree with a hashtable that is spread over
// the symmetric heaps of a job's PEs.
//
// schema.go has the records, key.go and table.go the hashtable, grow.go its growth; count.go is one PE's
// work, and main.go the order of events. docs/learn/samples.md tells how it performs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

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
			failure, err = hashtable(ctx, w, opts, os.Stdout)
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

func warn(err error) { fmt.Fprintln(os.Stderr, "hashtable:", err) }

// hashtable runs the steps of the program. A failure is of the job as a whole, and PE 0 reports it; an err is
// of this PE.
func hashtable(ctx context.Context, w *pgas.World, opts options, out io.Writer) (failure, err error) {
	c, failure, err := prepare(ctx, w, opts)
	if c == nil || err != nil {
		return failure, err
	}
	start := time.Now()
	err = c.run(ctx)
	took := time.Since(start)
	if err != nil {
		return ofAll(err)
	}
	if err := c.progress.End(ctx); err != nil {
		return nil, err
	}
	r, err := summarize(ctx, c, took)
	if err != nil {
		return nil, err
	}
	if opts.verify {
		if r.Verified, err = verify(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := c.table.free(ctx); err != nil || w.PE() != 0 {
		return nil, err
	}
	return publish(out, r, opts.json), nil
}

// ofAll tells a failure of all PEs, a full heap, from others.
func ofAll(e error) (failure, err error) {
	if errors.As(e, new(*pgas.HeapFullError)) {
		return e, nil
	}
	return nil, e
}

// prepare lists the files, sends the list to all PEs, and makes the table. If there is nothing to count it returns
// neither a counter nor an err; PE 0 has the failure.
func prepare(ctx context.Context, w *pgas.World, opts options) (c *counter, failure, err error) {
	c = &counter{w: w, batch: opts.batch, words: map[string]*word{}, warn: warn}
	tallies, err := AllocTally(ctx, w, 1)
	if err != nil {
		return nil, nil, err
	}
	c.tally = tallies.At(0)
	c.root, failure = source.Tree(opts.input)
	if w.PE() == 0 && failure == nil {
		failure = c.list()
	}
	if c.files, err = source.Share(ctx, w, c.files); err != nil || len(c.files) == 0 {
		return nil, failure, err
	}
	if c.mail, err = newMailman(ctx, w, c.tally, func(pe int) bool { return !opts.direct && w.HostOf(pe) != w.Host() }); err != nil {
		return nil, nil, err
	}
	slots, heap := opts.slots(w.NPEs())
	c.table, err = newTable(ctx, w, slots, heap, pagesFor(slots*textShare)+w.NPEs(), hashName)
	if err != nil {
		failure, err = ofAll(err)
		return nil, failure, err
	}
	total := 0 // PEs take files as they go, so PE 0 says how many all have
	if w.PE() == 0 {
		total = len(c.files)
	}
	c.progress, err = progress.New(ctx, w, "files", total)
	return c, nil, err
}

// publish prints the result; it fails if it is not complete or not verified.
func publish(out io.Writer, r *Result, asJSON bool) error {
	if asJSON {
		if err := printJSON(out, r); err != nil {
			return err
		}
	} else {
		printText(out, r)
	}
	if r.Verified != nil {
		if err := r.Verified.Err(); err != nil {
			return err
		}
	}
	return r.incomplete()
}
