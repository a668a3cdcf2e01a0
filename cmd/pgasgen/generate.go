package main

// One run: load, analyse, check, emit; then write, or compare with what is there. Nothing is written
// while anything is wrong anywhere.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An output is one generated file as it should be.
type output struct {
	path    string
	source  string
	pkg     string // directory of the package
	content []byte
	records []*structure
}

// A result is all that a run found out.
type result struct {
	outputs  []output
	orphans  []output // generated files, without contents, whose source has no marked struct any more
	problems problems
	skipped  []string // files with directives that build constraints exclude
	looks    int      // looks into types: the work of the analysis
}

// generate analyses the packages that match patterns and emits their files.
func generate(ctx context.Context, dir string, env, flags, patterns []string) (*result, error) {
	l, units, err := load(ctx, dir, env, flags, patterns)
	if err != nil {
		return nil, err
	}
	res := &result{}
	for _, u := range units {
		l.testFiles(u)
		if len(u.order)+len(u.problems) > 0 {
			u.problems = append(u.problems, u.broken...)
		}
		a := &analysis{l: l, u: u, problems: &u.problems, memo: newMemo()}
		list := a.structures()
		e := newEmitter(a)
		for _, s := range list {
			e.methods(s)
		}
		res.looks += a.memo.looks + l.kept.looks
		a.unique(list)
		a.overwrites(list)
		res.problems = append(res.problems, u.problems...)
		res.skipped = append(res.skipped, skipped(u)...)
		if len(u.problems) > 0 {
			continue
		}
		if err := res.emit(e, list); err != nil {
			return nil, err
		}
	}
	res.problems = res.problems.sorted()
	return res, nil
}

// emit adds the outputs of one package, and its orphans.
func (res *result) emit(e *emitter, list []*structure) error {
	bySource := map[string][]*structure{}
	wanted := map[string]bool{}
	for _, s := range list {
		bySource[s.file] = append(bySource[s.file], s)
		wanted[generatedFor(s.file)] = true
	}
	for _, source := range e.a.u.meta.GoFiles {
		if records := bySource[source]; records != nil {
			content, err := e.file(source, records)
			if err != nil {
				return err
			}
			res.outputs = append(res.outputs, output{generatedFor(source), source, filepath.Dir(source), content, records})
		}
	}
	for path := range e.a.u.generated {
		if !wanted[path] {
			res.orphans = append(res.orphans, output{path: path, pkg: filepath.Dir(path)})
		}
	}
	slices.SortFunc(res.orphans, func(a, b output) int { return strings.Compare(a.path, b.path) })
	return nil
}

// overwrites rejects outputs whose name belongs to a file that pgasgen did not write.
func (a *analysis) overwrites(list []*structure) {
	seen := map[string]bool{}
	for _, s := range list {
		path := generatedFor(s.file)
		if _, ours := a.u.generated[path]; ours || seen[path] {
			continue
		}
		seen[path] = true
		if src, err := os.ReadFile(path); err == nil && !isGenerated(path, string(src)) {
			a.add(s.pos, "%s exists and was not written by pgasgen; rename it, or %s", filepath.Base(path), filepath.Base(s.file))
		}
	}
}

// holdsDirective matches a source file with the directive.
var holdsDirective = regexp.MustCompile(`(?m)^(` + directive + `( views)?|` + coherentDirective + `)$`)

// skipped names the files of u that hold the directive and are excluded from this build.
func skipped(u *unit) (out []string) {
	for _, path := range u.meta.IgnoredFiles {
		if src, err := os.ReadFile(path); err == nil && holdsDirective.Match(src) {
			out = append(out, path)
		}
	}
	return out
}

// A change is one file that is not as it should be.
type change struct {
	output
	why string
	old []byte // what the file has, or nil
}

// changes compares the outputs with the files that exist.
func (res *result) changes() (out []change) {
	for _, o := range res.outputs {
		old, err := os.ReadFile(o.path)
		switch {
		case err != nil:
			out = append(out, change{output: o, why: "is missing"})
		case string(old) != string(o.content):
			out = append(out, change{o, "is stale", old})
		}
	}
	for _, o := range res.orphans {
		out = append(out, change{output: o, why: "has no marked struct to be for"})
	}
	return out
}

// apply makes a file as it should be.
func (c change) apply() error {
	if c.content == nil {
		return os.Remove(c.path)
	}
	return replace(c.path, c.content)
}

// replace writes a file in one step: a reader sees the old one or the new one.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".pgasgen-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails when the file has been renamed, which is the good case
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
