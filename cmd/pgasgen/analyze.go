package main

// From marked types to records: for each field its kind, its dimensions and its place. What cannot
// live in symmetric memory is found on the way; check.go says so.

import (
	"go/token"
	"go/types"
	"strconv"

	"github.com/dave/jennifer/jen"
)

// The runtime package, and the field types it defines.
const (
	runtimePath = "github.com/gopgas/gopgas/pgas"
	signalName  = "Signal"
	lockName    = "Lock"
)

// A kind is how a field is accessed.
type kind int

const (
	plainField  kind = iota // put and get
	atomicField             // atomic operations, and nothing else
	signalField             // put-with-signal and signal operations, and nothing else
	lockField               // lock operations, and nothing else
	recordField             // a marked struct, through its own generated reference
)

// A structure is a marked struct, ready to generate for.
type structure struct {
	name     string // the name of the type
	file     string // its source file
	pos      token.Position
	typ      *types.Named
	size     int64
	coherent bool // the struct is for an array of package dsm, not for symmetric memory
	views    bool // its directive says views: no method that Sym(), Ref() or a view has too
	shared   bool // holds a word that is updated atomically, so is never put as a whole
	fields   []*field
	hash     uint64
	// unmeasured: structs are nested so deep that the compiler would compute the size and the offsets for too long.
	unmeasured bool
	guard      jen.Code
	sym        []method // methods of the allocation
	ref        []method // methods of the reference
}

// patientCompiler bounds how many types the compiler looks into for the guard of one struct: some milliseconds.
const patientCompiler = 1 << 16

// A field is one named field of a structure.
type field struct {
	name   string
	pos    token.Position
	off    int64
	typ    types.Type // the type as declared
	kind   kind
	view   bool       // only its views are generated
	dims   []int64    // the dimensions of an array, outermost first
	elem   types.Type // the field's type without its dimensions
	size   int64      // the size of elem
	shared bool       // elem holds a word that is updated atomically
}

// A method is one generated method, or function.
type method struct {
	name string
	from string // the field it belongs to, or ""
	pos  token.Position
	code *jen.Statement
}

// An analysis turns the marked types of one package into structures.
type analysis struct {
	l *loader
	u *unit
	*problems
	memo *memo
}

