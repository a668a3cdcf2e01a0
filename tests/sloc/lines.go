package main

// Lines of code: what stands in a file without comments and blank lines, as gofmt formats it. Spaces do not count, so a
// line that is only indented or aligned in another way is the same line.

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// linesOf returns the lines of code of a Go file.
func linesOf(file string) ([]string, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return lines(source)
}

// lines returns the lines of code of a source.
func lines(source []byte) ([]string, error) {
	files := token.NewFileSet()
	// Without the mode ParseComments the tree has none, and none are printed, neither those within a line.
	tree, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := format.Node(&b, files, tree); err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(b.String()) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all = append(all, strings.Join(fields, " "))
		}
	}
	return all, nil
}

// difference returns how many lines a shortest line diff from a to b adds, and how many it takes away.
func difference(a, b []string) (added, removed int) {
	common := make([]int, len(b)+1) // of the lines of a so far with each beginning of b: the longest common subsequence
	for _, line := range a {
		before := 0 // common[j] as it was without this line
		for j, other := range b {
			was := common[j+1]
			if line == other {
				common[j+1] = before + 1
			} else {
				common[j+1] = max(common[j+1], common[j])
			}
			before = was
		}
	}
	return len(b) - common[len(b)], len(a) - common[len(b)]
}
