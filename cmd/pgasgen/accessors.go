package main

// The accessors of one field. A plain field has puts and gets; an array has them by slices, with its
// outer dimensions as indexes; an atomic field has atomic operations and nothing else; a signal or a
// lock has its reference; a marked struct has its own reference, and is a plain field besides if it
// holds no word that other PEs update.

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// What the documentation of every put and get says: when it is complete locally and remotely, and what it orders.
const (
	putDone    = " The source may be reused on return; the data are visible on PE pe after a Quiet, and a Fence orders them before later puts to pe."
	getDone    = " It waits for the data, and panics with *pgas.PeerError if PE pe is lost."
	getNBDone  = " It is complete when the next Quiet returns; until then the destination must not be touched."
	signalDone = " When PE pe sees the signal, it sees the data; the signal says nothing of earlier puts. The source may be reused on return."
	noteDone   = " When PE pe has the notification, it sees the data. The source may be reused on return; data and notification have arrived after a Quiet."
	readDone   = " When PE pe has the notification, it may overwrite what was read. The call waits for the data, and panics with *pgas.PeerError if PE pe is lost."
	amoGot     = " It waits for the value, and panics with *pgas.PeerError if PE pe is lost."
	amoDone    = " It is complete on PE pe after a Quiet."
	badIndexes = " It panics with *pgas.UsageError if an index is out of range."
)

// field emits the accessors of f.
func (e *emitter) field(s *structure, f *field) []method {
	on := e.on("r", refOf(s.name), f.name)
	var out []method
	switch {
	case f.kind == atomicField:
		out = e.atomics(on, f)
	case f.kind == signalField:
		out = e.signal(on, f)
	case f.kind == lockField:
		out = e.lock(on, f)
	case f.kind == recordField && (f.shared || f.view && f.rank() == 0):
		out = e.record(on, f)
	case f.kind == recordField && f.rank() > 0:
		out = append(e.record(on, f), e.array(on, f, f.name+"Slice")...)
	case f.kind == recordField:
		out = append(e.record(on, f), e.value(on, f)...)
	case f.rank() > 0:
		out = e.array(on, f, f.name)
	default:
		out = e.value(on, f)
	}
	for i := range out {
		out[i].pos = f.pos
	}
	return out
}

// value emits the accessors of a field that moves as a whole.
func (e *emitter) value(on maker, f *field) []method {
	pe, typ := jen.Id("pe").Int(), e.typ(f.typ)
	// pgas.Field[float64](r.ref, 8)
	field := pgas("Field").Index(e.typ(f.typ)).Call(jen.Id("r").Dot("ref"), number(f.off))
	if f.view {
		return []method{e.ref(on, f)}
	}
	return append([]method{
		// func (r CellRef) PutSum(pe int, v float64) { pgas.PutField(r.ref, 8, pe, v) }
		on("Put"+f.name, "%s copies v into "+f.name+" of the record on PE pe."+putDone).
			takes(pe, jen.Id("v").Add(typ)).
			does(putField(f)),

		// func (r CellRef) GetSum(pe int) float64 { return pgas.GetField[float64](r.ref, 8, pe) }
		on("Get"+f.name, "%s returns "+f.name+" of the record on PE pe."+getDone).
			takes(pe).gives(typ).
			does(jen.Return(e.getField(f))),

		// func (r CellRef) GetSumNB(pe int, dst *float64) { pgas.Field[float64](r.ref, 8).GetNB(pe, dst) }
		on("Get"+f.name+"NB", "%s fills *dst from "+f.name+" of the record on PE pe."+getNBDone).
			takes(pe, jen.Id("dst").Op("*").Add(typ)).
			does(field.Clone().Dot("GetNB").Call(jen.Id("pe"), jen.Id("dst"))),

		// func (r CellRef) PutSumSignal(pe int, v float64, sig pgas.SignalRef, value uint64) {
		// 	pgas.Field[float64](r.ref, 8).PutSignal(pe, &v, sig, value)
		// }
		on("Put"+f.name+"Signal", "%s copies v into "+f.name+" of the record on PE pe, and then sets the signal sig on PE pe to value."+signalDone).
			takes(pe, jen.Id("v").Add(typ), jen.Id("sig").Add(pgas("SignalRef")), jen.Id("value").Uint64()).
			does(field.Clone().Dot("PutSignal").Call(jen.Id("pe"), jen.Op("&").Id("v"), jen.Id("sig"), jen.Id("value"))),

		// func (r CellRef) PutSumSignalAdd(pe int, v float64, sig pgas.SignalRef, value uint64) {
		// 	pgas.Field[float64](r.ref, 8).PutSignalAdd(pe, &v, sig, value)
		// }
		on("Put"+f.name+"SignalAdd", "%s copies v into "+f.name+" of the record on PE pe, and then adds value to the signal sig on PE pe."+signalDone).
			takes(pe, jen.Id("v").Add(typ), jen.Id("sig").Add(pgas("SignalRef")), jen.Id("value").Uint64()).
			does(field.Clone().Dot("PutSignalAdd").Call(jen.Id("pe"), jen.Op("&").Id("v"), jen.Id("sig"), jen.Id("value"))),

		// func (r CellRef) PutSumNotify(pe int, v float64, tag int) { pgas.Field[float64](r.ref, 8).PutNotify(pe, &v,
		// tag) }
		on("Put"+f.name+"Notify", "%s copies v into "+f.name+" of the record on PE pe, and then notifies pe with that tag."+noteDone).
			takes(pe, jen.Id("v").Add(typ), jen.Id("tag").Int()).
			does(field.Clone().Dot("PutNotify").Call(jen.Id("pe"), jen.Op("&").Id("v"), jen.Id("tag"))),

		// func (r CellRef) GetSumNotify(pe, tag int) float64 { return pgas.Field[float64](r.ref, 8).GetNotify(pe, tag)
		// }
		on("Get"+f.name+"Notify", "%s returns "+f.name+" of the record on PE pe, and notifies pe with that tag."+readDone).
			takes(jen.List(jen.Id("pe"), jen.Id("tag")).Int()).gives(typ).
			does(jen.Return(field.Clone().Dot("GetNotify").Call(jen.Id("pe"), jen.Id("tag")))),
	}, e.ref(on, f))
}

