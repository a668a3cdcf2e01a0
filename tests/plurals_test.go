package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// counted is a number and a noun in the plural, as a message would have it: with 1 it reads "1 hosts".
var counted = regexp.MustCompile(`(?:\S+ )?\S*%d (?:more |other |later )?(?:PEs|hosts|elements|members|words|files|events|updates|steps|pods|notifications|goroutines|nodes|CPUs|blocks|values|indexes|notices|locks|places|names)\b`)

// neverOne are the literals whose number is never 1, or is no number of these things.
var neverOne = []string{
	"of line %d other PEs",  // of a line
	"-netns %s: at most %d", // a bound
	"in a job of %d PEs",    // a PE alone has no other to tell of its accesses
	"process has %d goroutines",
}

// TestPlurals: messages write numbers of things with internal/plural, so that none says "1 hosts". Samples and
// benchmarks may say "host(s)".
func TestPlurals(t *testing.T) {
	err := filepath.WalkDir("..", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(file, "../")
		top, _, _ := strings.Cut(name, "/")
		if e.IsDir() {
			if slices.Contains([]string{"testdata", ".git", "bin", "transporttest", "lockstest", "pgasbench"}, e.Name()) || slices.Contains([]string{"samples", "templates", "tests"}, top) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if problem := uncounted(lit.Value); problem != "" {
					t.Errorf("%v: %q reads wrong with 1: use plural.Count", set.Position(lit.Pos()), problem)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// uncounted returns the first part of a literal that reads wrong with 1, or "".
func uncounted(literal string) string {
	for _, m := range counted.FindAllString(literal, -1) {
		if !strings.HasPrefix(m, "most ") && !strings.HasPrefix(m, "than ") && !slices.ContainsFunc(neverOne, func(s string) bool { return strings.Contains(literal, s) }) {
			return m
		}
	}
	return ""
}

// TestPluralsFindsFaults: what reads wrong with 1 is found, and bounds are not.
func TestPluralsFindsFaults(t *testing.T) {
	for literal, wrong := range map[string]bool{
		`"%d hosts"`: true, `"on %d PEs"`: true, `"and %d more PEs"`: true, `"at most %d PEs"`: false, `"more than %d PEs"`: false, `"%s"`: false, `"%d of them"`: false,
	} {
		if got := uncounted(literal); (got != "") != wrong {
			t.Errorf("%s: %q", literal, got)
		}
	}
}
