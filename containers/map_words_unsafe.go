package containers

// Keys and values as words. Two keys are the same if their words are, so the bytes between the fields of a key, which
// may hold anything, become zero. Floating-point numbers are no keys: 0 and -0 are equal and have different words, and
// some are not equal to themselves.

import (
	"reflect"
	"unsafe"

	"github.com/gopgas/gopgas/internal/carry"
)

// mapCodec turns keys and values into words and back.
type mapCodec[K, V any] struct {
	gaps []mapGap // the gaps of K
}

// mapGap is bytes lo to hi, hi excluded, of a type that belong to no field.
type mapGap struct{ lo, hi int }

// newMapCodec panics with *pgas.UsageError if K cannot be a key.
func newMapCodec[K, V any](op string) mapCodec[K, V] {
	return mapCodec[K, V]{gaps: mapGapsOf(op, reflect.TypeFor[K](), 0)}
}

// mapGapsOf returns the gaps of a key type at offset at.
func mapGapsOf(op string, t reflect.Type, at int) (gaps []mapGap) {
	switch t.Kind() {
	case reflect.Struct:
		end := at
		for i := range t.NumField() {
			f := t.Field(i)
			if lo := at + int(f.Offset); lo > end {
				gaps = append(gaps, mapGap{end, lo})
			}
			gaps = append(gaps, mapGapsOf(op, f.Type, at+int(f.Offset))...)
			end = at + int(f.Offset) + int(f.Type.Size())
		}
		if hi := at + int(t.Size()); hi > end {
			gaps = append(gaps, mapGap{end, hi})
		}
	case reflect.Array:
		for i := range t.Len() {
			gaps = append(gaps, mapGapsOf(op, t.Elem(), at+i*int(t.Elem().Size()))...)
		}
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		carry.Misuse(op, "a key has a %s, whose equal values may have different bits: take math.Float64bits of it", t)
	}
	return gaps
}

// mapBytes returns the bytes of v.
func mapBytes[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// wordBytes returns the bytes of words.
func wordBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// putKey sets words to those of k.
func (c *mapCodec[K, V]) putKey(words []uint64, k K) {
	mapEncode(words, &k)
	for _, g := range c.gaps {
		clear(wordBytes(words)[g.lo:g.hi])
	}
}

// mapEncode sets words to those of *v.
func mapEncode[T any](words []uint64, v *T) {
	if unsafe.Sizeof(*v) == 8 {
		words[0] = *(*uint64)(unsafe.Pointer(v))
		return
	}
	if unsafe.Sizeof(*v)%8 != 0 {
		words[len(words)-1] = 0
	}
	copy(wordBytes(words), mapBytes(v))
}

// mapDecode returns the T of words.
func mapDecode[T any](words []uint64) (v T) {
	if unsafe.Sizeof(v) == 8 {
		*(*uint64)(unsafe.Pointer(&v)) = words[0]
		return v
	}
	copy(mapBytes(&v), wordBytes(words))
	return v
}

// mapMustBePlain panics with *pgas.UsageError if T, which a call of op gives as a key or value, holds pointers.
func mapMustBePlain[T any](op, what string) {
	if part := mapPointerIn(reflect.TypeFor[T]()); part != nil {
		carry.Misuse(op, "the %s has a %s, which means nothing on another PE: a %s is plain; take a StringMap or a TextMap for strings", what, part, what)
	}
}

// mapPointerIn returns the first part of t that is or holds a pointer, or nil.
func mapPointerIn(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if part := mapPointerIn(t.Field(i).Type); part != nil {
				return part
			}
		}
		return nil
	case reflect.Array:
		return mapPointerIn(t.Elem())
	case reflect.Pointer, reflect.UnsafePointer, reflect.String, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface:
		return t
	}
	return nil
}
