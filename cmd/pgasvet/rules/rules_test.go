package rules_test

// The page of the documentation is tested: it has a heading for every rule, with an example that the rule reports and
// one that no rule reports.

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/report"
	"github.com/gopgas/gopgas/cmd/pgasvet/rules"
)

const page = "../../../docs/use/pgasvet.md"

func TestValid(t *testing.T) {
	if err := analysis.Validate(rules.All()); err != nil {
		t.Error(err)
	}
	for _, rule := range rules.All() {
		if rule.URL != report.Page+"#"+rule.Name {
			t.Errorf("rule %s has its page at %s", rule.Name, rule.URL)
		}
	}
}

// example is a block of the page.
type example struct {
	rule, text  string
	wrong       bool
	first, last int // lines in the program of all examples
}

var (
	section = regexp.MustCompile(`(?ms)^## (\w+)\n(.*?)(?:\z|^## )`)
	block   = regexp.MustCompile("(?ms)^```go (wrong|right)\n(.*?)^```$")
)

// examples returns the examples of the page by rule, and the program that they are.
func examples(t *testing.T) (list []example, program string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	program = "package example\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"time\"\n\n"
	for _, name := range []string{"dsm", "locks", "notify", "pgas"} {
		program += fmt.Sprintf("\t%q\n", "github.com/gopgas/gopgas/"+name)
	}
	program += ")\n"
	for text := string(content); ; {
		s := section.FindStringSubmatchIndex(text)
		if s == nil {
			return list, program
		}
		rule, body := text[s[2]:s[3]], text[s[4]:s[5]]
		for _, b := range block.FindAllStringSubmatch(body, -1) {
			first := strings.Count(program, "\n") + 1
			program += b[2]
			list = append(list, example{rule, b[2], b[1] == "wrong", first, strings.Count(program, "\n")})
		}
		text = text[s[5]:]
	}
}

func TestExamplesOfTheDocumentation(t *testing.T) {
	list, program := examples(t)
	findings := findingsIn(t, program)
	for _, rule := range rules.All() {
		for _, wrong := range []bool{true, false} {
			if !slices.ContainsFunc(list, func(e example) bool { return e.rule == rule.Name && e.wrong == wrong }) {
				t.Errorf("%s has no example for %s with wrong=%v", page, rule.Name, wrong)
			}
		}
	}
	for _, e := range list {
		found := map[string]bool{}
		for _, f := range findings {
			if e.first <= f.line && f.line <= e.last {
				found[f.rule] = true
			}
		}
		if names := slices.Sorted(maps.Keys(found)); e.wrong && !found[e.rule] || !e.wrong && len(names) > 0 {
			t.Errorf("%s, wrong=%v: the rules %q report\n%s", e.rule, e.wrong, names, e.text)
		}
	}
}

type finding struct {
	rule string
	line int
}

// findingsIn runs all rules on a program beside that of testdata/example.
func findingsIn(t *testing.T, program string) (list []finding) {
	t.Helper()
	file, err := filepath.Abs("testdata/example/examples.go")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Overlay: map[string][]byte{file: []byte(program)}}, "./testdata/example")
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(loaded) > 0 {
		t.Fatalf("the examples do not compile:\n%s", program)
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
			list = append(list, finding{action.Analyzer.Name, action.Package.Fset.Position(d.Pos).Line})
		}
	}
	return list
}
