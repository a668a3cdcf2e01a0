package main

//go:generate go tool pgasgen

// Word is one word of the table.
//
//pgas:symmetric
type Word struct {
	Bits uint64 `pgas:"atomic"` // updated by all PEs
}