// putField and getField move a whole field. They are functions of their own in pgas because
// Field(…).Put is just too long for the inliner once an accessor is around it.

// pgas.PutField(r.ref, 8, pe, v)
func putField(f *field) *jen.Statement {
	return pgas("PutField").Call(jen.Id("r").Dot("ref"), number(f.off), jen.Id("pe"), jen.Id("v"))
}

// pgas.GetField[float64](r.ref, 8, pe)
func (e *emitter) getField(f *field) *jen.Statement {
	return pgas("GetField").Index(e.typ(f.typ)).Call(jen.Id("r").Dot("ref"), number(f.off), jen.Id("pe"))
}

// ref emits the reference to all of a field.
func (e *emitter) ref(on maker, f *field) method {
	// func (r CellRef) SumRef() pgas.Ref[float64] { return pgas.Field[float64](r.ref, 8) }
	return on(f.name+"Ref", "%s refers to "+f.name+" of the record.").
		gives(pgas("Ref").Index(e.typ(f.typ))).
		does(jen.Return(pgas("Field").Index(e.typ(f.typ)).Call(jen.Id("r").Dot("ref"), number(f.off))))
}

// An arrayField is a field that is an array of plain elements: outer dimensions are indexes, the innermost is a slice.
type arrayField struct {
	*field
	outer  int            // the number of outer dimensions
	n      int64          // the length of the innermost
	elems  *jen.Statement // its type, a slice
	what   string         // the name of the field, with its indexes
	errors string         // how its accessors panic
	inner  *jen.Statement // r.Halo(i), the innermost dimension
	pe     *jen.Statement // pe, i int
}

// arrayOf returns f as an array. view is the name of the method that returns the innermost dimension.
func (e *emitter) arrayOf(f *field, view string) arrayField {
	outer := f.rank() - 1
	a := arrayField{
		field: f, outer: outer, n: f.dims[outer], elems: jen.Index().Add(e.typ(f.elem)), what: f.name,
		inner: jen.Id("r").Dot(view).Call(indexArgs(outer)...),
		pe:    jen.List(append([]jen.Code{jen.Id("pe")}, indexArgs(outer)...)...).Int(),
	}
	a.errors = fmt.Sprintf(" It panics with *pgas.UsageError if there are more than %d elements.", a.n)
	if outer > 0 {
		a.what = fmt.Sprintf("%s%s", f.name, indexText(outer))
		a.errors = fmt.Sprintf(" It panics with *pgas.UsageError if an index is out of range or there are more than %d elements.", a.n)
	}
	return a
}

