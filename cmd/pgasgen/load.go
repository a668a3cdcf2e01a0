package main

// Loading: go list (through x/tools/go/packages) says which files make up which package, and
// everything is then parsed and type-checked by pgasgen, from source and without function bodies. That is
// fast, needs neither a C compiler nor packages that build, and lets a package be analysed whose own
// generated file is missing or stale: that file is left out, and that its names are then undefined is
// no error.

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A loader holds the packages of one run.
type loader struct {
	fset  *token.FileSet
	arch  string           // GOARCH
	sizes types.Sizes      // sizes of types as the compiler has them
	kept  *keptSizes       // these sizes, kept for each type
	root  map[string]bool  // by package ID, the packages for which this run generates
	units map[string]*unit // by package ID, the packages that are loaded, or being loaded (nil)
}

// A unit is one package, parsed and checked.
type unit struct {
	meta      *packages.Package
	files     []*ast.File
	types     *types.Package
	marks     map[string]mark   // the marks by type name
	order     []mark            // the marks in the order of the source
	generated map[string]string // path of each generated file, with its contents
	broken    problems          // syntax and type errors: of interest if there is something to generate
	problems  problems          // all others
}

// marked reports whether the package holds a marked type of that name.
func (u *unit) marked(name string) bool {
	_, ok := u.marks[name]
	return ok
}

// load loads the packages that match patterns, and what they import.
func load(ctx context.Context, dir string, env, flags, patterns []string) (*loader, []*unit, error) {
	config := &packages.Config{
		Context:    ctx,
		Dir:        dir,
		Env:        env,
		BuildFlags: flags,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedModule | packages.NeedTypesSizes,
	}
	metas, err := packages.Load(config, patterns...)
	if err != nil {
		if strings.Contains(err.Error(), "go.mod file not found") {
			return nil, nil, errors.New("there is no go.mod here or above; run it in a module, or make one: pgasgen init DIR")
		}
		return nil, nil, fmt.Errorf("go list: %s", oneLine(err.Error()))
	}
	l := &loader{fset: token.NewFileSet(), root: map[string]bool{}, units: map[string]*unit{}}
	for _, meta := range metas {
		if l.sizes == nil {
			l.sizes, l.arch = meta.TypesSizes, archOf(env)
			l.kept = keep(l.sizes)
		}
		l.root[meta.ID] = true
	}
	var units []*unit
	for _, meta := range metas {
		u, err := l.unit(meta)
		if err != nil {
			return nil, nil, err
		}
		units = append(units, u)
	}
	return l, units, nil
}

// unit loads one package, once.
func (l *loader) unit(meta *packages.Package) (*unit, error) {
	if u, ok := l.units[meta.ID]; ok {
		if u == nil {
			return nil, errors.New("import cycle")
		}
		return u, nil
	}
	l.units[meta.ID] = nil
	u := &unit{meta: meta, marks: map[string]mark{}, generated: map[string]string{}}
	l.parse(u)
	if len(u.broken) == 0 {
		l.listed(u)
	}
	l.check(u)
	l.units[meta.ID] = u
	return u, nil
}

// parse reads the files of u, and from them the marks. Generated files of packages that are generated
// for in this run are set aside.
func (l *loader) parse(u *unit) {
	mode := parser.SkipObjectResolution
	if u.meta.Module != nil {
		mode |= parser.ParseComments // the standard library has no directives
	}
	for _, path := range u.meta.GoFiles {
		src, err := os.ReadFile(path)
		if err != nil {
			u.problems.add(token.Position{Filename: path, Line: 1, Column: 1}, "%v; make it readable", err)
			continue
		}
		if l.root[u.meta.ID] && isGenerated(path, string(src)) {
			u.generated[path] = string(src)
			continue
		}
		file, err := parser.ParseFile(l.fset, path, src, mode)
		var list scanner.ErrorList
		if errors.As(err, &list) {
			for _, e := range list {
				u.broken.add(e.Pos, "%s; correct the syntax first", e.Msg)
			}
		}
		if file == nil {
			continue
		}
		u.files = append(u.files, file)
		marks, ps := marksOf(l.fset, file)
		u.problems = append(u.problems, ps...)
		for _, m := range marks {
			u.marks[m.spec.Name.Name] = m
			u.order = append(u.order, m)
		}
	}
}

