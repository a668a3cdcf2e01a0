package main

import "github.com/gopgas/gopgas/pgas"

//go:generate go tool pgasgen

// ringLen is the number of words in a Ring: result.Slots(8).
const ringLen = 1024

// Ring is what operations of eight bytes walk through.
//
//pgas:symmetric
type Ring struct {
	Words [ringLen]uint64 `pgas:"view"` // written by: PE 0; read by: PE 0 and the owner
}

// Board is what each PE has one of: the words that ping-pongs and atomics work on, each on a cache line
// of its own, and what PE 0 tells the others.
//
//pgas:symmetric
type Board struct {
	Word   uint64 `pgas:"atomic"` // operated on by: PE 0
	_      [56]byte
	Flag   pgas.Signal // set by: the partner, with or after its payload
	_      [56]byte
	Agreed int64 // written by: PE 0, between two barriers
	Count  int64 // a counter in PE 0's copy; written by: the holder of the lock

	// Of PE 0's copy, with -costs, each added to by all PEs between two barriers:
	CPU      uint64 `pgas:"atomic"` // ns of CPU time
	Switches uint64 `pgas:"atomic"` // context switches
	Wire     uint64 `pgas:"atomic"` // bytes sent to other hosts
	PSS      uint64 `pgas:"atomic"` // kilobytes of memory
}

// Share is what a PE has got of a lock. PE 0 has one for each PE.
//
//pgas:symmetric
type Share struct {
	Got     int64 // written by: the PE with the index of the record, like the others; times that it held the lock
	Took    int64 // ns of all turns
	P50     int64 // the median wait for the lock, in ns
	P99     int64 // the 99th percentile of these waits
	Longest int64 // the longest of these waits
	Passed  int64 // turns that others had between two of its own, or before its first, at most
}

// Memory is what an idle PE takes, in kilobytes. PE 0 has one for each PE.
//
//pgas:symmetric
type Memory struct {
	RSS uint64 // written by: the PE with the index of the record
	PSS uint64 // written by: the PE with the index of the record
}
