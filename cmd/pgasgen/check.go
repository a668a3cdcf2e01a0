package main

// What is rejected, and what to do instead. Each rejection names the field, or the path below it, and
// the fix.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// named rejects fields whose accessors could not have sensible names.
func (a *analysis) named(s *structure, f *field, v *types.Var) {
	switch {
	case v.Name() == "_" && v.Pkg() != a.u.types:
		a.add(f.pos, "struct %s takes its padding from package %s, which cannot be checked here; declare its fields here", s.name, v.Pkg().Path())
	case v.Name() == "_":
	case v.Embedded():
		a.add(f.pos, "field %s of %s is embedded, and would promote methods that move nothing; give it a name: %s %s", v.Name(), s.name, v.Name(), a.typeString(v.Type()))
	case !v.Exported():
		a.add(f.pos, "field %s of %s is not exported, but its accessors would be; export it as %s, or name it _ if it is padding", v.Name(), s.name, exported(v.Name()))
	}
}

func exported(name string) string {
	name = strings.TrimLeft(name, "_")
	r, n := utf8.DecodeRuneInString(name)
	if !unicode.IsUpper(unicode.ToUpper(r)) {
		return "X" + name
	}
	return string(unicode.ToUpper(r)) + name[n:]
}

// A trouble is one thing below a field that cannot live in symmetric memory.
type trouble struct {
	path   string // the names from the field down
	what   string
	remedy string
}

// holds rejects a field that holds, at any depth and in any package, what cannot live in symmetric
// memory.
func (a *analysis) holds(s *structure, f *field) {
	var all []trouble
	a.descend(f.name, f.typ, true, &all)
	if len(all) == 0 {
		return
	}
	more := ""
	if len(all) > 1 {
		paths := make([]string, 0, len(all)-1)
		for _, t := range all[1:] {
			paths = append(paths, t.path)
		}
		more = fmt.Sprintf(" (and so for %s)", strings.Join(paths, ", "))
	}
	remedy := all[0].remedy
	if s.coherent {
		remedy = coherentRemedy(remedy)
	}
	a.add(f.pos, "field %s %s; %s%s", all[0].path, all[0].what, remedy, more)
}

// maxTroubles is the most that are reported for a field: their number can be exponential in the depth.
const maxTroubles = 20

// descend looks for trouble in t, which path leads to. direct says that no struct is in between.
func (a *analysis) descend(path string, t types.Type, direct bool, all *[]trouble) {
	before := len(*all)
	if before >= maxTroubles || !direct && a.memo.clean[t] {
		return
	}
	a.memo.looks++
	a.look(path, t, direct, all)
	if !direct && len(*all) == before {
		a.memo.clean[t] = true
	}
}