// listed takes over what go list found wrong with u.
func (l *loader) listed(u *unit) {
	for _, e := range u.meta.Errors {
		if e.Kind == packages.ParseError || e.Kind == packages.TypeError {
			continue // type checking finds it again, with a better message
		}
		remedy := "correct the package first"
		if len(u.meta.GoFiles) == 0 {
			remedy = "name a package with Go files, such as . or ./..."
		}
		u.problems.add(token.Position{}, "%s: %s; %s", u.meta.PkgPath, oneLine(e.Msg), remedy)
	}
}

// check type-checks the declarations of u.
func (l *loader) check(u *unit) {
	config := types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return l.imported(u, path) }),
		Sizes:            l.sizes,
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Error: func(err error) {
			var e types.Error
			if !errors.As(err, &e) || strings.HasPrefix(e.Msg, "\t") { // a tab continues the error before
				return
			}
			if !l.missing(u, e.Msg) && len(u.meta.Errors) == 0 {
				u.broken.add(l.fset.Position(e.Pos), "%s; correct the declarations of this package first", strings.TrimSpace(oneLine(e.Msg)))
			}
		},
	}
	if m := u.meta.Module; m != nil && m.GoVersion != "" {
		config.GoVersion = "go" + m.GoVersion
	}
	u.types, _ = config.Check(u.meta.PkgPath, l.fset, u.files, nil) // the errors went to config.Error
}

// importer is a function as types.Importer.
type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

// imported returns the package that u imports as path.
func (l *loader) imported(u *unit, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	meta := u.meta.Imports[path]
	if meta == nil {
		return nil, errors.New("there is no such package here: try go mod tidy")
	}
	if len(meta.GoFiles) == 0 && len(meta.Errors) > 0 {
		return nil, errors.New(oneLine(meta.Errors[0].Msg))
	}
	imp, err := l.unit(meta)
	if err != nil {
		return nil, err
	}
	return imp.types, nil
}

// missing reports whether a type-checking message only says that a name is undefined that pgasgen
// generates, in u or in a package generated for in this run.
func (l *loader) missing(u *unit, msg string) bool {
	name, ok := strings.CutPrefix(msg, "undefined: ")
	if !ok {
		return false
	}
	pkg, member, qualified := strings.Cut(name, ".")
	if !qualified {
		return generates(u, name)
	}
	for _, meta := range u.meta.Imports {
		if imp := l.units[meta.ID]; imp != nil && meta.Name == pkg && generates(imp, member) {
			return true
		}
	}
	return false
}

// generates reports whether name is one that is generated for a marked type of u.
func generates(u *unit, name string) bool {
	for typ, m := range u.marks {
		for _, n := range declaredFor(typ, m.coherent) {
			if n == name {
				return true
			}
		}
	}
	return false
}

// fileOf returns the path of a source file, regardless of //line directives in it.
func fileOf(fset *token.FileSet, file *ast.File) string {
	return fset.PositionFor(file.Package, false).Filename
}

const header = "Code generated by pgasgen; DO NOT EDIT."

// suffix is what the name of a generated file has in place of .go.
const suffix = "_pgas.go"

// isGenerated reports whether a file is one of ours: by name and by header.
func isGenerated(path, src string) bool {
	if !strings.HasSuffix(path, suffix) {
		return false
	}
	for line := range strings.Lines(src) {
		if strings.TrimSpace(line) == "// "+header {
			return true
		}
		if strings.HasPrefix(line, "package ") {
			return false
		}
	}
	return false
}

// testFiles reports directives in the test files of u, which are no part of the package that generated
// code is compiled into.
func (l *loader) testFiles(u *unit) {
	if len(u.meta.GoFiles) == 0 {
		return
	}
	tests, _ := filepath.Glob(filepath.Join(filepath.Dir(u.meta.GoFiles[0]), "*_test.go"))
	for _, path := range tests {
		file, err := parser.ParseFile(l.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // go vet and go test say what is wrong with it
		}
		marks, _ := marksOf(l.fset, file)
		for _, m := range marks {
			u.problems.add(l.fset.Position(m.spec.Pos()), "struct %s is declared in a test file, and generated code is no part of the test; move it to a file that does not end in _test.go", m.spec.Name.Name)
		}
	}
}

func archOf(env []string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if arch, ok := strings.CutPrefix(env[i], "GOARCH="); ok && arch != "" {
			return arch
		}
	}
	return runtime.GOARCH
}

// oneLine joins the lines of a message of another tool.
func oneLine(msg string) string {
	return strings.Join(strings.Fields(msg), " ")
}
