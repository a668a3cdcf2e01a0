// Command wordcount counts the Go identifiers of a source tree with a hashtable that is spread over
// the symmetric heaps of a job's PEs.
//
// schema.go has the records, key.go and table.go the hashtable, grow.go its growth; count.go is one PE's
// work, and main.go the order of events. docs/samples.md tells how it performs.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// main parses the flags on every PE, so that a mistake ends the job before it starts, and lets PE 0 say
// it.
func main() {
	opts, text, err := parse(os.Args[1:])
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		switch {
		case err != nil:
			return onlyOnPE0(ctx, w, err)
		case text != "":
			if w.PE() == 0 {
				fmt.Print(text)
			}
			return nil
		}
		return wordcount(ctx, w, opts, os.Stdout)
	})
}

// onlyOnPE0 fails the job with an error that all PEs have: PE 0 returns it, the others wait to be ended.
func onlyOnPE0(ctx context.Context, w *pgas.World, err error) error {
	if w.PE() == 0 {
		return err
	}
	return w.Barrier(ctx)
}

// wordcount is the order of events.
func wordcount(ctx context.Context, w *pgas.World, opts options, out io.Writer) error {
	c, err := prepare(ctx, w, opts)
	if err != nil {
		return err
	}
	start := time.Now()
	var p *progress
	if w.PE() == 0 {
		p = startProgress(opts.progress, c.tally, len(c.files))
	}
	err = c.run(ctx)
	p.end()
	if err != nil {
		return err
	}
	r, err := summarize(ctx, c, time.Since(start))
	if err != nil {
		return err
	}
	if opts.verify {
		if r.Verified, err = verify(ctx, c); err != nil {
			return err
		}
	}
	if err := c.table.free(ctx); err != nil {
		return err
	}
	if w.PE() != 0 {
		return nil
	}
	return publish(out, r, opts.json)
}

// prepare finds the files, shares them, and makes the table.
func prepare(ctx context.Context, w *pgas.World, opts options) (*counter, error) {
	root, err := sourceTree(opts.input)
	if err != nil {
		return nil, err
	}
	c := &counter{w: w, root: root, batch: opts.batch, words: map[string]*word{}, warn: warn}
	tallies, err := AllocTally(ctx, w, 1)
	if err != nil {
		return nil, err
	}
	c.tally = tallies.At(0)
	var mine []string
	if w.PE() == 0 {
		var unreadable []error
		if mine, unreadable, err = listFiles(root); err != nil {
			return nil, err
		}
		for _, err := range unreadable {
			warn(err)
		}
		c.done.unreadable = int64(len(unreadable))
	}
	if c.files, err = shareFiles(ctx, w, c.tally, mine); err != nil {
		return nil, err
	}
	if c.mail, err = newMailman(ctx, w, c.tally, func(pe int) bool { return !opts.direct && w.HostOf(pe) != w.Host() }); err != nil {
		return nil, err
	}
	slots, heap := opts.slots(w.NPEs())
	c.table, err = newTable(ctx, w, slots, heap, pagesFor(slots*textShare)+w.NPEs(), hashName)
	return c, err
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
		if err := r.Verified.err(); err != nil {
			return err
		}
	}
	return r.incomplete()
}

func warn(err error) { fmt.Fprintln(os.Stderr, "wordcount:", err) }
