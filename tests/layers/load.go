package main

// Loading: type-check packages and find out which file declares what each file uses.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/gopgas/gopgas/"

// load returns the graph of each package that matches patterns, seen from dir. It fails if one does not build.
func load(dir string, patterns ...string) (graphs []*graph, err error) {
	loaded, err := packages.Load(&packages.Config{
		Dir: dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes |
			packages.NeedTypesInfo | packages.NeedImports,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		graphs = append(graphs, graphOf(p))
	}
	if len(graphs) == 0 {
		return nil, errors.New("no package matches: name one, as in ./pgas")
	}
	return graphs, nil
}

// graphOf returns the graph of p.
func graphOf(p *packages.Package) *graph {
	g := &graph{pkg: strings.TrimPrefix(p.PkgPath, module), uses: map[edge]map[string]int{}}
	for _, f := range p.GoFiles {
		g.files = append(g.files, filepath.Base(f))
	}
	slices.Sort(g.files)
	owners := ownersOf(p)
	for id, o := range p.TypesInfo.Uses {
		name := nameOf(o, p.Types, owners)
		if name == "" {
			continue
		}
		if e := (edge{fileOf(p.Fset, id), fileOf(p.Fset, o)}); e.from != e.to {
			g.add(e, name)
		}
	}
	return g
}

// positioned is an identifier or the object that one denotes.
type positioned interface{ Pos() token.Pos }

func fileOf(fset *token.FileSet, at positioned) string {
	return filepath.Base(fset.Position(at.Pos()).Filename)
}

// nameOf returns Name or Type.Name for an object that pkg declares outside of functions, else "".
func nameOf(o types.Object, pkg *types.Package, owners map[token.Pos]string) string {
	if o.Pkg() != pkg {
		return ""
	}
	if o.Parent() == pkg.Scope() {
		return o.Name()
	}
	if owner := owners[o.Pos()]; owner != "" {
		return owner + "." + o.Name()
	}
	return ""
}

// ownersOf returns for each method and field, by where its name is declared, the name of the package-level declaration
// that holds it. Positions, since an instance of a generic type has objects of its own for its methods and fields.
func ownersOf(p *packages.Package) map[token.Pos]string {
	owners := map[token.Pos]string{}
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					owners[d.Name.Pos()] = receiver(d.Recv.List[0].Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					ownFields(owners, spec)
				}
			}
		}
	}
	return owners
}

// ownFields enters the fields and interface methods of one declaration, those of nested structs too.
func ownFields(owners map[token.Pos]string, spec ast.Spec) {
	var owner string
	switch s := spec.(type) {
	case *ast.TypeSpec:
		owner = s.Name.Name
	case *ast.ValueSpec:
		owner = s.Names[0].Name
	default:
		return
	}
	ast.Inspect(spec, func(n ast.Node) bool {
		var fields *ast.FieldList
		switch n := n.(type) {
		case *ast.StructType:
			fields = n.Fields
		case *ast.InterfaceType:
			fields = n.Methods
		default:
			return true
		}
		for _, f := range fields.List {
			for _, name := range f.Names {
				owners[name.Pos()] = owner
			}
			if len(f.Names) == 0 { // embedded: the field's name is that of its type
				owners[embedded(f.Type).Pos()] = owner
			}
		}
		return true
	})
}

// receiver returns the name of the type in a receiver.
func receiver(t ast.Expr) string { return embedded(t).String() }

// embedded returns the identifier of a type as it stands in a receiver or an embedded field.
func embedded(t ast.Expr) *ast.Ident {
	switch t := t.(type) {
	case *ast.Ident:
		return t
	case *ast.StarExpr:
		return embedded(t.X)
	case *ast.ParenExpr:
		return embedded(t.X)
	case *ast.IndexExpr:
		return embedded(t.X)
	case *ast.IndexListExpr:
		return embedded(t.X)
	case *ast.SelectorExpr:
		return t.Sel
	}
	return ast.NewIdent("")
}
