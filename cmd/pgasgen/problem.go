package main

// What pgasgen says about bad input: a position, what is wrong, and what to do. Problems are collected
// rather than returned, so that one run shows all of them.

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// A problem is one reason not to generate.
type problem struct {
	pos token.Position
	msg string // what is wrong, then a semicolon, then the remedy
}

// relative renders p as file:line:col: message, with the file relative to dir when it is below it.
func (p problem) relative(dir string) string {
	pos := p.pos
	pos.Filename = short(dir, pos.Filename)
	if !pos.IsValid() {
		return p.msg
	}
	return pos.String() + ": " + p.msg
}

// short returns path relative to dir if that does not lead out of dir, else path.
func short(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}

// problems is a list in the making.
type problems []problem

func (ps *problems) add(pos token.Position, format string, args ...any) {
	*ps = append(*ps, problem{pos, fmt.Sprintf(format, args...)})
}

// sorted returns the problems by position, each once.
func (ps problems) sorted() problems {
	out := slices.Clone(ps)
	slices.SortStableFunc(out, func(a, b problem) int {
		return cmp.Or(
			cmp.Compare(a.pos.Filename, b.pos.Filename),
			cmp.Compare(a.pos.Line, b.pos.Line),
			cmp.Compare(a.pos.Column, b.pos.Column),
			cmp.Compare(a.msg, b.msg),
		)
	})
	return slices.Compact(out)
}