// array emits the accessors of an array of plain elements. view is the name of the method that returns the innermost
// dimension.
func (e *emitter) array(on maker, f *field, view string) []method {
	a := e.arrayOf(f, view)
	doc := "%s refers to " + a.what + ", to reach a part of it or one element."
	if a.outer > 0 {
		doc += badIndexes
	}
	// func (r CellRef) Halo(i int) pgas.Slice[float64] {
	// 	pgas.CheckIndex(i, 2)
	// 	return pgas.FieldSlice[float64](r.ref, 16+uintptr(i)*512, 64)
	// }
	out := []method{on(view, doc).
		takes(indexParams(a.outer)...).gives(pgas("Slice").Index(e.typ(f.elem))).
		does(append(checks(f, a.outer), jen.Return(pgas("FieldSlice").Index(e.typ(f.elem)).Call(
			jen.Id("r").Dot("ref"), offset(f, a.outer), number(a.n))))...)}
	if f.view {
		return append(out, e.ref(on, f))
	}
	out = append(out, a.copies(on)...)
	out = append(out, a.toldCopies(on)...)
	return append(out,
		// func (r CellRef) PutHaloAll(pe int, v [2][64]float64) { pgas.PutField(r.ref, 16, pe, v) }
		on("Put"+f.name+"All", "%s copies v into all of "+f.name+" of the record on PE pe."+putDone).
			takes(jen.Id("pe").Int(), jen.Id("v").Add(e.typ(f.typ))).
			does(putField(f)),

		// func (r CellRef) GetHaloAll(pe int) [2][64]float64 { return pgas.GetField[[2][64]float64](r.ref, 16, pe) }
		on("Get"+f.name+"All", "%s returns all of "+f.name+" of the record on PE pe."+getDone).
			takes(jen.Id("pe").Int()).gives(e.typ(f.typ)).
			does(jen.Return(e.getField(f))),

		e.ref(on, f),
	)
}

// copies emits the copies to and from the innermost dimension.
func (a arrayField) copies(on maker) []method {
	return []method{
		// func (r CellRef) PutHalo(pe, i int, src []float64) { r.Halo(i).Put(pe, src) }
		on("Put"+a.name, "%s copies src to the start of "+a.what+" of the record on PE pe."+putDone+a.errors).
			takes(a.pe, jen.Id("src").Add(a.elems)).
			does(a.inner.Clone().Dot("Put").Call(jen.Id("pe"), jen.Id("src"))),

		// func (r CellRef) GetHalo(pe, i int, dst []float64) { r.Halo(i).Get(pe, dst) }
		on("Get"+a.name, "%s fills dst from the start of "+a.what+" of the record on PE pe."+getDone+a.errors).
			takes(a.pe, jen.Id("dst").Add(a.elems)).
			does(a.inner.Clone().Dot("Get").Call(jen.Id("pe"), jen.Id("dst"))),

		// func (r CellRef) GetHaloNB(pe, i int, dst []float64) { r.Halo(i).GetNB(pe, dst) }
		on("Get"+a.name+"NB", "%s fills dst from the start of "+a.what+" of the record on PE pe."+getNBDone+a.errors).
			takes(a.pe, jen.Id("dst").Add(a.elems)).
			does(a.inner.Clone().Dot("GetNB").Call(jen.Id("pe"), jen.Id("dst"))),
	}
}

