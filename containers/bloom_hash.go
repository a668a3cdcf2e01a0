package containers

// The hash of a key's bytes, which must be the same on all PEs: the hashes of package maphash are not.

import (
	"reflect"

	"github.com/gopgas/gopgas/internal/carry"
)

// bloomWords are the words of most keys: those of others take memory of Go.
const bloomWords = 8

// bloomHash returns the hash of key.
func bloomHash[K any](key K) uint64 {
	var few [bloomWords]uint64
	words := few[:]
	if n := mapWords(carry.SizeOf[K]()); n > bloomWords {
		words = make([]uint64, n)
	} else {
		words = words[:n]
	}
	mapEncode(words, &key)
	sum := uint64(0x9e3779b97f4a7c15)
	for _, word := range words {
		sum = bloomMix(sum ^ word)
	}
	return sum
}

// bloomMix is a permutation of the words of which every bit of the argument changes half of the bits of the result: the
// finalizer of splitmix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
func bloomMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// bloomMustHash panics with *pgas.UsageError if the bytes of a K are not its value.
func bloomMustHash[K any](op string) {
	t := reflect.TypeFor[K]()
	if t.Size() == 0 {
		carry.Misuse(op, "%v has no bytes: there is only one key", t)
	}
	if used, ok := bloomBytes(t); ok && used != t.Size() {
		carry.Misuse(op, "%v has gaps, whose bytes are not part of the value: order its fields by size, and name what fills the rest", t)
	}
}

// bloomBytes returns how many bytes of a value of t are in its fields. It is false if t is not plain.
func bloomBytes(t reflect.Type) (n uintptr, ok bool) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue
			}
			bytes, ok := bloomBytes(f.Type)
			if !ok {
				return 0, false
			}
			n += bytes
		}
		return n, true
	case reflect.Array:
		bytes, ok := bloomBytes(t.Elem())
		return bytes * uintptr(t.Len()), ok
	case reflect.Pointer, reflect.String, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer:
		return 0, false
	}
	return t.Size(), true
}
