package main

// One PE's share of the work. Files are taken from a counter on PE 0, a few at a time, in the order of
// the list. Identifiers are first counted locally, and merged into the table after every batch of source:
// an identifier that occurs a thousand times in a batch then costs one addition at its home instead of
// a thousand. The places of identifiers that were met before are known, so most additions wait for
// no other PE. A PE that finds a full volume calls all PEs to a meeting, where the table is made larger. It keeps what
// it could not place until then.

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/progress"
	"github.com/gopgas/gopgas/samples/source"
)

// takeMax is the most files taken at a time; fewer when the end is near, so that all end together.
const takeMax = 16

// A counter is one PE at work.
type counter struct {
	w     *pgas.World
	tally TallyRef
	table *table
	mail  *mailman
	root  string
	files []string
	batch int         // bytes of source between merges
	warn  func(error) // of files that cannot be read

	words map[string]*word // all identifiers seen by this PE
	dirty []*word          // words with pending counts
	buf   []byte           // the file being read

	mine, last int64 // files taken and not done: [mine, last)
	unmerged   int   // bytes of source since the last merge
	done       tallies
	grown      uint64 // meetings so far
	full       bool   // something of this PE did not fit since the last one
	mergeTime  time.Duration
	progress   *progress.Progress // nil in tests
}

// tallies are what a PE adds to the sums on PE 0 with its next merge.
type tallies struct{ files, unreadable, malformed, refused, bytes, identifiers int64 }

// list lists the files to count.
func (c *counter) list() error {
	files, unreadable, err := source.List(c.root)
	for _, e := range unreadable {
		c.warn(e)
	}
	c.files, c.done.unreadable = files, int64(len(unreadable))
	return err
}

// run counts until no PE has anything left. It is collective.
func (c *counter) run(ctx context.Context) error {
	for {
		if err := c.work(ctx); err != nil {
			return err
		}
		more, err := c.meet(ctx)
		if err != nil || !more {
			return err
		}
		c.grown++
		if err := c.table.grow(ctx); err != nil {
			return err
		}
	}
}

// work counts files, and adds what others have counted for this PE's volume, until no file is left or a
// meeting is called. Words that could not be placed stay in dirty.
func (c *counter) work(ctx context.Context) error {
	for !c.called() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		i, ok := c.next()
		if !ok {
			return c.finish(ctx)
		}
		c.file(c.files[i])
		if c.progress != nil {
			c.progress.Add(1)
		}
		if c.mail.waiting() {
			c.mail.receive(c.take)
		}
		if c.unmerged >= c.batch {
			if err := c.merge(ctx); err != nil {
				return err
			}
		}
	}
	return c.merge(ctx)
}

// finish works when no file is left: it sends pending counts and receives those of others, until
// all PEs are done. It ends early for a meeting.
func (c *counter) finish(ctx context.Context) error {
	for {
		c.mail.receive(c.take)
		over := c.mail.over() // before the merge: what was taken by then is merged by it
		if err := c.merge(ctx); err != nil {
			return err
		}
		if over || c.called() {
			return nil
		}
		if len(c.dirty) == 0 {
			c.mail.finish()
		}
		if err := c.mail.wait(ctx); err != nil {
			return err
		}
	}
}

// called reports whether this PE is called to a meeting.
func (c *counter) called() bool { return c.tally.Stop().Test(pgas.GT, c.grown) }

// next returns the number of a file that no other PE has taken.
func (c *counter) next() (int64, bool) {
	n := int64(len(c.files))
	if c.mine == c.last {
		take := max(1, min(takeMax, (n-c.last)/int64(8*c.w.NPEs())))
		c.mine = c.tally.NextFile().FetchAdd(0, take)
		c.last = c.mine + take
	}
	c.mine++
	return c.mine - 1, c.mine <= n
}

