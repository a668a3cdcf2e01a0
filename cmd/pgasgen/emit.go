package main

// From structures to Go. Every block of jennifer stands under a comment with the Go that it emits, for
// the record of the design:
//
//	type Cell struct {
//		Count int64 `pgas:"atomic"`
//		Sum   float64
//		Halo  [2][64]float64
//		Ready pgas.Signal
//	}
//
// What is emitted is thin: constant offsets, and one-line methods that call pgas, which inline.
// accessors.go emits what belongs to one field.

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// Names of what is generated for a type. They are exported iff the type is.

func symOf(typ string) string   { return typ + "Sym" }
func refOf(typ string) string   { return typ + "Ref" }
func refFrom(typ string) string { return typ + "RefOf" }

func allocOf(typ string) string {
	if token.IsExported(typ) {
		return "Alloc" + typ
	}
	r, n := utf8.DecodeRuneInString(typ)
	return "alloc" + string(unicode.ToUpper(r)) + typ[n:]
}

// declaredFor returns every package-level name that is generated for a type.
func declaredFor(typ string, coherent bool) []string {
	if coherent {
		return []string{arrayOf(typ), refOf(typ), allocOf(typ)}
	}
	return []string{symOf(typ), refOf(typ), refFrom(typ), allocOf(typ)}
}

// locals are the parameters of generated functions: no type or import that they mention may have such
// a name.
var locals = []string{"s", "r", "x", "ctx", "w", "n", "c", "pe", "v", "i", "j", "k", "src", "dst", "sig", "value", "tag", "cmp", "cond", "t", "err", "ok", "lo", "hi"}

// An emitter writes the Go of one package.
type emitter struct {
	a     *analysis
	names map[string]importName // the names of imports, by path
}

// An importName is what a package is called in generated files.
type importName struct {
	name  string
	alias bool // the name is not the package's own
}

// name gives the package its name in generated files: its own, unless that is taken.
func (e *emitter) name(path, own string) {
	if _, ok := e.names[path]; ok || path == e.a.u.meta.PkgPath {
		return
	}
	name := own
	for i := 1; e.taken(name); i++ {
		name = fmt.Sprintf("%s%d", own, i)
	}
	e.names[path] = importName{name, name != own}
}

func (e *emitter) taken(name string) bool {
	for _, used := range e.names {
		if used.name == name {
			return true
		}
	}
	for typ, m := range e.a.u.marks {
		if slices.Contains(declaredFor(typ, m.coherent), name) {
			return true
		}
	}
	return slices.Contains(locals, name) || e.a.u.types.Scope().Lookup(name) != nil || types.Universe.Lookup(name) != nil
}

func newEmitter(a *analysis) *emitter {
	e := &emitter{a: a, names: map[string]importName{}}
	e.name("context", "context")
	e.name("unsafe", "unsafe")
	e.name(runtimePath, "pgas")
	for _, m := range a.u.order {
		if m.coherent {
			e.name(dsmPath, "dsm")
			break
		}
	}
	return e
}

// file emits the generated file for the structures of one source file.
func (e *emitter) file(source string, list []*structure) ([]byte, error) {
	f := jen.NewFilePathName(e.a.u.meta.PkgPath, e.a.u.types.Name())
	if expr := e.constraint(source); expr != nil {
		f.HeaderComment("//go:build " + expr.String())
	}
	f.HeaderComment("// " + header)
	// const _ = pgas.GeneratedFor1
	f.Comment("A runtime without this name is not one that this file was generated for: generate again.")
	for _, path := range contracts(list) {
		f.Const().Id("_").Op("=").Qual(path, "GeneratedFor1")
	}
	for _, s := range list {
		f.Add(s.guard)
		f.Add(e.collectionType(s))
		for _, m := range s.sym {
			f.Add(m.code)
		}
		f.Add(e.recordType(s))
		for _, m := range s.ref {
			f.Add(m.code)
		}
	}
	for path, n := range e.names { // complete now: emission names packages as it meets them
		if n.alias {
			f.ImportAlias(path, n.name)
		} else {
			f.ImportName(path, n.name)
		}
	}
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return nil, fmt.Errorf("%s: this is a bug in pgasgen: %w", generatedFor(source), err)
	}
	return groupImports(b.Bytes()), nil
}

