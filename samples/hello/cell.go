package main

//go:generate go tool pgasgen

// Cell is one record of the symmetric heap: at the same offset on every PE, and reachable from all of them.
//
//pgas:symmetric
type Cell struct {
	Count       int64   `pgas:"atomic"` // on PE 0: all PEs add to it
	Temperature float64 // written by the PE before, read by the owner
}
