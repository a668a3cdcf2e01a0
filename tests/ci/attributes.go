package main

// What the steps do with a package stands in the package: a line such as
//
//	//ci:norace nocgo=short
//
// above the package clause of one of its files. So a package that moves takes it along, and one that is new says it
// itself. What they do with a test stands likewise at the end of the comment of its function.

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// known are the attributes of a package.
var known = map[string]string{
	"below":       "the other attributes are also those of the packages below this one that have no line of their own",
	"race":        "its tests run under the race detector, though it is a command or a test of one",
	"norace":      "the race detector has nothing to find: the package starts no goroutines, or only programs built without it",
	"nocgo=whole": "its tests run without C too, with processes: it starts processes, or moves their data then",
	"nocgo=short": "its tests run without C too, in short mode: it has files for builds with C or without it, or needs the runtime",
	"computes":    "its tests compute or compile, beside those whose processes wait for each other",
	"ucx":         "its tests run in short mode with the UCX of Debian 13, too",
	"long":        "its tests take minutes, and run in short mode on two days of three, with PEs as goroutines",
	"clusters":    "its tests are a step of their own",
	"waits":       "its tests spend their time with waiting until a PE is found silent, or until programs are built",
}

var attributeLine = regexp.MustCompile(`(?m)^//ci:(.*)$`)

// attributes returns the attributes of the packages below root, by directory.
func attributes(root string) (map[string][]string, error) {
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		head, _, _ := strings.Cut("\n"+string(text), "\npackage ")
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return nil, err
		}
		dir := filepath.ToSlash(rel)
		for _, m := range attributeLine.FindAllStringSubmatch(head, -1) {
			if found[dir] != nil {
				return nil, fmt.Errorf("%s: the package has two lines //ci: put all its attributes into one", file)
			}
			found[dir] = strings.Fields(m[1])
			for _, word := range found[dir] {
				if known[word] == "" {
					return nil, fmt.Errorf("%s: //ci:%s: there is no attribute %s: see tests/ci/attributes.go", file, m[1], word)
				}
			}
		}
	}
	return found, nil
}

// inherited returns the attributes of dir: its own, or those of the nearest directory above that has some for below.
func inherited(all map[string][]string, dir string) []string {
	if own, found := all[dir]; found {
		return own
	}
	for dir != "." && dir != "/" {
		dir = path.Dir(dir)
		if slices.Contains(all[dir], "below") {
			return all[dir]
		}
	}
	return nil
}

// having returns the packages of all modules of the workspace whose attributes are wanted.
func having(ctx context.Context, wanted func(dir string, words []string) bool) (found []string, err error) {
	of, err := attributes(".")
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := output(ctx, "go", "list", "-f", "{{.ImportPath}} {{.Dir}}", everything)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		rel, err := filepath.Rel(here, dir)
		if err != nil {
			return nil, err
		}
		if rel = filepath.ToSlash(rel); wanted(rel, inherited(of, rel)) {
			found = append(found, pkg)
		}
	}
	return found, nil
}

// with wants packages that have one of these attributes.
func with(words ...string) func(string, []string) bool {
	return func(_ string, of []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(of, word) })
	}
}

func not(wanted func(string, []string) bool) func(string, []string) bool {
	return func(dir string, of []string) bool { return !wanted(dir, of) }
}

// isRaced wants packages whose tests run PEs as goroutines, or goroutines of the launcher: by default, all but commands
// and the tests of programs.
func isRaced(dir string, of []string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return slices.Contains(of, "race") || top != "cmd" && top != "tests" && !slices.Contains(of, "norace")
}

// everything is the pattern of the go command for the packages of all modules of go.work. Those below tests are not
// among them: their requirements would become those of all.
const everything = "work"