// groupImports puts the imports of the standard library before all others, with an empty line between, as
// goimports does. jennifer sorts them by path, all in one group.
func groupImports(src []byte) []byte {
	start, end := bytes.Index(src, []byte("import (\n")), bytes.Index(src, []byte("\n)\n"))
	if start < 0 || end < start {
		return src
	}
	start += len("import (\n")
	var std, others []string
	for line := range strings.SplitSeq(string(src[start:end]), "\n") {
		_, path, _ := strings.Cut(line, `"`)
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			others = append(others, line)
		} else {
			std = append(std, line)
		}
	}
	block := strings.Join(append(append(std, ""), others...), "\n")
	return slices.Concat(src[:start], []byte(block), src[end:])
}

// generatedFor returns the generated file of a source file.
func generatedFor(source string) string { return strings.TrimSuffix(source, ".go") + suffix }

// constraint returns the build constraint of a source file: its own line, and that of its name, which the
// generated file's name does not repeat.
func (e *emitter) constraint(source string) constraint.Expr {
	expr := nameConstraint(filepath.Base(source))
	for _, file := range e.a.u.files {
		if fileOf(e.a.l.fset, file) != source {
			continue
		}
		if line := lineConstraint(file); line != nil {
			return and(line, expr)
		}
	}
	return expr
}

func lineConstraint(file *ast.File) constraint.Expr {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package && constraint.IsGoBuild(c.Text) {
				if expr, err := constraint.Parse(c.Text); err == nil {
					return expr
				}
			}
		}
	}
	return nil
}

// nameConstraint returns what a file name like cell_linux_amd64.go says. Which words count is known to
// go/build alone, so it is asked which files it would leave out for another system.
func nameConstraint(name string) constraint.Expr {
	isOS := func(word string) bool { return !builtElsewhere("x_" + word + "_amd64.go") }
	isArch := func(word string) bool { return word == "amd64" || !builtElsewhere("x_"+word+".go") && !isOS(word) }
	words := strings.Split(strings.TrimSuffix(name, ".go"), "_")
	n := len(words)
	if n < 2 || !isOS(words[n-1]) && !isArch(words[n-1]) {
		return nil
	}
	var expr constraint.Expr = &constraint.TagExpr{Tag: words[n-1]}
	if n >= 3 && !isOS(words[n-1]) && isOS(words[n-2]) {
		expr = and(&constraint.TagExpr{Tag: words[n-2]}, expr)
	}
	return expr
}

// builtElsewhere reports whether a file of that name is built for amd64 on a system that does not exist.
func builtElsewhere(name string) bool {
	elsewhere := build.Context{
		GOOS: "elsewhere", GOARCH: "amd64", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("package p\n")), nil
		},
	}
	match, err := elsewhere.MatchFile("", name)
	return err == nil && match
}

func and(x, y constraint.Expr) constraint.Expr {
	if y == nil {
		return x
	}
	return &constraint.AndExpr{X: x, Y: y}
}

