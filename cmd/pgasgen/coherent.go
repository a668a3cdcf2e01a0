package main

// Structs under //pgas:coherent: records of an array of package dsm, which PEs read and write as ordinary memory.
// Every field is a value with one accessor that returns it and one that sets it; an array has both for one element
// too. What needs another PE's atomic operations belongs to symmetric memory, and is rejected. The comments show what
// is emitted for
//
//	type Body struct {
//		Pos  [3]float64
//		Mass float64
//	}

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/dave/jennifer/jen"
)

// dsmPath is the package that generated code for coherent memory calls.
const dsmPath = "github.com/gopgas/gopgas/dsm"

// What the documentation of accessors says about when they are complete, and about loss.
const (
	readNow  = " It waits if this PE has no valid copy, and panics with *pgas.PeerError if a PE that has one is lost."
	writeNow = " The next release of this PE publishes it. It panics with *pgas.PeerError if a PE that has the record is lost."
)

func arrayOf(typ string) string { return typ + "Array" }

// collection returns the name of the type that an allocation of s has.
func (s *structure) collection() string {
	if s.coherent {
		return arrayOf(s.name)
	}
	return symOf(s.name)
}

// directive returns the directive of m without options.
func (m mark) directive() string {
	if m.coherent {
		return coherentDirective
	}
	return directive
}

// allocator returns the function that allocates what is no struct.
func (m mark) allocator() string {
	if m.coherent {
		return "dsm.Alloc"
	}
	return "pgas.Alloc"
}

// coherent rejects tags and words that belong to symmetric memory.
func (a *analysis) coherent(s *structure, f *field, opts options) {
	switch {
	case opts.atomic:
		a.add(f.pos, "field %s is tagged atomic, and coherent memory has no atomic operations; remove the tag and use a dsm.Mutex, or mark %s %s", f.name, s.name, directive)
	case opts.view:
		a.add(f.pos, "field %s is tagged view, and fields in coherent memory have no views; remove the tag", f.name)
	case a.shared(f.typ):
		path, what := a.sharedPath(f.name, f.typ)
		a.add(f.pos, "field %s is %s, which works in symmetric memory only; use a dsm.Mutex or a dsm.Event, or move it to a struct marked %s", path, what, directive)
	}
}

// sharedPath returns the path to the first word in t that is updated atomically, and what it is.
func (a *analysis) sharedPath(path string, t types.Type) (string, string) {
	elem, _ := dimensions(t)
	if name := runtimeType(elem); name != "" {
		return path, "a pgas." + name
	}
	st := elem.Underlying().(*types.Struct) // shared said that it holds such a word
	for v := range st.Fields() {
		if a.shared(v.Type()) {
			return a.sharedPath(path+"."+v.Name(), v.Type())
		}
	}
	for i := range st.NumFields() {
		if opts, err := parseTag(st.Tag(i)); err == nil && opts.atomic {
			return path + "." + st.Field(i).Name(), "an atomic word"
		}
	}
	return path, "updated atomically"
}

// coherentRemedy returns a remedy for symmetric memory in terms of coherent memory.
func coherentRemedy(remedy string) string {
	return strings.NewReplacer(
		"store an index into a symmetric allocation", "store an index into a coherent array",
		"use a pgas.Lock, or an atomic field", "use a dsm.Mutex",
		"use a pgas.Signal", "use a dsm.Event",
		"use a plain integer with the tag "+options{atomic: true}.String(), "use a plain integer and a dsm.Mutex",
	).Replace(remedy)
}

// contracts returns the packages whose version of generated code the structures need.
func contracts(list []*structure) (paths []string) {
	var symmetric, coherent bool
	for _, s := range list {
		symmetric = symmetric || !s.coherent
		coherent = coherent || s.coherent
	}
	if symmetric {
		paths = append(paths, runtimePath)
	}
	if coherent {
		paths = append(paths, dsmPath)
	}
	return paths
}

func dsm(name string) *jen.Statement { return jen.Qual(dsmPath, name) }

// collectionType emits the type of an allocation.
//
//	type BodyArray struct{ array dsm.Array[Body] }
func (e *emitter) collectionType(s *structure) jen.Code {
	if !s.coherent {
		return e.symType(s)
	}
	return comment("%s is a coherent array of %s records, which each PE reads and writes as its own memory.", arrayOf(s.name), s.name).
		Type().Id(arrayOf(s.name)).Struct(jen.Id("array").Add(dsm("Array")).Index(jen.Id(s.name))).Line()
}

// recordType emits the type of a reference to one record.
//
//	type BodyRef struct {
//		array dsm.Array[Body]
//		i     int
//	}
func (e *emitter) recordType(s *structure) jen.Code {
	if !s.coherent {
		return e.refType(s)
	}
	return comment("%s refers to one %s record of a coherent array.", refOf(s.name), s.name).
		Type().Id(refOf(s.name)).Struct(
		jen.Id("array").Add(dsm("Array")).Index(jen.Id(s.name)),
		jen.Id("i").Int()).Line()
}

// coherent emits everything for a coherent structure but its types.
func (e *emitter) coherent(s *structure) {
	e.coherentAlloc(s)
	e.arrayMethods(s)
	for _, f := range s.fields {
		s.ref = append(s.ref, e.coherentField(s, f)...)
	}
}