// toldCopies emits the copies of which a PE is told, by a signal or by a notification.
func (a arrayField) toldCopies(on maker) []method {
	return []method{
		// func (r CellRef) PutHaloSignal(pe, i int, src []float64, sig pgas.SignalRef, value uint64) {
		// 	r.Halo(i).PutSignal(pe, src, sig, value)
		// }
		on("Put"+a.name+"Signal", "%s copies src to the start of "+a.what+" of the record on PE pe, and then sets the signal sig on PE pe to value."+signalDone+a.errors).
			takes(a.pe, jen.Id("src").Add(a.elems), jen.Id("sig").Add(pgas("SignalRef")), jen.Id("value").Uint64()).
			does(a.inner.Clone().Dot("PutSignal").Call(jen.Id("pe"), jen.Id("src"), jen.Id("sig"), jen.Id("value"))),

		// func (r CellRef) PutHaloSignalAdd(pe, i int, src []float64, sig pgas.SignalRef, value uint64) {
		// 	r.Halo(i).PutSignalAdd(pe, src, sig, value)
		// }
		on("Put"+a.name+"SignalAdd", "%s copies src to the start of "+a.what+" of the record on PE pe, and then adds value to the signal sig on PE pe."+signalDone+a.errors).
			takes(a.pe, jen.Id("src").Add(a.elems), jen.Id("sig").Add(pgas("SignalRef")), jen.Id("value").Uint64()).
			does(a.inner.Clone().Dot("PutSignalAdd").Call(jen.Id("pe"), jen.Id("src"), jen.Id("sig"), jen.Id("value"))),

		// func (r CellRef) PutHaloNotify(pe, i int, src []float64, tag int) { r.Halo(i).PutNotify(pe, src, tag) }
		on("Put"+a.name+"Notify", "%s copies src to the start of "+a.what+" of the record on PE pe, and then notifies pe with that tag."+noteDone+a.errors).
			takes(a.pe, jen.Id("src").Add(a.elems), jen.Id("tag").Int()).
			does(a.inner.Clone().Dot("PutNotify").Call(jen.Id("pe"), jen.Id("src"), jen.Id("tag"))),

		// func (r CellRef) GetHaloNotify(pe, i int, dst []float64, tag int) { r.Halo(i).GetNotify(pe, dst, tag) }
		on("Get"+a.name+"Notify", "%s fills dst from the start of "+a.what+" of the record on PE pe, and notifies pe with that tag."+readDone+a.errors).
			takes(a.pe, jen.Id("dst").Add(a.elems), jen.Id("tag").Int()).
			does(a.inner.Clone().Dot("GetNotify").Call(jen.Id("pe"), jen.Id("dst"), jen.Id("tag"))),
	}
}

// signal emits the accessor of a signal, or of an array of signals.
func (e *emitter) signal(on maker, f *field) []method {
	// func (r CellRef) Ready() pgas.SignalRef { return pgas.FieldSignal(r.ref, 1040) }
	return []method{on(f.name, "%s refers to the signal "+f.name+indexText(f.rank())+" of the record: for puts with a signal, and to wait for it on the PE that owns it."+orIndexes(f)).
		takes(indexParams(f.rank())...).gives(pgas("SignalRef")).
		does(append(checks(f, f.rank()), jen.Return(pgas("FieldSignal").Call(
			jen.Id("r").Dot("ref"), offset(f, f.rank()))))...)}
}

// lock emits the accessor of a lock, or of an array of locks.
func (e *emitter) lock(on maker, f *field) []method {
	// func (r CellRef) Guard() pgas.LockRef { return pgas.FieldLock(r.ref, 1048) }
	return []method{on(f.name, "%s refers to the lock "+f.name+indexText(f.rank())+" of the record: one lock of the whole job."+orIndexes(f)).
		takes(indexParams(f.rank())...).gives(pgas("LockRef")).
		does(append(checks(f, f.rank()), jen.Return(pgas("FieldLock").Call(
			jen.Id("r").Dot("ref"), offset(f, f.rank()))))...)}
}

// record emits the accessor of a field of a marked type, or of an array of them.
func (e *emitter) record(on maker, f *field) []method {
	obj := e.a.markedStruct(f.elem).Obj()
	e.name(obj.Pkg().Path(), obj.Pkg().Name())
	// func (r CellRef) Inner() InnerRef { return InnerRefOf(pgas.Field[Inner](r.ref, 24)) }
	return []method{on(f.name, "%s refers to the "+obj.Name()+" in "+f.name+indexText(f.rank())+" of the record."+orIndexes(f)).
		takes(indexParams(f.rank())...).gives(jen.Qual(obj.Pkg().Path(), refOf(obj.Name()))).
		does(append(checks(f, f.rank()), jen.Return(jen.Qual(obj.Pkg().Path(), refFrom(obj.Name())).Call(
			pgas("Field").Index(e.typ(f.elem)).Call(jen.Id("r").Dot("ref"), offset(f, f.rank())))))...)}
}

