// Command fastpath is compiled and measured by the tests of inlining and of allocations: a program with
// accesses through generated accessors and nothing else.
package main

//go:generate go tool pgasgen

// Pair is a small record.
type Pair struct{ A, B int32 }

// Cell has a field of each plain kind.
//
//pgas:symmetric
type Cell struct {
	Count int64 `pgas:"atomic"`
	Sum   float64
	Flag  bool
	Pair  Pair
	Row   [8]float64
}
