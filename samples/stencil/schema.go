package main

//go:generate go tool pgasgen

import "github.com/gopgas/gopgas/pgas"

// Edges signals the edges of a PE's four neighbours. There is one for even iterations and one for odd ones.
//
//pgas:symmetric
type Edges struct {
	Arrived [4]pgas.Signal // by side: the iteration, from 1, whose edge has arrived; set by the neighbour on that side
	_       [32]byte
}
