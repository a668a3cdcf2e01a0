package main

// The edges of a file. Every PE reads its share of the lines.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/gopgas/gopgas/input"
	"github.com/gopgas/gopgas/pgas"
)

// edge leads from one vertex to another.
type edge struct{ From, To int64 }

// readGraph returns the edges of this PE's part of a file, and how many vertices the file has. If a line is none, the
// PE that has read the first such line returns an error, and others no vertices. It is collective.
func readGraph(ctx context.Context, w *pgas.World, path string) (edges []edge, vertices int, err error) {
	share, err := input.ReadShare(ctx, w.Team(), path, input.Lines)
	if err != nil {
		return nil, 0, fmt.Errorf("-graph: %w", err)
	}
	defer share.Close()
	edges, at, err := edgesOf(share, path)
	first, reduceErr := pgas.MinValue(ctx, w.Team(), at)
	switch {
	case reduceErr != nil:
		return nil, 0, reduceErr
	case first == at && err != nil:
		return nil, 0, err
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

// edgesOf returns the edges of a share of a file. If there is an error, at is the offset of its line, and otherwise
// math.MaxInt64.
func edgesOf(share *input.FileShare, path string) (edges []edge, at int64, err error) {
	for at, line := range share.All() {
		e, ok, bad := parse(line)
		if bad {
			return nil, at, fmt.Errorf("-graph %s: line %d is %q: give the numbers of two vertices, from 0 to %d", path, lineAt(path, at), bytes.TrimSpace(line), mostVertices-1)
		}
		if ok {
			edges = append(edges, e)
		}
	}
	if err := share.Err(); err != nil {
		at, _ := share.Range()
		return nil, at, fmt.Errorf("-graph: %w", err)
	}
	return edges, math.MaxInt64, nil
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
