package main

// Memoization of what is known about a type. A record may hold a type many times, each of which holds another
// many times: analyzing each occurrence takes time exponential in the depth, and one analysis of each type is enough.

import "go/types"

// A memo is what an analysis knows about the types that it has looked into.
type memo struct {
	looks  int // into types: the work of an analysis
	clean  map[types.Type]bool
	shared map[types.Type]bool
	texts  map[types.Type]string
}

func newMemo() *memo {
	return &memo{clean: map[types.Type]bool{}, shared: map[types.Type]bool{}, texts: map[types.Type]string{}}
}

// recall returns the known value of t, or calls find and keeps the result.
func recall[V any](known map[types.Type]V, t types.Type, looks *int, find func() V) V {
	if v, ok := known[t]; ok {
		return v
	}
	*looks++
	v := find()
	known[t] = v
	return v
}

// keptSizes is types.Sizes that computes the size and the alignment of an array or a struct once, by the rules
// of the gc compiler. It leaves other types to the Sizes that it is made from.
type keptSizes struct {
	types.Sizes
	sizes, aligns map[types.Type]int64
	costs         map[types.Type]int64 // see compilerCost
	looks         int
}

func keep(s types.Sizes) *keptSizes {
	return &keptSizes{Sizes: s, sizes: map[types.Type]int64{}, aligns: map[types.Type]int64{}, costs: map[types.Type]int64{}}
}

// Alignof returns the alignment of a variable of type t.
func (k *keptSizes) Alignof(t types.Type) int64 {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return k.Alignof(u.Elem())
	case *types.Struct:
		if u.NumFields() == 0 {
			break // one of them has an alignment by its name
		}
		return recall(k.aligns, t, &k.looks, func() int64 {
			most := int64(1)
			for f := range u.Fields() {
				most = max(most, k.Alignof(f.Type()))
			}
			return most
		})
	}
	return k.Sizes.Alignof(t)
}

// Offsetsof returns the offsets of a struct's fields.
func (k *keptSizes) Offsetsof(fields []*types.Var) []int64 {
	offsets, end := make([]int64, len(fields)), int64(0)
	for i, f := range fields {
		end = roundUp(end, k.Alignof(f.Type()))
		offsets[i] = end
		end = min(end+k.Sizeof(f.Type()), tooLarge)
	}
	return offsets
}

// Sizeof returns the size of a variable of type t.
func (k *keptSizes) Sizeof(t types.Type) int64 {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return times(u.Len(), k.Sizeof(u.Elem()))
	case *types.Struct:
		if u.NumFields() == 0 {
			return 0
		}
		return recall(k.sizes, t, &k.looks, func() int64 { return k.structSize(t, u) })
	}
	return k.Sizes.Sizeof(t)
}

func (k *keptSizes) structSize(t types.Type, u *types.Struct) int64 {
	var fields []*types.Var
	for f := range u.Fields() {
		fields = append(fields, f)
	}
	last := len(fields) - 1
	start, n := k.Offsetsof(fields)[last], k.Sizeof(fields[last].Type())
	if start > 0 && n == 0 {
		n = 1 // so that the address of the last field is inside
	}
	return min(roundUp(start+n, k.Alignof(t)), tooLarge)
}

// tooLarge stands for every size from it on, so that no product and no sum of sizes overflows.
const tooLarge = 1 << 60

// times returns n times size, or tooLarge.
func times(n, size int64) int64 {
	if size > 0 && n > tooLarge/size {
		return tooLarge
	}
	return n * size
}

// compilerCost returns how many types the compiler looks into when it computes the size of t as a constant. It keeps
// nothing: for a struct it looks into each field, and into the last one twice. The result is at most tooLarge.
func (k *keptSizes) compilerCost(t types.Type) int64 {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return min(1+k.compilerCost(u.Elem()), tooLarge)
	case *types.Struct:
		return recall(k.costs, t, &k.looks, func() int64 {
			cost, last := int64(1), int64(0)
			for f := range u.Fields() {
				last = k.compilerCost(f.Type())
				cost = min(cost+last, tooLarge)
			}
			return min(cost+last, tooLarge)
		})
	}
	return 1
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }
