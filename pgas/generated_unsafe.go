package pgas

import (
	"context"
	"reflect"
	"strings"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// The functions that generated code calls, and nothing else does. Programs use the accessors that pgasgen writes.

// Layout identifies the generated code for a record type. It must be the same on all PEs.
type Layout struct {
	Name string // import path and name of the type
	Hash uint64 // hash of the fields' names, types, offsets and sizes
	Tags string // tags of the fields, as "Count atomic; Row view"; "" is not compared
}

// mustBeCurrent panics with *UsageError if the tags of t's fields are not those for which its methods were generated.
// What else may have changed does not compile.
func (l Layout) mustBeCurrent(t reflect.Type) {
	if l.Tags == "" {
		return
	}
	var tags []string
	for i := range t.NumField() {
		if tag, ok := t.Field(i).Tag.Lookup("pgas"); ok {
			tags = append(tags, t.Field(i).Name+" "+tag)
		}
	}
	if now := strings.Join(tags, "; "); now != l.Tags {
		misuse("Alloc", "the pgas tags of %s are %q, and its methods were generated for %q: run go generate", t, now, l.Tags)
	}
}

// GeneratedFor1 is referred to by generated files: a generator and a runtime that do not fit each
// other do not compile.
const GeneratedFor1 = 1

// AllocLayout allocates as Alloc does, and returns *MismatchError if the PEs have different layouts of the record too.
// Its other errors are those of Alloc.
func AllocLayout[T any](ctx context.Context, w *World, n int, layout Layout) (Sym[T], error) {
	return allocate[T](ctx, w, n, alignOf[T](), layout, true)
}

// FieldAtomicFloat returns the atomic field at byte offset off of the record that r refers to. It is for
// generated code. It panics with *UsageError if the field is not aligned.
func FieldAtomicFloat[F Float, T any](r Ref[T], off uintptr) AtomicFloat[F] {
	off += r.off
	aligned(off, node.SizeOf[F](), misaligned)
	return AtomicFloat[F]{ctx: r.ctx, off: off}
}

// FieldAtomic returns the atomic field at byte offset off of the record that r refers to. It is for
// generated code. It panics with *UsageError if the field is not aligned.
func FieldAtomic[W Word, T any](r Ref[T], off uintptr) Atomic[W] {
	off += r.off
	aligned(off, node.SizeOf[W](), misaligned)
	return Atomic[W]{ctx: r.ctx, off: off}
}

// ElementAtomic returns the atomic word at byte offset off of the record that r refers to, as FieldAtomic does. It is
// for accessors of arrays in generated code. It does not check that the word is aligned, which the generator has done,
// so that they inline.
func ElementAtomic[W Word, T any](r Ref[T], off uintptr) Atomic[W] {
	return Atomic[W]{ctx: r.ctx, off: r.off + off}
}

// FieldLock returns the lock at byte offset off of the record that r refers to. It is for generated code. It panics
// with *UsageError if the lock is not aligned.
func FieldLock[T any](r Ref[T], off uintptr) LockRef {
	off += r.off
	aligned(off, wordSize, misaligned)
	return LockRef{r.ctx.world("LockRef"), off}
}

// Field returns the field at byte offset off of the record that r refers to. It is for generated code,
// which knows the offset; it inlines to an addition.
func Field[F, T any](r Ref[T], off uintptr) Ref[F] { return Ref[F]{r.ctx, r.off + off} }

// PutField does Field(r, off).Put(pe, v), and is short enough to inline into a generated accessor.
//
//gcassert:inline
func PutField[F, T any](r Ref[T], off uintptr, pe int, v F) {
	store(r.ctx, r.off+off, pe, v, slowPut)
}

// GetField returns Field[F](r, off).Get(pe), and is short enough to inline into a generated accessor.
//
//gcassert:inline
func GetField[F, T any](r Ref[T], off uintptr, pe int) F {
	return fetch[F](r.ctx, r.off+off, pe, slowGet)
}

// FieldSignal returns the signal at byte offset off of the record that r refers to. It is for generated
// code. It panics with *UsageError if the signal is not aligned.
func FieldSignal[T any](r Ref[T], off uintptr) SignalRef {
	off += r.off
	aligned(off, wordSize, misaligned)
	return SignalRef{r.ctx, off}
}

// FieldSlice returns the array field of n elements at byte offset off of the record that r refers to. It is
// for generated code.
func FieldSlice[F, T any](r Ref[T], off uintptr, n int) Slice[F] {
	return Slice[F]{r.ctx, r.off + off, n}
}

// CheckIndex panics with *UsageError unless 0 <= i < n. Generated accessors of arrays call it.
//
//gcassert:inline
func CheckIndex(i, n int) { within(i, n, badIndex) }
