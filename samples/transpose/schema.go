package main

//go:generate go tool pgasgen

import "github.com/gopgas/gopgas/pgas"

// Slot is what a PE has for each peer: the news that strips of the peer's block have come.
//
//pgas:symmetric
type Slot struct {
	// Arrived counts the strips that the peer has put here, over all iterations, the even and the odd
	// ones by themselves.
	Arrived [2]pgas.Signal

	_ [48]byte // the next peer's signals are on another cache line
}