// look descends into a type that is not known to be clean.
func (a *analysis) look(path string, t types.Type, direct bool, all *[]trouble) {
	report := func(what, remedy string) { *all = append(*all, trouble{path, what, remedy}) }
	if runtimeType(t) != "" {
		return
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		if n, ok := t.(*types.Named); ok && direct && n.Obj().Pkg() != a.u.types && !n.Obj().Exported() {
			report(fmt.Sprintf("has type %s, which accessors cannot spell outside its package", a.typeString(t)), "use an exported type")
			return
		}
		switch n.Obj().Pkg().Path() {
		case "sync":
			report(fmt.Sprintf("has type %s, which works inside one process only", a.typeString(t)), "use a pgas.Lock, or an atomic field")
			return
		case "sync/atomic":
			report(fmt.Sprintf("has type %s, which other PEs cannot reach", a.typeString(t)), "use a plain integer with the tag "+options{atomic: true}.String())
			return
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		a.descendBasic(u, report)
	case *types.Pointer:
		report(fmt.Sprintf("holds a pointer (%s), and an address means nothing on another PE", a.typeString(t)), "store an index into a symmetric allocation")
	case *types.Slice:
		report(fmt.Sprintf("holds a slice (%s), whose elements live outside the record", a.typeString(t)), fmt.Sprintf("use an array of fixed length, [N]%s, and a count", a.typeString(u.Elem())))
	case *types.Map:
		report(fmt.Sprintf("holds a map (%s), which lives outside the record", a.typeString(t)), "use an array of records, and hash into it")
	case *types.Chan:
		report(fmt.Sprintf("holds a channel (%s), which works inside one process only", a.typeString(t)), "use a pgas.Signal")
	case *types.Signature:
		report(fmt.Sprintf("holds a func (%s), and code has another address on another PE", a.typeString(t)), "store a number that selects the function")
	case *types.Interface:
		report(fmt.Sprintf("holds an interface (%s), which is two pointers", a.typeString(t)), "use a concrete type of fixed size")
	case *types.Array:
		if u.Len() == 0 {
			report("is an array of length zero", "give it a length of at least 1, or remove it")
			return
		}
		a.descend(path, u.Elem(), direct, all)
	case *types.Struct:
		a.descendStruct(path, t, u, direct, all)
	default:
		report(fmt.Sprintf("has the type %s, which has no fixed layout", a.typeString(t)), "use a concrete type of fixed size")
	}
}

func (a *analysis) descendBasic(b *types.Basic, report func(what, remedy string)) {
	switch b.Kind() {
	case types.String:
		report("holds a string, whose bytes live outside the record", "use [N]byte and a length")
	case types.UnsafePointer:
		report("holds an unsafe.Pointer, and an address means nothing on another PE", "store an index into a symmetric allocation")
	case types.Invalid:
		if len(a.u.broken) > 0 {
			return // type checking said so
		}
		report("has a type that pgasgen cannot see: undefined, from C, or itself generated", "use a Go type of fixed size, such as int32, or an index in place of a reference")
	}
}

func (a *analysis) descendStruct(path string, t types.Type, st *types.Struct, direct bool, all *[]trouble) {
	report := func(what, remedy string) { *all = append(*all, trouble{path, what, remedy}) }
	_, isNamed := types.Unalias(t).(*types.Named)
	marked := a.markedStruct(t) != nil
	switch {
	case st.NumFields() == 0:
		report("is an empty struct", "give it a field, or remove it")
		return
	case direct && !isNamed:
		report("has a struct type without a name, which accessors cannot spell", "declare the type and name it")
		return
	}
	for i := range st.NumFields() {
		v := st.Field(i)
		below := path + "." + v.Name()
		if !marked {
			if _, found, err := lookup(st.Tag(i)); found || err != nil {
				*all = append(*all, trouble{below, fmt.Sprintf("has a pgas tag, which does nothing here: %s is not marked", a.typeString(t)), fmt.Sprintf("put %s above %s, or remove the tag", directive, a.typeString(t))})
				continue
			}
			elem, _ := dimensions(v.Type())
			if name := strings.ToLower(runtimeType(elem)); name != "" {
				*all = append(*all, trouble{below, fmt.Sprintf("is a %s, which nothing could refer to: %s is not marked", name, a.typeString(t)), fmt.Sprintf("put %s above %s", directive, a.typeString(t))})
				continue
			}
		}
		a.descend(below, v.Type(), false, all)
	}
}

// padding rejects what makes no sense on a blank field.
func (a *analysis) padding(f *field, opts options) {
	switch {
	case opts.atomic:
		a.add(f.pos, "a blank field is padding, and cannot be atomic; give it a name, or remove the tag")
	case opts.view:
		a.add(f.pos, "a blank field is padding, and has no view; give it a name, or remove the tag")
	case f.shared:
		a.add(f.pos, "a blank field is padding, and cannot hold a signal, a lock or an atomic word; give it a name")
	}
}

// view rejects the tag's option view where the field has no other accessors than its views anyway.
func (a *analysis) view(s *structure, f *field) {
	switch {
	case s.views:
		a.add(f.pos, "field %s is tagged view, but %s says views for all fields of %s; remove view from the tag", f.name, viewsDirective, s.name)
	case f.kind == signalField, f.kind == lockField:
		a.add(f.pos, "field %s is tagged view, but a %s has no other accessors; remove the tag", f.name, strings.ToLower(runtimeType(f.elem)))
	case f.kind == recordField && f.shared:
		a.add(f.pos, "field %s is tagged view, but its accessors are those of %s; remove the tag, or put %s above %s", f.name, a.typeString(f.elem), viewsDirective, a.typeString(f.elem))
	}
}

// atomic rejects the tag on fields that are no words.
func (a *analysis) atomic(f *field) {
	if a.atomicRef(f.elem) != "" {
		return
	}
	remedy := "remove the tag, or use int32, int64, uint32, uint64, int, uint, uintptr, float32, float64 or bool"
	switch u := f.elem.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsInteger != 0:
			remedy = "atomic words have 4 or 8 bytes: use int32 or uint32, or for an enumeration a type with a name"
		case u.Info()&types.IsComplex != 0:
			remedy = "tag two float fields in its place"
		}
	case *types.Struct:
		switch {
		case runtimeType(f.elem) != "":
			remedy = "a " + strings.ToLower(runtimeType(f.elem)) + " is atomic without a tag: remove it"
		case a.markedStruct(f.elem) != nil:
			remedy = "tag its fields, where they are declared"
		default:
			remedy = fmt.Sprintf("mark %s %s and tag its fields", a.typeString(f.elem), directive)
		}
	}
	a.add(f.pos, "field %s is tagged atomic, but %s is not an atomic word; %s", f.name, a.typeString(f.elem), remedy)
}