// emitGuard emits the check that the struct is still the one that this file was generated for.
//
// The compiler prints the name of the parameter, which says what to do. Of an unmeasured struct it compares the fields
// alone, and Alloc the layout.
//
//	func _(Cell_has_changed_run_go_generate Cell) {
//		_ = struct {
//			Count int64
//			…
//		}(Cell_has_changed_run_go_generate)
//		_ = [1048]struct{}([unsafe.Sizeof(Cell_has_changed_run_go_generate)]struct{}{})
//		_ = [0]struct{}([unsafe.Offsetof(Cell_has_changed_run_go_generate.Count)]struct{}{})
//		…
//	}
func (e *emitter) emitGuard(s *structure) jen.Code {
	st := s.typ.Underlying().(*types.Struct)
	var fields []jen.Code
	for i := range st.NumFields() {
		fields = append(fields, jen.Id(st.Field(i).Name()).Add(e.typ(st.Field(i).Type())))
	}
	x := s.name + "_has_changed_run_go_generate"
	equal := func(want int64, is string, of *jen.Statement) jen.Code {
		return jen.Id("_").Op("=").Index(number(want)).Struct().Call(jen.Index(jen.Qual("unsafe", is).Call(of)).Struct().Values())
	}
	lines := []jen.Code{jen.Id("_").Op("=").Struct(fields...).Call(jen.Id(x))}
	if !s.unmeasured {
		lines = append(lines, equal(s.size, "Sizeof", jen.Id(x)))
		for _, f := range s.fields {
			lines = append(lines, equal(f.off, "Offsetof", jen.Id(x).Dot(f.name)))
		}
	}
	return comment("A compiler error in this function says that %s is not what this file was generated for any more: "+
		"run go generate (or go tool pgasgen) again.", s.name).
		Func().Id("_").Params(jen.Id(x).Id(s.name)).Block(lines...).Line()
}

// symType emits the type of an allocation.
//
//	type CellSym struct{ sym pgas.Sym[Cell] }
func (e *emitter) symType(s *structure) jen.Code {
	doc := "%s is a symmetric allocation of %s records: Len of them, at the same offset of every PE's heap."
	if s.views {
		doc = "%s is a symmetric allocation of %s records, at the same offset of every PE's heap. Sym has their number, and frees them."
	}
	return comment(doc, symOf(s.name), s.name).
		Type().Id(symOf(s.name)).Struct(jen.Id("sym").Add(pgas("Sym")).Index(jen.Id(s.name))).Line()
}

// refType emits the type of a reference to one record.
//
//	type CellRef struct{ ref pgas.Ref[Cell] }
func (e *emitter) refType(s *structure) jen.Code {
	return comment("%s refers to one %s record: the same one on every PE. It is small: copy it.", refOf(s.name), s.name).
		Type().Id(refOf(s.name)).Struct(jen.Id("ref").Add(pgas("Ref")).Index(jen.Id(s.name))).Line()
}

// methods emits everything for s, for file to place, and for check.go to compare the names.
func (e *emitter) methods(s *structure) {
	if s.size > 0 { // else a field was rejected
		s.guard = e.emitGuard(s)
	}
	if s.coherent {
		e.coherent(s)
		return
	}
	e.alloc(s)
	e.symMethods(s)
	e.refMethods(s)
	for _, f := range s.fields {
		s.ref = append(s.ref, e.field(s, f)...)
	}
}

// alloc emits the collective allocation.
func (e *emitter) alloc(s *structure) {
	sym, typ := symOf(s.name), e.typ(s.typ)
	// func AllocCell(ctx context.Context, w *pgas.World, n int) (CellSym, error) {
	// 	s, err := pgas.AllocLayout[Cell](ctx, w, n, pgas.Layout{Name: "example.com/demo.Cell", Hash: 0x8a…})
	// 	return CellSym{s}, err
	// }
	s.sym = append(s.sym, method{name: allocOf(s.name), code: comment(
		"%s allocates n zeroed %s records on every PE. It is collective: every PE makes the same call. Errors: "+
			"*pgas.HeapFullError, the same on every PE, if the records do not fit; *pgas.MismatchError if the PEs "+
			"differ in n or in the layout of %s; *pgas.PeerError if a PE dies; the cause of ctx's end.", allocOf(s.name), s.name, s.name).
		Func().Id(allocOf(s.name)).
		Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("w").Op("*").Add(pgas("World")), jen.Id("n").Int()).
		Params(jen.Id(sym), jen.Error()).
		Block(
			jen.List(jen.Id("s"), jen.Err()).Op(":=").Add(pgas("AllocLayout")).Index(typ).Call(
				jen.Id("ctx"), jen.Id("w"), jen.Id("n"), pgas("Layout").Values(
					jen.Id("Name").Op(":").Lit(e.a.u.meta.PkgPath+"."+s.name),
					jen.Id("Hash").Op(":").Id(fmt.Sprintf("%#016x", s.hash)),
					e.tags(s))),
			jen.Return(jen.Id(sym).Values(jen.Id("s")), jen.Err()),
		).Line()})
}

// tags emits the tags of s's fields, for the runtime to compare with those that they have: a tag that was removed
// compiles.
//
//	Tags: "Count atomic; Row view"
func (e *emitter) tags(s *structure) jen.Code {
	st := s.typ.Underlying().(*types.Struct)
	var tags []string
	for i := range st.NumFields() {
		if tag, ok := reflect.StructTag(st.Tag(i)).Lookup(tagKey); ok {
			tags = append(tags, st.Field(i).Name()+" "+tag)
		}
	}
	if len(tags) == 0 {
		return jen.Null()
	}
	return jen.Id("Tags").Op(":").Lit(strings.Join(tags, "; "))
}

// symMethods emits the methods of an allocation. Under the directive's option views these are the two that
// nothing else gives.
func (e *emitter) symMethods(s *structure) {
	sym, ref, typ := symOf(s.name), refOf(s.name), e.typ(s.typ)
	onSym := e.on("s", sym, "")

	// func (s CellSym) At(i int) CellRef { return CellRef{s.sym.At(i)} }
	s.sym = append(s.sym, onSym("At", "%s returns a reference to record i. It panics with *pgas.UsageError if i is out of range or the records were freed.").
		takes(jen.Id("i").Int()).gives(jen.Id(ref)).
		does(jen.Return(jen.Id(ref).Values(jen.Id("s").Dot("sym").Dot("At").Call(jen.Id("i"))))))

	// func (s CellSym) Sym() pgas.Sym[Cell] { return s.sym }
	whole := onSym("Sym", "%s returns the allocation without its accessors.").
		gives(pgas("Sym").Index(typ)).
		does(jen.Return(jen.Id("s").Dot("sym")))
	if s.views {
		s.sym = append(s.sym, whole)
		return
	}

	// func (s CellSym) Len() int { return s.sym.Len() }
	s.sym = append(s.sym, onSym("Len", "%s returns the number of records.").
		gives(jen.Int()).
		does(jen.Return(jen.Id("s").Dot("sym").Dot("Len").Call())))

	// func (s CellSym) Local() []Cell { return s.sym.Local() }
	s.sym = append(s.sym, onSym("Local", "%s returns this PE's own copy of the records, for plain loads and stores"+e.localCaveat(s)+".").
		gives(jen.Index().Add(typ)).
		does(jen.Return(jen.Id("s").Dot("sym").Dot("Local").Call())))

	// func (s CellSym) On(c *pgas.Context) CellSym { return CellSym{s.sym.On(c)} }
	s.sym = append(s.sym, onSym("On", "%s returns the same records on another context: c orders and completes what is done through the result.").
		takes(jen.Id("c").Op("*").Add(pgas("Context"))).gives(jen.Id(sym)).
		does(jen.Return(jen.Id(sym).Values(jen.Id("s").Dot("sym").Dot("On").Call(jen.Id("c"))))))

	s.sym = append(s.sym, whole)
	e.lifeMethods(s, onSym)
}

