package main

import (
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"honnef.co/go/tools/analysis/facts/directives"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/analysis/report"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// ofStaticcheck returns the analyzers that the command staticcheck runs by default. Comments //lint:ignore and
// //lint:file-ignore silence them as they do there, and one without a reason, or that silences nothing, is found.
func ofStaticcheck() []*analysis.Analyzer {
	s := &silenced{by: map[position][]string{}}
	var found []*analysis.Analyzer
	for _, a := range slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers) {
		if !a.Doc.NonDefault {
			s.wrap(a.Analyzer)
			found = append(found, a.Analyzer)
		}
	}
	comments := &analysis.Analyzer{
		Name:     "lintcomments",
		Doc:      "find comments //lint:ignore that give no reason, or silence no finding",
		Requires: append(slices.Clone(found), directives.Analyzer),
		Run:      s.comments,
	}
	return append(found, unusedCode, comments)
}

// unusedCode is U1000, whose findings the command staticcheck takes from a result. go vet shows an analyzer a package
// with its tests, so that what only tests use is used. The comments //lint:ignore are obeyed by what makes the result.
var unusedCode = &analysis.Analyzer{
	Name:     "unused",
	Doc:      "find code that nothing uses (U1000)",
	URL:      "https://staticcheck.dev/docs/checks/#U1000",
	Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
	Run:      unusedObjects,
}

func unusedObjects(pass *analysis.Pass) (any, error) {
	type object struct {
		file, name string
		line       int
	}
	key := func(o unused.Object) object {
		return object{filepath.Base(o.Position.Filename), o.Name, o.Position.Line}
	}
	result := pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result)
	used := map[object]bool{}
	for _, o := range result.Used {
		used[key(o)] = true
	}
	for _, o := range result.Unused {
		if !used[key(o)] {
			pass.Reportf(at(pass, o.Position), "%s %s is unused (U1000)", o.Kind, o.Name)
		}
	}
	return nil, nil
}

// at returns where p is in the files of a pass.
func at(pass *analysis.Pass, p token.Position) token.Pos {
	for _, f := range pass.Files {
		file := pass.Fset.File(f.FileStart)
		if file.Name() == p.Filename && p.Offset <= file.Size() {
			return file.Pos(p.Offset)
		}
	}
	return token.NoPos
}

// position is a line of a file.
type position struct {
	file string
	line int
}

// silenced has the findings in one package that comments have silenced: go vet starts a process for each package.
type silenced struct {
	mu sync.Mutex
	by map[position][]string // the names of the analyzers, by the line of the finding
}

// wrap makes an analyzer keep to itself what a comment silences.
func (s *silenced) wrap(a *analysis.Analyzer) {
	run := a.Run
	a.Requires = append(slices.Clone(a.Requires), directives.Analyzer)
	a.Run = func(pass *analysis.Pass) (any, error) {
		wrapped := *pass
		wrapped.Report = func(d analysis.Diagnostic) {
			if !s.silences(pass, a.Name, d) {
				d.Message += " (" + a.Name + ")"
				pass.Report(d)
			}
		}
		return run(&wrapped)
	}
}

// silences notes a finding that a comment silences, and returns whether there is one.
func (s *silenced) silences(pass *analysis.Pass, name string, d analysis.Diagnostic) bool {
	found := report.DisplayPosition(pass.Fset, d.Pos)
	for _, c := range pass.ResultOf[directives.Analyzer].([]lint.Directive) {
		at := report.DisplayPosition(pass.Fset, c.Node.Pos())
		if at.Filename != found.Filename || !matches(c, name) {
			continue
		}
		if c.Command == "file-ignore" || c.Command == "ignore" && at.Line == found.Line {
			s.mu.Lock()
			defer s.mu.Unlock()
			line := position{found.Filename, found.Line}
			s.by[line] = append(s.by[line], name)
			return true
		}
	}
	return false
}

// matches returns whether a comment with a reason names a check, in full or by a pattern, in any case of letters.
func matches(c lint.Directive, name string) bool {
	return len(c.Arguments) >= 2 && slices.ContainsFunc(strings.Split(c.Arguments[0], ","), func(pattern string) bool {
		ok, err := filepath.Match(strings.ToLower(pattern), strings.ToLower(name))
		return err == nil && ok
	})
}

// comments runs after the analyzers that it requires.
func (s *silenced) comments(pass *analysis.Pass) (any, error) {
	for _, c := range pass.ResultOf[directives.Analyzer].([]lint.Directive) {
		switch {
		case c.Command != "ignore" && c.Command != "file-ignore":
		case len(c.Arguments) < 2:
			pass.Reportf(c.Directive.Pos(), "//lint:%s without a reason silences nothing: say after the check why the code is right", c.Command)
		case c.Command == "ignore" && !s.useful(pass, c):
			pass.Reportf(c.Directive.Pos(), "//lint:ignore %s silences nothing: remove it", c.Arguments[0])
		}
	}
	return nil, nil
}

// useful returns whether a comment has silenced a finding. Those of U1000 count as useful: the analyzer does not say
// which it obeyed.
func (s *silenced) useful(pass *analysis.Pass, c lint.Directive) bool {
	at := report.DisplayPosition(pass.Fset, c.Node.Pos())
	s.mu.Lock()
	defer s.mu.Unlock()
	return matches(c, "U1000") || slices.ContainsFunc(s.by[position{at.Filename, at.Line}], func(name string) bool { return matches(c, name) })
}
