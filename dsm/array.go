package dsm

// Arrays of a region. An array begins at a block of its own, so that no two arrays share blocks.

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Alloc allocates n elements, all zero, on blocks of their own. It is collective, and all PEs give the same T and n.
// They have different addresses on different PEs, so T must not hold pointers.
//
// Errors: *pgas.MismatchError if T or n differ between PEs, and an error with the remedy if the region is full. Alloc
// panics with *pgas.UsageError if T holds pointers or n is negative.
func Alloc[T any](ctx context.Context, r *Region, n int) (Array[T], error) {
	return AllocLayout[T](ctx, r, n, 0)
}

// AllocLayout is Alloc for generated code: hash is of the layout of T, which all PEs compare.
func AllocLayout[T any](ctx context.Context, r *Region, n int, hash uint64) (Array[T], error) {
	r.mustBeOpen("Alloc")
	t := reflect.TypeFor[T]()
	if path := pointerIn(t, t.String()); path != "" {
		misuse("Alloc", "%s holds a pointer in %s, which means nothing on another PE: use indexes", t, path)
	}
	if n < 0 {
		misuse("Alloc", "%s", plural.Count(n, "element"))
	}
	what := fmt.Sprintf("%d × %s of %d bytes", n, t, t.Size())
	if hash != 0 {
		what += fmt.Sprintf(", layout %016x", hash)
	}
	if err := pgas.Agree(ctx, r.w, "dsm.Alloc", what); err != nil {
		return Array[T]{}, err
	}
	bytes := uint64(n) * uint64(t.Size())
	rounded := (bytes + uint64(r.o.Block) - 1) / uint64(r.o.Block) * uint64(r.o.Block)
	if t.Size() != 0 && uint64(n) > r.o.Bytes/uint64(t.Size()) || rounded > r.o.Bytes-r.memory.used {
		return Array[T]{}, fmt.Errorf("dsm.Alloc: %s do not fit: %d of the region's %d bytes are used; give a larger Options.Bytes", what, r.memory.used, r.o.Bytes)
	}
	from := r.memory.used
	r.memory.used += rounded
	r.memory.arrays.add(named{t.String(), from, from + bytes, uint64(t.Size())})
	return makeArray[T](r, from, n), nil
}

// pointerIn returns the path to the first pointer in t, or "".
func pointerIn(t reflect.Type, path string) string {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if p := pointerIn(f.Type, path+"."+f.Name); p != "" {
				return p
			}
		}
	case reflect.Array:
		if t.Len() > 0 {
			return pointerIn(t.Elem(), path+"[]")
		}
	case reflect.Pointer, reflect.Slice, reflect.String, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer, reflect.Uintptr:
		if t.Kind() != reflect.Uintptr {
			return path
		}
	}
	return ""
}
