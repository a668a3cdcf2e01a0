package pgas

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestFaultingFunctionsExist: every function of which faulting explains the fault is one of this package.
func TestFaultingFunctionsExist(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				declared[nameOnStack(d)] = true
			}
		}
	}
	for name := range faulting {
		if !declared[name] {
			t.Errorf("faulting names %s, which no file declares: give it the function's new name, or take it out", name)
		}
	}
}

// nameOnStack returns the name that a stack shows for a function, without its package and its own type arguments.
func nameOnStack(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	receiver, pointer := d.Recv.List[0].Type, false
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver, pointer = star.X, true
	}
	name := ""
	switch r := receiver.(type) {
	case *ast.Ident:
		name = r.Name
	case *ast.IndexExpr:
		name = r.X.(*ast.Ident).Name + "[...]"
	case *ast.IndexListExpr:
		name = r.X.(*ast.Ident).Name + "[...]"
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return name + "." + d.Name.Name
}
