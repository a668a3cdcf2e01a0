package main

import "github.com/gopgas/gopgas/pgas"

//go:generate go tool pgasgen

// pageBytes is the size of a page of spellings. Each PE reserves room at a home a page at a time.
const pageBytes = 4096

// Entry is one identifier. The entries of a PE are its local volume of the table: first the slots, which
// hashes point to, then the overflow heap, in which the lists of the slots continue.
//
//pgas:symmetric
type Entry struct {
	// Key is the identifier: see key.go. 0 means free. It changes once, by compare-swap or before the
	// entry is linked, and never again.
	Key uint64 `pgas:"atomic"`

	// Count is how often it occurs. All PEs add to it.
	Count int64 `pgas:"atomic"`

	// Next is the index of the list's next entry, in the heap; 0 means that this is the last. It
	// changes once, by compare-swap.
	Next uint64 `pgas:"atomic"`
}

// Page holds spellings that do not fit a key. The PE that reserved a byte writes it once. Other PEs read it after they
// have found a published key that points to it.
//
//pgas:symmetric
type Page struct {
	Text [pageBytes]byte `pgas:"view"`
}

// Volume is how far a PE's heap and pages are handed out: one on each PE.
//
//pgas:symmetric
type Volume struct {
	// HeapFree is the next free entry of the overflow heap, TextFree the next free page. Fetch-add
	// hands them out; past the end it counts what was asked for in vain.
	HeapFree uint64 `pgas:"atomic"`
	TextFree uint64 `pgas:"atomic"`

	// Want is the owner's part in agreeing on a larger table: written by the owner, read by all
	// between two barriers.
	Want uint64
}

// Tally is what the PEs tell each other beside the table: one on each PE.
//
//pgas:symmetric views
type Tally struct {
	// NextFile hands out the list of files. On PE 0.
	NextFile int64 `pgas:"atomic"`

	// Sums over all PEs. On PE 0.
	Files       int64 `pgas:"atomic"` // read
	Unreadable  int64 `pgas:"atomic"` // files and directories
	Malformed   int64 `pgas:"atomic"` // files that are not Go all through; counted all the same
	Refused     int64 `pgas:"atomic"` // identifiers too long for a key
	Bytes       int64 `pgas:"atomic"`
	Identifiers int64 `pgas:"atomic"`
	Inserts     int64 `pgas:"atomic"` // counts added to the table
	Entries     int64 `pgas:"atomic"` // made for them
	MergeNS     int64 `pgas:"atomic"` // time spent in updates, of all PEs

	// Stop asks the owner to come to the meeting that makes the table larger for the Stop-th time.
	Stop uint64 `pgas:"atomic"`

	// Mail counts what may concern the owner: see mail.go.
	Mail pgas.Signal

	// Done counts the PEs that will send the owner nothing more.
	Done int64 `pgas:"atomic"`
}

// boxBytes is the size of a parcel.
const boxBytes = 32 << 10

// Box holds one parcel from a PE of another host: see mail.go.
//
//pgas:symmetric
type Box struct {
	// Arrived is the number of the parcel, from 1, and its length: number<<32 | bytes.
	Arrived pgas.Signal

	// Taken is how many parcels of the owner the PE that this box is for has taken. Written by that PE.
	Taken uint64 `pgas:"atomic"`

	Text [boxBytes]byte // written by the sender, with the signal; read by the owner
}
