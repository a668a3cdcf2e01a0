package main

// One PE's share of the work. PEs take files by numbers from a counter, a few at a time, and count the identifiers of
// theirs in a table of their own (words.go). When no file is left, all add what they have to the shared map, at once:
// each identifier travels to its PE once, with its count.

import (
	"context"
	"path/filepath"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/progress"
	"github.com/gopgas/gopgas/samples/source"
)

// takeMost is the most files taken at a time; fewer if there are few, so that all PEs end together.
const takeMost = 16

// A counter is one PE at work.
type counter struct {
	w        *pgas.World
	root     string
	files    []string
	tickets  *containers.Tickets
	counts   *containers.StringMap[int64]
	progress *progress.Progress

	words *words // of this PE's files
	buf   []byte // the file being read
	done  totals
}

// totals are sums over files.
type totals struct{ Files, Unreadable, Malformed, Bytes, Identifiers, Inserts, MapNS int64 }

func (t totals) plus(u totals) totals {
	return totals{t.Files + u.Files, t.Unreadable + u.Unreadable, t.Malformed + u.Malformed, t.Bytes + u.Bytes, t.Identifiers + u.Identifiers, t.Inserts + u.Inserts, t.MapNS + u.MapNS}
}

// list lists the files to count.
func (c *counter) list() error {
	files, unreadable, err := source.List(c.root)
	for _, e := range unreadable {
		warn(e)
	}
	c.files, c.done.Unreadable = files, int64(len(unreadable))
	return err
}

// run counts until no PE has anything left. It is collective.
func (c *counter) run(ctx context.Context) error {
	take := max(1, min(takeMost, len(c.files)/(8*c.w.NPEs())))
	for {
		first := int(c.tickets.NextN(take))
		if first >= len(c.files) {
			break
		}
		for _, path := range c.files[first:min(first+take, len(c.files))] {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			c.file(path)
			c.progress.Add(1)
		}
	}
	start := time.Now()
	c.done.Inserts = int64(len(c.words.names))
	err := c.counts.UpdateAll(ctx, c.words.all(), func(old, n int64) int64 { return old + n })
	c.done.MapNS = time.Since(start).Nanoseconds()
	return err
}

// file counts one file.
func (c *counter) file(path string) {
	var err error
	if c.buf, err = source.ReadFile(filepath.Join(c.root, path), c.buf); err != nil {
		warn(err)
		c.done.Unreadable++
		return
	}
	wellFormed := source.EachName(c.buf, func(name []byte) {
		c.words.add(name)
		c.done.Identifiers++
	})
	if !wellFormed {
		c.done.Malformed++
	}
	c.done.Files++
	c.done.Bytes += int64(len(c.buf))
}
