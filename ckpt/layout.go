package ckpt

import (
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
)

// LayoutOf returns a number of how a T lies in memory: the kinds, sizes and places of its fields. Names do not matter.
func LayoutOf[T any]() uint64 {
	h := fnv.New64a()
	describe(h, reflect.TypeFor[T]())
	return h.Sum64()
}

func describe(w io.Writer, t reflect.Type) {
	fmt.Fprintf(w, "%v %d(", t.Kind(), t.Size())
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			fmt.Fprintf(w, "%d:", t.Field(i).Offset)
			describe(w, t.Field(i).Type)
		}
	case reflect.Array:
		describe(w, t.Elem())
	}
	fmt.Fprint(w, ")")
}

// isPlain reports whether values of a type hold no pointers.
func isPlain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}

func widthOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }
