package main

//go:generate go tool pgasgen

// Cell is one record of the symmetric heap: the same on every PE, and reachable from all of them.
//
//pgas:symmetric
type Cell struct {
	Count       int64   `pgas:"atomic"` // on PE 0: added to by everybody
	Temperature float64 // written by the PE before, read by the owner
}
