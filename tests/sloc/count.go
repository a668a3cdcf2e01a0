package main

// Which files are counted. A benchmark is a folder of samples/npb with a goroutine version and a coherent one. The
// program is what the goroutine version needs; the change is the line diff from the files of the one version to those
// of the other.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The versions, by how the names of their files begin. Files of no version are shared by all.
const (
	original = "goroutines"
	changed  = "coherent"
)

// count is the size of a program and of its change.
type count struct{ lines, added, removed int }

// countOf counts the program of a folder.
func countOf(dir string) (count, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return count{}, err
	}
	var c count
	var before, after []string
	for _, file := range files {
		version := versionOf(filepath.Base(file))
		if version != "" && version != original && version != changed {
			continue
		}
		code, err := linesOf(file)
		if err != nil {
			return count{}, err
		}
		switch version {
		case changed:
			after = append(after, code...)
			continue
		case original:
			before = append(before, code...)
		}
		c.lines += len(code)
	}
	if len(before) == 0 || len(after) == 0 {
		return count{}, fmt.Errorf("%s: no files of both versions, %s.go and %s.go", dir, original, changed)
	}
	c.added, c.removed = difference(before, after)
	return c, nil
}

// versionOf returns which version a file belongs to, or "" if it is shared.
func versionOf(name string) string {
	if strings.HasSuffix(name, "_test.go") {
		return "test"
	}
	for _, version := range []string{original, changed, "sequential", "putget"} {
		if strings.HasPrefix(name, version) {
			return version
		}
	}
	return ""
}

// counts counts the programs of the paper that exist below root, by name.
func counts(root string) (map[string]count, error) {
	all := map[string]count{}
	for _, p := range paper() {
		dir := filepath.Join(root, "samples", "npb", strings.ToLower(p.name))
		if _, err := os.Stat(filepath.Join(dir, changed+".go")); err != nil {
			continue
		}
		c, err := countOf(dir)
		if err != nil {
			return nil, err
		}
		all[p.name] = c
	}
	return all, nil
}
