package main

//go:generate go tool pgasgen

import "github.com/gopgas/gopgas/pgas"

// Slot has the signals of one peer: strips of the peer's block have arrived.
//
//pgas:symmetric
type Slot struct {
	// Arrived counts the strips that the peer has put, over all iterations, the even and the odd
	// ones separately.
	Arrived [2]pgas.Signal

	_ [48]byte // the next peer's signals are on another cache line
}
