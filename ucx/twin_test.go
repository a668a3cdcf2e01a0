package ucx

import (
	"bytes"
	"go/ast"
	"go/build/constraint"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Both builds declare the same things: a program that compiles with cgo compiles without it.
func TestTwinHasTheSameAPI(t *testing.T) {
	with, without := exported(t, true), exported(t, false)
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if with[name] != without[name] {
			t.Errorf("%s\n\twith cgo:    %s\n\twithout cgo: %s", name, with[name], without[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(without)) {
		if _, ok := with[name]; !ok {
			t.Errorf("%s exists only without cgo", name)
		}
	}
	if len(with) < 50 {
		t.Errorf("only %d declarations were found", len(with))
	}
}

// exported maps the exported functions, methods, types, constants and variables of one build to their
// signatures.
func exported(t *testing.T, cgo bool) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	api := map[string]string{}
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !built(f, cgo) {
			continue
		}
		for _, d := range f.Decls {
			addDecl(t, api, fset, d)
		}
	}
	return api
}

// built reports whether a file's build line, if any, is satisfied.
func built(f *ast.File, cgo bool) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if x, err := constraint.Parse(c.Text); err == nil {
				return x.Eval(func(tag string) bool { return tag == "cgo" && cgo })
			}
		}
	}
	return true
}

func addDecl(t *testing.T, api map[string]string, fset *token.FileSet, d ast.Decl) {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() {
			return
		}
		name := d.Name.Name
		if d.Recv != nil {
			var recv bytes.Buffer
			if err := format.Node(&recv, fset, d.Recv.List[0].Type); err != nil {
				t.Fatal(err)
			}
			name = recv.String() + "." + name
		}
		var sig bytes.Buffer
		if err := format.Node(&sig, fset, d.Type); err != nil {
			t.Fatal(err)
		}
		api[name] = sig.String()
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					api[spec.Name.Name] = "type"
				}
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					if n.IsExported() {
						api[n.Name] = d.Tok.String()
					}
				}
			}
		}
	}
}