// atomics emits the operations of an atomic word, or of an array of them.
func (e *emitter) atomics(on maker, f *field) []method {
	typ, kind := e.typ(f.elem), e.a.atomicRef(f.elem)
	what := f.name + indexText(f.rank())
	or := orIndexes(f)
	pe := jen.List(append([]jen.Code{jen.Id("pe")}, indexArgs(f.rank())...)...).Int()
	// r.Count()
	word := jen.Id("r").Dot(f.name).Call(indexArgs(f.rank())...)
	if f.rank() == 0 {
		// pgas.FieldAtomic[int64](r.ref, 0)
		word = pgas("Field"+kind).Index(e.typ(f.elem)).Call(jen.Id("r").Dot("ref"), number(f.off))
	}
	constructor := "Field" + kind
	if kind == "Atomic" && f.rank() > 0 {
		constructor = "ElementAtomic" // with FieldAtomic, which checks the alignment, the accessor would not inline
	}
	// func (r CellRef) Count() pgas.Atomic[int64] { return pgas.FieldAtomic[int64](r.ref, 0) }
	view := on(f.name, "%s refers to the atomic word "+what+" of the record."+or).
		takes(indexParams(f.rank())...).gives(pgas(kind).Index(typ)).
		does(append(checks(f, f.rank()), jen.Return(pgas(constructor).Index(typ).Call(
			jen.Id("r").Dot("ref"), offset(f, f.rank()))))...)
	if f.view {
		return []method{view}
	}
	out := append([]method{view}, exchanges(on, f, word, pe, typ, what, or)...)
	if kind == smallRef {
		return append(out, e.waitSmall(on, f, word, typ, what, or))
	}
	return append(out, e.arithmetic(on, f, word, pe, typ, what, or)...)
}

// exchanges emits the operations that every atomic word has.
func exchanges(on maker, f *field, word *jen.Statement, pe jen.Code, typ *jen.Statement, what, or string) []method {
	v := jen.Id("v").Add(typ)
	return []method{
		// func (r CellRef) FetchCount(pe int) int64 { return pgas.FieldAtomic[int64](r.ref, 0).Fetch(pe) }
		on("Fetch"+f.name, "%s returns "+what+" of the record on PE pe."+amoGot+or).
			takes(pe).gives(typ).
			does(jen.Return(word.Clone().Dot("Fetch").Call(jen.Id("pe")))),

		// func (r CellRef) SetCount(pe int, v int64) { pgas.FieldAtomic[int64](r.ref, 0).Set(pe, v) }
		on("Set"+f.name, "%s stores v into "+what+" of the record on PE pe."+amoDone+or).
			takes(pe, v).
			does(word.Clone().Dot("Set").Call(jen.Id("pe"), jen.Id("v"))),

		// func (r CellRef) SwapCount(pe int, v int64) int64 { return pgas.FieldAtomic[int64](r.ref, 0).Swap(pe, v) }
		on("Swap"+f.name, "%s stores v into "+what+" of the record on PE pe, and returns the old value."+amoGot+or).
			takes(pe, v).gives(typ).
			does(jen.Return(word.Clone().Dot("Swap").Call(jen.Id("pe"), jen.Id("v")))),

		// func (r CellRef) CompareSwapCount(pe int, cond, v int64) int64 {
		// 	return pgas.FieldAtomic[int64](r.ref, 0).CompareSwap(pe, cond, v)
		// }
		on("CompareSwap"+f.name, "%s stores v into "+what+" of the record on PE pe if it equals cond, and returns the old value: the swap happened iff the result equals cond."+amoGot+or).
			takes(pe, jen.List(jen.Id("cond"), jen.Id("v")).Add(typ)).gives(typ).
			does(jen.Return(word.Clone().Dot("CompareSwap").Call(jen.Id("pe"), jen.Id("cond"), jen.Id("v")))),
	}
}

