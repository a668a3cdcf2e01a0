package node

// Names of the words of the symmetric heap, for messages: `Tally.Ready[0]` instead of an offset. Every
// allocation registers its type and its site with the World, off every fast path, and a message looks the offset up.

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Allocation is a live block of the symmetric heap.
type Allocation struct {
	Off, Size uint64 // offset and size of an element
	N         int    // number of elements
	Typ       reflect.Type
	Site      string // site of the allocating call
}

// A nameTable is the allocations of a World that live, in the order of their offsets.
type nameTable struct {
	mu   sync.Mutex
	list []Allocation
}

func (t *nameTable) find(off uint64) (int, bool) {
	return slices.BinarySearchFunc(t.list, off, func(a Allocation, off uint64) int { return cmp.Compare(a.Off, off) })
}

// Add notes a, in place of an allocation that begins at the same offset.
func (t *nameTable) Add(a Allocation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, taken := t.find(a.Off)
	if taken {
		t.list[i] = a
		return
	}
	t.list = slices.Insert(t.list, i, a)
}

// Remove forgets the allocation that begins at off.
func (t *nameTable) Remove(off uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i, ok := t.find(off); ok {
		t.list = slices.Delete(t.list, i, i+1)
	}
}

// at returns the name of the word at offset off, or "" if no allocation contains it.
func (t *nameTable) at(off uint64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, exact := t.find(off)
	if !exact {
		i--
	}
	if i < 0 || t.list[i].Size == 0 {
		return ""
	}
	a := t.list[i]
	k := (off - a.Off) / a.Size
	if k >= uint64(a.N) {
		return ""
	}
	s := typeName(a.Typ)
	if a.N > 1 {
		s += "[" + strconv.FormatUint(k, 10) + "]"
	}
	s += fieldAt(a.Typ, uintptr((off-a.Off)%a.Size))
	if a.Typ.Name() != "" && a.Typ.PkgPath() == "" && a.Site != "" { // int64 alone says little
		s += " allocated at " + a.Site
	}
	return s
}

// Has reports whether a value of type typ begins at offset off, as an element or as a part of one.
func (t *nameTable) Has(off uint64, typ reflect.Type) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, exact := t.find(off)
	if !exact {
		i--
	}
	if i < 0 || t.list[i].Size == 0 || off-t.list[i].Off >= t.list[i].Size*uint64(t.list[i].N) {
		return false
	}
	return hasAt(t.list[i].Typ, uintptr((off-t.list[i].Off)%t.list[i].Size), typ)
}

// hasAt reports whether a part of type part begins at offset off of a value of type t.
func hasAt(t reflect.Type, off uintptr, part reflect.Type) bool {
	switch {
	case t == part:
		return off == 0
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); off >= f.Offset && off < f.Offset+f.Type.Size() {
				return hasAt(f.Type, off-f.Offset, part)
			}
		}
	case t.Kind() == reflect.Array && t.Size() > 0:
		return hasAt(t.Elem(), off%t.Elem().Size(), part)
	}
	return false
}

// typeName returns the name of t without its package, or its type expression if it has no name.
func typeName(t reflect.Type) string {
	if name := t.Name(); name != "" {
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return t.String()
}

// fieldAt returns the path from a value of type t to the field at offset off in it: ".Ready[0]".
func fieldAt(t reflect.Type, off uintptr) string {
	switch t.Kind() {
	case reflect.Struct:
		for i := t.NumField() - 1; i >= 0; i-- {
			f := t.Field(i)
			if f.Name == "_" || off < f.Offset || off >= f.Offset+f.Type.Size() {
				continue
			}
			return "." + f.Name + fieldAt(f.Type, off-f.Offset)
		}
	case reflect.Array:
		if size := t.Elem().Size(); size > 0 && off < t.Size() {
			return "[" + strconv.Itoa(int(off/size)) + "]" + fieldAt(t.Elem(), off%size)
		}
	}
	return ""
}