// lifeMethods emits the methods that give an allocation another length, and free it.
func (e *emitter) lifeMethods(s *structure, onSym maker) {
	sym := symOf(s.name)

	// func (s CellSym) Realloc(ctx context.Context, n int) (CellSym, error) {
	// 	t, err := s.sym.Realloc(ctx, n)
	// 	return CellSym{t}, err
	// }
	s.sym = append(s.sym, onSym("Realloc", "%s gives the allocation a new length, keeping its first records on every PE; new ones are zero. "+
		"It is collective. s is freed, but stays as it was on an error. Errors: as those of "+allocOf(s.name)+".").
		takes(jen.Id("ctx").Qual("context", "Context"), jen.Id("n").Int()).gives(jen.Id(sym), jen.Error()).
		does(
			jen.List(jen.Id("t"), jen.Err()).Op(":=").Id("s").Dot("sym").Dot("Realloc").Call(jen.Id("ctx"), jen.Id("n")),
			jen.Return(jen.Id(sym).Values(jen.Id("t")), jen.Err())))

	// func (s CellSym) Free(ctx context.Context) error { return s.sym.Free(ctx) }
	s.sym = append(s.sym, onSym("Free", "%s frees the allocation on every PE. It is collective; references to its records must not be used any more. Errors: "+
		"*pgas.MismatchError if the PEs do not all make the same call, *pgas.PeerError if a PE dies, and the cause of ctx's end.").
		takes(jen.Id("ctx").Qual("context", "Context")).gives(jen.Error()).
		does(jen.Return(jen.Id("s").Dot("sym").Dot("Free").Call(jen.Id("ctx")))))
}

// refMethods emits what every reference to a record has, whatever its fields.
func (e *emitter) refMethods(s *structure) {
	ref, typ := refOf(s.name), e.typ(s.typ)
	onRef := e.on("r", ref, "")

	// func CellRefOf(r pgas.Ref[Cell]) CellRef { return CellRef{r} }
	s.ref = append(s.ref, method{name: refFrom(s.name), code: comment("%s returns a reference with accessors to the %s that r refers to, anywhere in symmetric memory.", refFrom(s.name), s.name).
		Func().Id(refFrom(s.name)).Params(jen.Id("r").Add(pgas("Ref")).Index(typ)).Id(ref).
		Block(jen.Return(jen.Id(ref).Values(jen.Id("r")))).Line()})

	if !s.views {
		// func (r CellRef) Local() *Cell { return r.ref.Local() }
		s.ref = append(s.ref, onRef("Local", "%s returns this PE's own copy of the record, for plain loads and stores"+e.localCaveat(s)+".").
			gives(jen.Op("*").Add(typ)).
			does(jen.Return(jen.Id("r").Dot("ref").Dot("Local").Call())))
	}

	// func (r CellRef) On(c *pgas.Context) CellRef { return CellRef{r.ref.On(c)} }
	s.ref = append(s.ref, onRef("On", "%s returns the same record on another context: c orders and completes what is done through the result.").
		takes(jen.Id("c").Op("*").Add(pgas("Context"))).gives(jen.Id(ref)).
		does(jen.Return(jen.Id(ref).Values(jen.Id("r").Dot("ref").Dot("On").Call(jen.Id("c"))))))

	caveat := ""
	if s.shared {
		caveat = " A put through it overwrites the whole record, also the words that PEs update atomically: make sure that no PE updates them at the time."
	}
	// func (r CellRef) Ref() pgas.Ref[Cell] { return r.ref }
	s.ref = append(s.ref, onRef("Ref", "%s returns the reference without its accessors."+caveat).
		gives(pgas("Ref").Index(typ)).
		does(jen.Return(jen.Id("r").Dot("ref"))))

	if !s.shared && !s.views {
		s.ref = append(s.ref, e.whole(onRef, typ)...)
	}
}

// localCaveat returns what a program must know that touches a record with atomic words directly.
func (e *emitter) localCaveat(s *structure) string {
	if s.shared {
		return "; atomic fields and signals that other PEs may be updating are accessed through their accessors, on this PE too"
	}
	return ""
}

