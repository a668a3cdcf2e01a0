package main

// The edges of a file. Every PE reads the lines that begin in its part of the file's bytes.

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/gopgas/gopgas/pgas"
)

// edge leads from one vertex to another.
type edge struct{ From, To int64 }

// canRead returns an error if the file of -graph cannot be read.
func (o *options) canRead() error {
	if o.graph == "" {
		return nil
	}
	f, err := os.Open(o.graph)
	if err != nil {
		return fmt.Errorf("-graph: %w", err)
	}
	return f.Close()
}

// readGraph returns the edges of this PE's part of a file, and how many vertices the file has. If a line is none, the PE that
// has read the first such line returns an error, and others no vertices. It is collective.
func readGraph(ctx context.Context, w *pgas.World, path string) (edges []edge, vertices int, err error) {
	edges, at, err := readPart(path, w.PE(), w.NPEs())
	first, reduceErr := pgas.MinValue(ctx, w.Team(), at)
	switch {
	case reduceErr != nil:
		return nil, 0, reduceErr
	case first == at && err != nil:
		return nil, 0, fmt.Errorf("-graph %s: %w", path, err)
	case first != math.MaxInt64:
		return nil, 0, nil
	}
	most := int64(-1)
	for _, e := range edges {
		most = max(most, e.From, e.To)
	}
	most, err = pgas.MaxValue(ctx, w.Team(), most)
	if err == nil && most < 0 && w.PE() == 0 {
		err = fmt.Errorf("-graph %s: no edges: give the numbers of two vertices on each line", path)
	}
	return edges, int(most) + 1, err
}

// readPart reads the lines of a file that begin in part pe of npes parts. If there is an error, at is the offset of its
// line, and otherwise math.MaxInt64.
func readPart(path string, pe, npes int) (edges []edge, at int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	lo, hi := part(size, pe, npes), part(size, pe+1, npes)
	// The line that begins at lo or later: if one begins at lo itself, the byte before ends another one.
	at = max(lo-1, 0)
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return nil, 0, err
	}
	in := bufio.NewReaderSize(f, 1<<16)
	if lo > 0 {
		skipped, err := in.ReadBytes('\n')
		at += int64(len(skipped))
		if err != nil && err != io.EOF {
			return nil, at, err
		}
	}
	for at < hi {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, at, err
		}
		e, ok, bad := parse(line)
		if bad {
			return nil, at, fmt.Errorf("line %d is %q: give the numbers of two vertices, from 0 to %d", lineAt(path, at), bytes.TrimSpace(line), mostVertices-1)
		}
		if ok {
			edges = append(edges, e)
		}
		at += int64(len(line))
	}
	return edges, math.MaxInt64, nil
}

// part returns where part pe of a file begins.
func part(size int64, pe, npes int) int64 {
	return size/int64(npes)*int64(pe) + size%int64(npes)*int64(pe)/int64(npes)
}

// parse returns the edge of a line, if it has one: comments and empty lines have none.
func parse(line []byte) (e edge, ok, bad bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	fields := bytes.Fields(line)
	if len(fields) == 0 {
		return e, false, false
	}
	if len(fields) != 2 {
		return e, false, true
	}
	var errs [2]error
	e.From, errs[0] = strconv.ParseInt(string(fields[0]), 10, 64)
	e.To, errs[1] = strconv.ParseInt(string(fields[1]), 10, 64)
	bad = errs[0] != nil || errs[1] != nil || min(e.From, e.To) < 0 || max(e.From, e.To) >= mostVertices
	return e, !bad, bad
}

// lineAt returns the number of the line that begins at an offset of a file, for a message.
func lineAt(path string, at int64) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	before, _ := io.ReadAll(io.LimitReader(f, at))
	return bytes.Count(before, []byte{'\n'}) + 1
}