// structures analyses every marked type of u. Fields with problems are left out.
func (a *analysis) structures() []*structure {
	var out []*structure
	for _, m := range a.u.order {
		if s := a.structure(m); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func (a *analysis) structure(m mark) *structure {
	pos := a.l.fset.Position(m.spec.Name.Pos())
	obj, ok := a.u.types.Scope().Lookup(m.spec.Name.Name).(*types.TypeName)
	if !ok || obj.Pos() != m.spec.Name.Pos() {
		return nil // declared twice: type checking said so
	}
	named, ok := obj.Type().(*types.Named)
	if !ok {
		return nil
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		if named.Underlying() != types.Typ[types.Invalid] {
			a.add(pos, "type %s is not a struct, and directive %s is for structs only; make it one, or allocate it with %s[%s]", m.spec.Name.Name, m.directive(), m.allocator(), m.spec.Name.Name)
		}
		return nil
	}
	s := &structure{name: obj.Name(), file: m.file, pos: pos, typ: named, views: m.views, coherent: m.coherent}
	if st.NumFields() == 0 {
		a.add(pos, "struct %s is empty; give it a field, or remove %s", s.name, m.directive())
		return nil
	}
	before := len(*a.problems)
	for i := range st.NumFields() {
		if f := a.field(s, st, i); f != nil {
			s.fields = append(s.fields, f)
			s.shared = s.shared || f.shared
		}
	}
	if len(*a.problems) > before {
		return s // the layout of a broken struct is not computed
	}
	a.layOut(s, st)
	s.hash = a.hash(s)
	return s
}

// layOut computes the size of s, whose type is st, and where its fields are.
func (a *analysis) layOut(s *structure, st *types.Struct) {
	vars := make([]*types.Var, st.NumFields())
	for i := range vars {
		vars[i] = st.Field(i)
	}
	offsets := a.l.kept.Offsetsof(vars)
	s.size = a.l.kept.Sizeof(s.typ)
	at := 0
	for i, v := range vars {
		if v.Name() != "_" {
			s.fields[at].off = offsets[i]
			a.aligned(s.fields[at])
			at++
		}
	}
	a.smallWords(s)
	s.unmeasured = times(int64(1+len(s.fields)), a.l.kept.compilerCost(s.typ)) > patientCompiler
	switch {
	case s.size >= tooLarge:
		a.add(s.pos, "struct %s takes more bytes than there are addresses; make its arrays smaller, and allocate more records", s.name)
	case s.size <= 0 || s.size > 1<<40:
		a.add(s.pos, "struct %s takes %d bytes; make its arrays smaller, and allocate more records", s.name, s.size)
	}
}

// field analyses one field. It returns nil for padding, and for a field with problems.
func (a *analysis) field(s *structure, st *types.Struct, i int) *field {
	v := st.Field(i)
	f := &field{name: v.Name(), pos: a.l.fset.Position(v.Pos()), typ: v.Type()}
	if v.Pkg() != a.u.types {
		f.pos = s.pos // the struct copies one of another package
	}
	before := len(*a.problems)
	opts, err := parseTag(st.Tag(i))
	if err != nil {
		a.add(f.pos, "field %s: %v", f.name, err)
	}
	a.named(s, f, v)
	if s.coherent {
		a.coherent(s, f, opts)
	}
	if len(*a.problems) == before {
		a.holds(s, f)
	}
	f.elem, f.dims = dimensions(v.Type())
	if len(*a.problems) > before {
		return nil
	}
	f.size = a.l.kept.Sizeof(f.elem)
	f.shared = a.shared(f.elem) || opts.atomic
	f.view = opts.view || s.views
	switch {
	case v.Name() == "_":
		a.padding(f, opts)
		return nil
	case s.coherent: // every field is a value
	case opts.atomic:
		f.kind = atomicField
		a.atomic(f)
	case runtimeType(f.elem) == signalName:
		f.kind = signalField
	case runtimeType(f.elem) == lockName:
		f.kind = lockField
	case a.markedStruct(f.elem) != nil:
		f.kind = recordField
		a.reference(f)
	}
	if opts.view {
		a.view(s, f)
	}
	if len(*a.problems) > before {
		return nil
	}
	return f
}

// dimensions takes a type apart into its element and the lengths of its dimensions.
func dimensions(t types.Type) (elem types.Type, dims []int64) {
	for {
		array, ok := t.Underlying().(*types.Array)
		if !ok {
			return t, dims
		}
		dims = append(dims, array.Len())
		t = array.Elem()
	}
}

// rank returns the number of indexes that name one element.
func (f *field) rank() int { return len(f.dims) }

// strides returns the bytes from one element to the next, in each dimension.
func (f *field) strides() []int64 {
	out := make([]int64, len(f.dims))
	step := f.size
	for i := len(f.dims) - 1; i >= 0; i-- {
		out[i] = step
		step *= f.dims[i]
	}
	return out
}

// runtimeType returns the name of t if it is a field type of the runtime, or "".
func runtimeType(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != runtimePath {
		return ""
	}
	if name := n.Obj().Name(); name == signalName || name == lockName {
		return name
	}
	return ""
}

// markedStruct returns t as a struct type marked for symmetric memory, of this or another package, or nil.
func (a *analysis) markedStruct(t types.Type) *types.Named {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.TypeArgs() != nil || n.Obj().Pkg() == nil {
		return nil
	}
	if u := a.unitOf(n.Obj().Pkg()); u == nil || !u.marked(n.Obj().Name()) || u.marks[n.Obj().Name()].coherent {
		return nil
	}
	return n
}

func (a *analysis) unitOf(pkg *types.Package) *unit {
	for _, u := range a.l.units {
		if u != nil && u.types == pkg {
			return u
		}
	}
	return nil
}

// shared reports whether a value of type t holds a word that is updated atomically: a signal, a lock, or
// an atomic field of a marked struct.
func (a *analysis) shared(t types.Type) bool {
	elem, _ := dimensions(t)
	return recall(a.memo.shared, elem, &a.memo.looks, func() bool { return a.sharedElem(elem) })
}

// sharedElem answers as shared does, for a type that is not an array.
func (a *analysis) sharedElem(elem types.Type) bool {
	if runtimeType(elem) != "" {
		return true
	}
	st, ok := elem.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range st.NumFields() {
		if opts, err := parseTag(st.Tag(i)); err == nil && opts.atomic || a.shared(st.Field(i).Type()) {
			return true
		}
	}
	return false
}

// atomicRef returns the runtime's reference type for atomic words of type t, or "".
func (a *analysis) atomicRef(t types.Type) string {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return ""
	}
	if isSmall(t) {
		return smallRef
	}
	switch b.Kind() {
	case types.Int32, types.Uint32, types.Int64, types.Uint64, types.Int, types.Uint, types.Uintptr:
		return "Atomic"
	case types.Float32, types.Float64:
		return "AtomicFloat"
	}
	return ""
}

// typeString returns the name of t as the package itself spells it.
func (a *analysis) typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == a.u.types {
			return ""
		}
		return p.Name()
	})
}

// count returns a number of things as text.
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(n, 10) + " " + thing
}