// arithmetic emits the operations that compute, and the wait. Min, max and what does not wait for its old
// value are reached through the word: r.Count().Min(pe, v).
func (e *emitter) arithmetic(on maker, f *field, word *jen.Statement, pe jen.Code, typ *jen.Statement, what, or string) []method {
	v := jen.Id("v").Add(typ)
	integer := e.a.atomicRef(f.elem) == "Atomic"
	incs := []method{
		// func (r CellRef) FetchIncCount(pe int) int64 { return pgas.FieldAtomic[int64](r.ref, 0).FetchAdd(pe, 1) }
		on("FetchInc"+f.name, "%s adds 1 to "+what+" of the record on PE pe, and returns the old value."+amoGot+or).
			takes(pe).gives(typ).
			does(jen.Return(word.Clone().Dot("FetchAdd").Call(jen.Id("pe"), number(1)))),

		// func (r CellRef) IncCount(pe int) { pgas.FieldAtomic[int64](r.ref, 0).Add(pe, 1) }
		on("Inc"+f.name, "%s adds 1 to "+what+" of the record on PE pe."+amoDone+or).
			takes(pe).
			does(word.Clone().Dot("Add").Call(jen.Id("pe"), number(1))),
	}
	ops := []struct{ name, does string }{
		{"Add", "adds v to " + what},
		{"And", "stores the bitwise and of " + what + " with v into it"},
		{"Or", "stores the bitwise or of " + what + " with v into it"},
		{"Xor", "stores the bitwise exclusive or of " + what + " with v into it"},
	}
	out := incs
	if !integer {
		out, ops = nil, ops[:1]
	}
	for _, op := range ops {
		out = append(out,
			// func (r CellRef) FetchAddCount(pe int, v int64) int64 {
			// 	return pgas.FieldAtomic[int64](r.ref, 0).FetchAdd(pe, v)
			// }
			on("Fetch"+op.name+f.name, "%s "+op.does+", in the record on PE pe, and returns the old value."+amoGot+or).
				takes(pe, v).gives(typ).
				does(jen.Return(word.Clone().Dot("Fetch"+op.name).Call(jen.Id("pe"), jen.Id("v")))),

			// func (r CellRef) AddCount(pe int, v int64) { pgas.FieldAtomic[int64](r.ref, 0).Add(pe, v) }
			on(op.name+f.name, "%s "+op.does+", in the record on PE pe."+amoDone+or).
				takes(pe, v).
				does(word.Clone().Dot(op.name).Call(jen.Id("pe"), jen.Id("v"))))
	}
	wait := []jen.Code{jen.Id("ctx").Qual("context", "Context")}
	wait = append(wait, indexParams(f.rank())...)
	// func (r CellRef) WaitUntilCount(ctx context.Context, cmp pgas.Cmp, v int64) (int64, error) {
	// 	return pgas.FieldAtomic[int64](r.ref, 0).WaitUntil(ctx, cmp, v)
	// }
	return append(out, on("WaitUntil"+f.name, "%s blocks until "+what+" of this PE's own copy compares true with v, and returns the value that did. "+
		"Atomics and signals of any PE wake it; plain stores need not. Errors: *pgas.PeerError if a PE of the job dies, and the cause of ctx's end."+or).
		takes(append(wait, jen.Id("cmp").Add(pgas("Cmp")), v)...).gives(typ, jen.Error()).
		does(jen.Return(word.Clone().Dot("WaitUntil").Call(jen.Id("ctx"), jen.Id("cmp"), jen.Id("v")))))
}

// Indexes of an array: parameters, arguments, checks, and the offset they make.

func indexName(d int) string {
	if names := []string{"i", "j", "k"}; d < len(names) {
		return names[d]
	}
	return fmt.Sprintf("i%d", d)
}

func indexArgs(n int) []jen.Code {
	var out []jen.Code
	for d := range n {
		out = append(out, jen.Id(indexName(d)))
	}
	return out
}

// indexParams returns the indexes as one parameter group, or none.
func indexParams(n int) []jen.Code {
	if n == 0 {
		return nil
	}
	return []jen.Code{jen.List(indexArgs(n)...).Int()}
}

// indexText returns [i][j], for documentation.
func indexText(n int) string {
	s := ""
	for d := range n {
		s += "[" + indexName(d) + "]"
	}
	return s
}

func orIndexes(f *field) string {
	if f.rank() == 0 {
		return ""
	}
	return badIndexes
}

// checks emits the bounds check of the first n indexes.
//
//	pgas.CheckIndex(i, 2)
func checks(f *field, n int) []jen.Code {
	var out []jen.Code
	for d := range n {
		out = append(out, pgas("CheckIndex").Call(jen.Id(indexName(d)), number(f.dims[d])))
	}
	return out
}

// offset emits the offset of what the first n indexes select.
//
//	16+uintptr(i)*512
func offset(f *field, n int) jen.Code {
	s := &jen.Statement{}
	if f.off > 0 || n == 0 {
		s = s.Add(number(f.off))
	}
	for d, step := range f.strides()[:n] {
		if len(*s) > 0 {
			s = s.Op("+")
		}
		s = s.Uintptr().Call(jen.Id(indexName(d)))
		if step != 1 {
			s = s.Op("*").Add(number(step))
		}
	}
	return s
}