// whole emits the accessors of the whole record.
func (e *emitter) whole(onRef maker, typ *jen.Statement) []method {
	pe := jen.Id("pe").Int()
	return []method{
		// func (r CellRef) Put(pe int, v Cell) { r.ref.Put(pe, v) }
		onRef("Put", "%s copies v into the record on PE pe."+putDone).
			takes(pe, jen.Id("v").Add(typ)).
			does(jen.Id("r").Dot("ref").Dot("Put").Call(jen.Id("pe"), jen.Id("v"))),

		// func (r CellRef) Get(pe int) Cell { return r.ref.Get(pe) }
		onRef("Get", "%s returns the record of PE pe."+getDone).
			takes(pe).gives(typ).
			does(jen.Return(jen.Id("r").Dot("ref").Dot("Get").Call(jen.Id("pe")))),

		// func (r CellRef) PutNB(pe int, v *Cell) { r.ref.PutNB(pe, v) }
		onRef("PutNB", "%s is Put from a pointer: *v may be reused on return.").
			takes(pe, jen.Id("v").Op("*").Add(typ)).
			does(jen.Id("r").Dot("ref").Dot("PutNB").Call(jen.Id("pe"), jen.Id("v"))),

		// func (r CellRef) GetNB(pe int, dst *Cell) { r.ref.GetNB(pe, dst) }
		onRef("GetNB", "%s fills *dst from the record of PE pe."+getNBDone).
			takes(pe, jen.Id("dst").Op("*").Add(typ)).
			does(jen.Id("r").Dot("ref").Dot("GetNB").Call(jen.Id("pe"), jen.Id("dst"))),
	}
}

// A maker starts a method of one receiver; %s in doc is its name.
type maker func(name, doc string) *draft

// A draft is a method in the making.
type draft struct {
	m               method
	recv, typ, doc  string
	params, results []jen.Code
}

// on makes methods of one receiver, for one field or for none.
func (e *emitter) on(recv, typ, from string) maker {
	return func(name, doc string) *draft {
		return &draft{m: method{name: name, from: from}, recv: recv, typ: typ, doc: fmt.Sprintf(doc, name)}
	}
}

func (d *draft) takes(params ...jen.Code) *draft {
	d.params = params
	return d
}

func (d *draft) gives(results ...jen.Code) *draft {
	d.results = results
	return d
}

// does completes the method with its body.
//
//	// DOC
//	func (RECV TYP) NAME(PARAMS) RESULTS { BODY }
func (d *draft) does(body ...jen.Code) method {
	fn := comment("%s", d.doc).Func().Params(jen.Id(d.recv).Id(d.typ)).Id(d.m.name).Params(d.params...)
	switch len(d.results) {
	case 0:
	case 1:
		fn = fn.Add(d.results[0])
	default:
		fn = fn.Params(d.results...)
	}
	d.m.code = fn.Block(body...).Line()
	return d.m
}

// pgas names something of the runtime.
func pgas(name string) *jen.Statement { return jen.Qual(runtimePath, name) }

// number returns an untyped constant.
func number(n int64) jen.Code { return jen.Id(fmt.Sprint(n)) }

// comment starts a declaration with its documentation, in lines of 100 columns.
func comment(format string, args ...any) *jen.Statement {
	const width = 100 - len("// ")
	s := &jen.Statement{}
	var line string
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if line != "" && len(line)+1+len(word) > width {
			s.Comment(line).Line()
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return s.Comment(line).Line()
}

// typ spells a type in the generated file. check.go let only types pass that can be spelt.
func (e *emitter) typ(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Basic:
		e.a.predeclared(t.Name())
		return jen.Id(t.Name())
	case *types.Array:
		return jen.Index(number(t.Len())).Add(e.typ(t.Elem()))
	case *types.Alias:
		return e.object(t.Obj(), t.TypeArgs())
	case *types.Named:
		return e.object(t.Obj(), t.TypeArgs())
	}
	panic(fmt.Sprintf("type %s passed the checks and cannot be spelt", t))
}

func (e *emitter) object(obj *types.TypeName, args *types.TypeList) *jen.Statement {
	e.a.spelt(obj)
	s := jen.Id(obj.Name())
	if pkg := obj.Pkg(); pkg != nil {
		e.name(pkg.Path(), pkg.Name())
		s = jen.Qual(pkg.Path(), obj.Name())
	}
	if args.Len() == 0 {
		return s
	}
	var list []jen.Code
	for i := range args.Len() {
		list = append(list, e.typ(args.At(i)))
	}
	return s.Index(jen.List(list...))
}
