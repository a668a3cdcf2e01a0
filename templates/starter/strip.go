package main

import "github.com/gopgas/gopgas/pgas"

//go:generate go tool pgasgen

// Width is the number of cells in a row of the grid.
const Width = 64

// The two neighbours of a strip, as indexes of Halo and Ready.
const (
	fromPrev = 0
	fromNext = 1
)

// Strip is what each PE offers to the others: the rows that its neighbours send to it, and what it
// reports at the end.
//
//pgas:symmetric
type Strip struct {
	// Halo holds the neighbours' edge rows. A fast neighbour is at most one step ahead, so rows of even
	// and odd steps are apart: index 0 is the parity of the step, index 1 the neighbour.
	Halo [2][2][Width]float64 // written by: neighbours; read by: owner

	// Ready counts, for each neighbour, the rows that have arrived.
	Ready [2]pgas.Signal // written by: neighbours, with the rows; read by: owner

	// Heat is the sum over the strip at the end.
	Heat float64 // written by: owner; read by: every PE

	// Warm counts the cells of all PEs that ended above average.
	Warm int64 `pgas:"atomic"` // on PE 0; added to by: every PE
}
