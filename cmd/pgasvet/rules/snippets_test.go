package rules_test

// Precision and recall of the rules on functions that nobody has tuned the rules for when they were written: a set that
// the rules were improved with, and a set that was written afterwards. Both are testdata, and are read as data: each
// function is one row.

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/gopgas/gopgas/cmd/pgasvet/rules"
)

// The rules stay above these.
const (
	leastPrecision = 0.97
	leastRecall    = 0.8
)

func TestPrecisionAndRecall(t *testing.T) {
	for _, set := range []string{"snippets", "unseen"} {
		t.Run(set, func(t *testing.T) {
			all := map[string]*score{}
			total := &score{}
			for _, s := range snippetsIn(t, set) {
				for _, rule := range append(s.reported(), s.rule) {
					if all[rule] == nil {
						all[rule] = &score{}
					}
				}
				s.count(t, all, total)
			}
			delete(all, "")
			for _, rule := range slices.Sorted(maps.Keys(all)) {
				t.Logf("%-14s %v", rule, all[rule])
			}
			t.Logf("%-14s %v", "all", total)
			if total.precision() < leastPrecision || total.recall() < leastRecall {
				t.Errorf("precision is to be at least %.2f and recall %.2f", leastPrecision, leastRecall)
			}
		})
	}
}

// A score counts functions.
type score struct{ found, missed, accused int }

func (s *score) precision() float64 { return float64(s.found) / float64(max(s.found+s.accused, 1)) }

func (s *score) recall() float64 { return float64(s.found) / float64(max(s.found+s.missed, 1)) }

func (s *score) String() string {
	return fmt.Sprintf("%2d found, %2d missed, %2d falsely reported: precision %.2f, recall %.2f",
		s.found, s.missed, s.accused, s.precision(), s.recall())
}

// A snippet is a function of the testdata, with those behind it that say nothing of themselves.
type snippet struct {
	name        string
	rule        string // what is to report it, or empty
	also        []string
	first, last token.Position
	findings    map[string]int // the lines, by rule
}

// reported returns the rules that report something.
func (s *snippet) reported() []string { return slices.Sorted(maps.Keys(s.findings)) }

// count adds what the rules say of s to the scores.
func (s *snippet) count(t *testing.T, all map[string]*score, total *score) {
	for rule, at := range s.findings {
		if rule != s.rule && !slices.Contains(s.also, rule) {
			t.Logf("%s:%d: %s falsely reports %s", s.first.Filename, at, rule, s.name)
			all[rule].accused++
			total.accused++
		}
	}
	if s.rule == "" {
		return
	}
	if _, ok := s.findings[s.rule]; ok {
		all[s.rule].found++
		total.found++
		return
	}
	t.Logf("%s:%d: %s does not report %s", s.first.Filename, s.first.Line, s.rule, s.name)
	all[s.rule].missed++
	total.missed++
}

// snippetsIn returns the functions of a package of testdata, with what the rules report in them.
func snippetsIn(t *testing.T, set string) (list []*snippet) {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, "./testdata/"+set)
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(loaded) > 0 {
		t.Fatalf("testdata/%s does not compile", set)
	}
	for _, f := range loaded[0].Syntax {
		list = append(list, snippetsOf(t, loaded[0].Fset, f)...)
	}
	graph, err := checker.Analyze(rules.All(), loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	for action := range graph.All() {
		if !action.IsRoot {
			continue
		}
		if action.Err != nil {
			t.Fatal(action.Err)
		}
		for _, d := range action.Diagnostics {
			at := loaded[0].Fset.Position(d.Pos)
			for _, s := range list {
				if s.first.Filename == at.Filename && s.first.Offset <= at.Offset && at.Offset < s.last.Offset {
					s.findings[action.Analyzer.Name] = at.Line
				}
			}
		}
	}
	return list
}

func snippetsOf(t *testing.T, fset *token.FileSet, f *ast.File) (list []*snippet) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		kind, what, ok := strings.Cut(strings.TrimSpace(fn.Doc.Text()), ":")
		words := strings.Fields(kind)
		if ok && what != "" && words[0] == "right" || len(words) > 1 && words[0] == "wrong" {
			s := &snippet{name: fn.Name.Name, first: fset.Position(fn.Pos()), findings: map[string]int{}}
			if words[0] == "wrong" {
				s.rule, s.also = words[1], words[2:]
			}
			list = append(list, s)
		} else if fn.Doc != nil || len(list) == 0 {
			t.Errorf("%s: the comment of %s begins neither with right: nor with wrong RULE:", fset.Position(fn.Pos()), fn.Name.Name)
			continue
		}
		list[len(list)-1].last = fset.Position(fn.End())
	}
	return list
}