// file counts one file.
func (c *counter) file(path string) {
	var err error
	if c.buf, err = source.ReadFile(filepath.Join(c.root, path), c.buf); err != nil {
		c.warn(err)
		c.done.unreadable++
		return
	}
	wellFormed, tooLong := source.EachIdentifier(c.buf, longMax, c.see)
	if !wellFormed {
		c.done.malformed++
	}
	if tooLong > 0 {
		c.warn(errTooLong(path, tooLong))
		c.done.refused += int64(tooLong)
	}
	c.done.files++
	c.done.bytes += int64(len(c.buf))
	c.unmerged += len(c.buf)
}

// see counts one identifier.
func (c *counter) see(name string) {
	w := c.words[name]
	if w == nil {
		w = c.meetWord(name)
	}
	c.add(w, 1)
	c.done.identifiers++
}

// take adds what another PE has counted.
func (c *counter) take(name []byte, n int64) {
	w := c.words[string(name)]
	if w == nil {
		w = c.meetWord(string(name))
	}
	c.add(w, n)
}

// meetWord makes the word of a name that this PE finds for the first time.
func (c *counter) meetWord(name string) *word {
	w := &word{name: name, hash: c.table.hash(name)}
	c.words[name] = w
	return w
}

func (c *counter) add(w *word, n int64) {
	if w.pending == 0 {
		c.dirty = append(c.dirty, w)
	}
	w.pending += n
}

// merge adds pending counts to the table, or sends them to their homes. Words whose home is full, or
// that find no free box, stay dirty. For the first full home it calls a meeting.
func (c *counter) merge(ctx context.Context) error {
	start := time.Now()
	here, rest := c.sort()
	unplaced, err := c.table.merge(ctx, here)
	if err != nil {
		return err
	}
	c.dirty = append(append(c.dirty[:0], unplaced...), rest...)
	c.unmerged = 0
	if len(unplaced) > 0 {
		c.full = true
		for pe := range c.w.NPEs() {
			c.tally.Stop().Set(pe, c.grown+1)
			c.mail.ring(pe)
		}
	}
	c.mergeTime += time.Since(start)
	c.report()
	return nil
}

// sort sends the dirty words with a home on another host, and returns those that this PE adds
// itself, and those that found no box.
func (c *counter) sort() (here, rest []*word) {
	away := make([][]*word, c.w.NPEs())
	for _, w := range c.dirty {
		if pe, _ := c.table.home(w.hash); c.mail.far[pe] && fits(w) {
			away[pe] = append(away[pe], w)
		} else {
			here = append(here, w)
		}
	}
	for pe, words := range away {
		rest = append(rest, c.mail.send(pe, words)...)
	}
	return here, rest
}

// report adds this PE's tallies to the sums on PE 0.
func (c *counter) report() {
	t, d := c.tally, c.done
	t.Files().Add(0, d.files)
	t.Unreadable().Add(0, d.unreadable)
	t.Malformed().Add(0, d.malformed)
	t.Refused().Add(0, d.refused)
	t.Bytes().Add(0, d.bytes)
	t.Identifiers().Add(0, d.identifiers)
	t.Inserts().Add(0, c.table.inserts)
	t.Entries().Add(0, c.table.made)
	t.MergeNS().Add(0, int64(c.mergeTime))
	c.done, c.table.inserts, c.table.made, c.mergeTime = tallies{}, 0, 0, 0
}

// meet waits for all PEs and reports whether any has found a full volume. It is collective. What all PEs have reported
// and put is complete then.
func (c *counter) meet(ctx context.Context) (bool, error) {
	if err := c.w.Barrier(ctx); err != nil {
		return false, err
	}
	full := 0
	if c.full {
		full, c.full = 1, false
	}
	n, err := pgas.SumValue(ctx, c.w.Team(), full)
	return n > 0, err
}

// errTooLong is for the one thing that cannot be counted.
func errTooLong(path string, n int) error {
	return fmt.Errorf("%s: not counted: %d identifiers of more than %d bytes", path, n, longMax)
}