// coherentAlloc emits the collective allocation.
func (e *emitter) coherentAlloc(s *structure) {
	// func AllocBody(ctx context.Context, r *dsm.Region, n int) (BodyArray, error) {
	// 	s, err := dsm.AllocLayout[Body](ctx, r, n, 0x8a…)
	// 	return BodyArray{s}, err
	// }
	s.sym = append(s.sym, method{name: allocOf(s.name), code: comment(
		"%s allocates n zeroed %s records in r, on blocks of their own. It is collective: every PE makes the same call. "+
			"Errors: *pgas.MismatchError if the PEs differ in n or in the layout of %s; one with the remedy if r is full; "+
			"*pgas.PeerError if a PE dies; the cause of ctx's end.", allocOf(s.name), s.name, s.name).
		Func().Id(allocOf(s.name)).
		Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("r").Op("*").Add(dsm("Region")), jen.Id("n").Int()).
		Params(jen.Id(arrayOf(s.name)), jen.Error()).
		Block(
			jen.List(jen.Id("s"), jen.Err()).Op(":=").Add(dsm("AllocLayout")).Index(e.typ(s.typ)).Call(
				jen.Id("ctx"), jen.Id("r"), jen.Id("n"), jen.Id(fmt.Sprintf("%#016x", s.hash))),
			jen.Return(jen.Id(arrayOf(s.name)).Values(jen.Id("s")), jen.Err()),
		).Line()})
}

// arrayMethods emits the methods of an array.
func (e *emitter) arrayMethods(s *structure) {
	typ, array := e.typ(s.typ), jen.Id("s").Dot("array")
	on := e.on("s", arrayOf(s.name), "")
	part := jen.List(jen.Id("lo"), jen.Id("hi")).Int()
	add := func(m method) { s.sym = append(s.sym, m) }

	// func (s BodyArray) Len() int { return s.array.Len() }
	add(on("Len", "%s returns the number of records.").gives(jen.Int()).
		does(jen.Return(array.Clone().Dot("Len").Call())))

	// func (s BodyArray) Array() dsm.Array[Body] { return s.array }
	add(on("Array", "%s returns the array without its accessors: for whole records and for hints.").
		gives(dsm("Array").Index(typ)).does(jen.Return(array.Clone())))

	// func (s BodyArray) At(i int) BodyRef { return BodyRef{s.array, i} }
	add(on("At", "%s returns a reference to record i. Its accessors panic with *pgas.UsageError if i is out of range.").
		takes(jen.Id("i").Int()).gives(jen.Id(refOf(s.name))).
		does(jen.Return(jen.Id(refOf(s.name)).Values(array.Clone(), jen.Id("i")))))

	// func (s BodyArray) Slice() []Body { return s.array.Slice() }
	add(on("Slice", "%s returns the array as memory. It panics with *pgas.UsageError in mode Soft, where a plain access cannot be noticed.").
		gives(jen.Index().Add(typ)).does(jen.Return(array.Clone().Dot("Slice").Call())))

	// func (s BodyArray) View(lo, hi int) []Body { return s.array.View(lo, hi) }
	for _, access := range []struct{ name, doc string }{
		{"View", "%s returns valid copies of the records from lo to hi-1, to be read until the next fence of this PE." + readNow},
		{"Update", "%s returns valid copies of the records from lo to hi-1, to be read and written until the next fence of this PE. The next release publishes what has been changed."},
		{"Overwrite", "%s returns memory for the records from lo to hi-1, all of which the caller writes before the next fence of this PE: their contents are undefined."},
	} {
		add(on(access.name, access.doc).takes(part).gives(jen.Index().Add(typ)).
			does(jen.Return(array.Clone().Dot(access.name).Call(jen.Id("lo"), jen.Id("hi")))))
	}
}

// coherentField emits the accessors of a field, and those of one element if it is an array.
func (e *emitter) coherentField(s *structure, f *field) []method {
	on := e.on("r", refOf(s.name), f.name)
	// r.array.Read(r.i).Mass
	read := jen.Id("r").Dot("array").Dot("Read").Call(jen.Id("r").Dot("i")).Dot(f.name)
	set := func(at jen.Code) jen.Code {
		return dsm("SetField").Call(jen.Id("r").Dot("array"), jen.Id("r").Dot("i"), at, jen.Id("v"))
	}
	typ := e.typ(f.typ)
	out := []method{
		// func (r BodyRef) Mass() float64 { return r.array.Read(r.i).Mass }
		on(f.name, "%s returns "+f.name+" of the record."+readNow).gives(typ).does(jen.Return(read)),

		// func (r BodyRef) SetMass(v float64) { dsm.SetField(r.array, r.i, 24, v) }
		on("Set"+f.name, "%s stores v into "+f.name+" of the record."+writeNow).
			takes(jen.Id("v").Add(typ)).does(set(number(f.off))),
	}
	if n := f.rank(); n > 0 {
		what, elem, at := f.name+indexText(n), e.typ(f.elem), read.Clone()
		for _, index := range indexArgs(n) {
			at = at.Index(index)
		}
		out = append(out,
			// func (r BodyRef) PosAt(i int) float64 {
			// 	pgas.CheckIndex(i, 3)
			// 	return r.array.Read(r.i).Pos[i]
			// }
			on(f.name+"At", "%s returns "+what+" of the record."+readNow+badIndexes).
				takes(indexParams(n)...).gives(elem).does(append(checks(f, n), jen.Return(at))...),

			// func (r BodyRef) SetPosAt(i int, v float64) {
			// 	pgas.CheckIndex(i, 3)
			// 	dsm.SetField(r.array, r.i, 0+uintptr(i)*8, v)
			// }
			on("Set"+f.name+"At", "%s stores v into "+what+" of the record."+writeNow+badIndexes).
				takes(append(indexParams(n), jen.Id("v").Add(elem))...).does(append(checks(f, n), set(offset(f, n)))...))
	}
	for i := range out {
		out[i].pos = f.pos
	}
	return out
}
