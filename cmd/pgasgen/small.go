package main

// Atomic fields of 1 and 2 bytes: truth values, and enumerations of small types. The runtime accesses them by
// operations on the aligned 4 bytes that contain them (pgas.AtomicSmall). So these must hold nothing that is accessed
// otherwise, and must lie inside the record.

import (
	"go/types"

	"github.com/dave/jennifer/jen"
)

// smallRef is the runtime's reference type for them.
const smallRef = "AtomicSmall"

// smallWord is the size of what an atomic field of 1 or 2 bytes is accessed by.
const smallWord = 4

// isSmall reports whether t is a truth value, or a type with a name that is made from an integer of 1 or 2 bytes.
func isSmall(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return false
	}
	switch b.Kind() {
	case types.Bool:
		return true
	case types.Int8, types.Uint8, types.Int16, types.Uint16:
		_, named := types.Unalias(t).(*types.Named)
		return named
	}
	return false
}

// isSmallAtomic reports whether f is accessed by the word that contains it.
func (f *field) isSmallAtomic() bool { return f.kind == atomicField && isSmall(f.elem) }

// end returns the offset behind f.
func (f *field) end() int64 {
	n := f.size
	for _, d := range f.dims {
		n *= d
	}
	return f.off + n
}

// smallWords rejects small atomic fields whose words hold something else. The layout of s is known.
func (a *analysis) smallWords(s *structure) {
	for _, f := range s.fields {
		if !f.isSmallAtomic() {
			continue
		}
		if align := a.l.kept.Alignof(s.typ); align < smallWord {
			a.add(f.pos, "field %s is accessed by the aligned %d bytes around it, but a %s is aligned to %d and may share them with other memory; put a field `_ uint32` into it", f.name, smallWord, s.name, align)
			continue
		}
		for _, other := range s.fields {
			if !other.isSmallAtomic() && other.off < (f.end()+smallWord-1)/smallWord*smallWord && other.end() > f.off/smallWord*smallWord {
				a.add(f.pos, "field %s is accessed by the aligned %d bytes around it, which hold field %s too; move them apart: put `_ [3]byte` between them, or a field of 4 bytes or more", f.name, smallWord, other.name)
			}
		}
	}
}

// waitSmall emits the wait for a small atomic value, which compares for equality alone.
func (e *emitter) waitSmall(on maker, f *field, word *jen.Statement, typ *jen.Statement, what, or string) method {
	params := append([]jen.Code{jen.Id("ctx").Qual("context", "Context")}, indexParams(f.rank())...)
	// func (r CellRef) WaitUntilDone(ctx context.Context, v bool) error {
	// 	return pgas.FieldAtomicSmall[bool](r.ref, 0).WaitUntil(ctx, v)
	// }
	return on("WaitUntil"+f.name, "%s blocks until "+what+" of this PE's own copy is v. Updates by any PE wake it. "+
		"Errors: *pgas.PeerError if a PE of the job dies, and the cause of ctx's end."+or).
		takes(append(params, jen.Id("v").Add(typ))...).gives(jen.Error()).
		does(jen.Return(word.Clone().Dot("WaitUntil").Call(jen.Id("ctx"), jen.Id("v"))))
}