// aligned rejects words that the target architecture does not place where atomics can reach them.
func (a *analysis) aligned(f *field) {
	switch f.kind {
	case atomicField, signalField, lockField:
	default:
		return
	}
	if b, ok := f.elem.Underlying().(*types.Basic); ok && f.kind == atomicField && f.size == 4 {
		switch b.Kind() {
		case types.Int, types.Uint, types.Uintptr:
			a.add(f.pos, "field %s: %s has 4 bytes with GOARCH=%s and 8 elsewhere; use int32, int64, uint32 or uint64", f.name, b.Name(), a.l.arch)
		}
	}
	word := min(f.size, 8) // a lock has three words
	if align := a.l.kept.Alignof(f.elem); f.off%word != 0 || align < word {
		a.add(f.pos, "field %s has %s, but GOARCH=%s aligns it to %d only; generate for a 64-bit GOARCH", f.name, count(f.size, "byte"), a.l.arch, align)
	}
}

// reference rejects fields of marked types whose package has not been generated for.
func (a *analysis) reference(f *field) {
	n := a.markedStruct(f.elem)
	u := a.unitOf(n.Obj().Pkg())
	if a.l.root[u.meta.ID] || u.types.Scope().Lookup(refOf(n.Obj().Name())) != nil {
		return
	}
	a.add(f.pos, "field %s: package %s has no generated accessors for %s; run: go tool pgasgen %s", f.name, u.meta.PkgPath, n.Obj().Name(), u.meta.PkgPath)
}

// unique rejects names that generated code would declare twice, or that hide what it refers to. It
// looks at the structures' methods, so it comes after emission has named them.
func (a *analysis) unique(list []*structure) {
	scope := a.u.types.Scope()
	from := map[string]*structure{}
	for _, s := range list {
		for _, name := range declaredFor(s.name, s.coherent) {
			if other := scope.Lookup(name); other != nil {
				a.add(a.l.fset.Position(other.Pos()), "%s is what pgasgen generates for %s; rename one of them", name, s.name)
			} else if first := from[name]; first != nil {
				a.add(s.pos, "%s is what pgasgen generates both for %s and for %s; rename one of them", name, first.name, s.name)
			}
			from[name] = s
		}
		a.uniqueMethods(s.collection(), s.sym)
		a.uniqueMethods(refOf(s.name), s.ref)
	}
	if len(list) > 0 {
		for _, name := range []string{"error", "int", "uint64", "uintptr"} {
			a.predeclared(name)
		}
	}
}

// predeclared rejects a package that hides a predeclared type that its generated code uses.
func (a *analysis) predeclared(name string) {
	if obj := a.u.types.Scope().Lookup(name); obj != nil {
		a.add(a.l.fset.Position(obj.Pos()), "%s hides the predeclared %s, which generated code uses; rename it", name, name)
	}
}

// spelt rejects a type of this package that generated code has to mention where a parameter hides it.
func (a *analysis) spelt(obj *types.TypeName) {
	if obj.Pkg() == a.u.types && slices.Contains(locals, obj.Name()) {
		a.add(a.l.fset.Position(obj.Pos()), "type %s has the name of a parameter of generated code; rename it", obj.Name())
	}
}

// uniqueMethods rejects methods of the generated type recv that are generated twice, or declared by
// hand as well.
func (a *analysis) uniqueMethods(recv string, methods []method) {
	hand := a.methodsOf(recv)
	first := map[string]method{}
	for _, m := range methods {
		if pos, ok := hand[m.name]; ok {
			a.add(pos, "method %s of %s is what pgasgen generates; rename one of them", m.name, recv)
		}
		prev, dup := first[m.name]
		switch {
		case !dup:
			first[m.name] = m
		case prev.from == "":
			a.add(m.pos, "field %s: its accessor %s is also the method %s of every %s; rename the field", m.from, m.name, m.name, recv)
		default:
			a.add(m.pos, "field %s: its accessor %s is also that of field %s; rename one of them", m.from, m.name, prev.from)
		}
	}
}

// methodsOf finds the methods that the package declares on a type by hand. It looks at the syntax,
// because the generated type may not exist yet.
func (a *analysis) methodsOf(recv string) map[string]token.Position {
	out := map[string]token.Position{}
	for _, file := range a.u.files {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || len(fn.Recv.List) != 1 {
				continue
			}
			t := ast.Unparen(fn.Recv.List[0].Type)
			if star, ok := t.(*ast.StarExpr); ok {
				t = ast.Unparen(star.X)
			}
			if id, ok := t.(*ast.Ident); ok && id.Name == recv {
				out[fn.Name.Name] = a.l.fset.Position(fn.Name.Pos())
			}
		}
	}
	return out
}
