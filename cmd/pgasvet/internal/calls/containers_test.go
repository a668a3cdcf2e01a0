package calls

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCollectivesOfDocs: what the documentation of containers and arenas calls collective is known as that, and what is
// known exists.
func TestCollectivesOfDocs(t *testing.T) {
	for name, known := range collectives {
		all, collective := functionsOf(t, "../../../../"+name)
		for _, f := range collective {
			if !slices.Contains(known, f) {
				t.Errorf("%s: %s is collective by its documentation", name, f)
			}
		}
		for _, f := range known {
			if !slices.Contains(all, f) {
				t.Errorf("%s has no %s", name, f)
			}
		}
	}
}

// isCollective is how a doc comment says it. Some say that a call is as another one.
var isCollective = regexp.MustCompile(`\w+ is collective\b`)

// functionsOf returns the exported functions and methods of a package, but for those that begin with New, and those of
// them that are collective.
func functionsOf(t *testing.T, dir string) (all, collective []string) {
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v in %s", err, dir)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || strings.HasPrefix(fn.Name.Name, "New") {
				continue
			}
			all = append(all, receiver(fn)+fn.Name.Name)
			if isCollective.MatchString(fn.Doc.Text()) {
				collective = append(collective, all[len(all)-1])
			}
		}
	}
	return all, collective
}

// receiver returns the type of a method's receiver with a dot, or "".
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	return t.(*ast.Ident).Name + "."
}
