package protocol

// The words of a block.
//
// Versions of a block are numbered by a logical time, strictly increasing: they are made one after another, by the PE
// whose turn it is (turn.go). Each version has a lease: no later version has a number up to its rts.
//
//	version[b] of PE p   rts               pub[b] of p is the newest version; a reader may raise rts (FetchMax)
//	                     closed | rts      it is, until the release under way ends; it gives no more leases
//	                     moved | q         PE q has made a newer one
//	lock[b] of PE p      unlocked          p may change the block, and is not changing it
//	                     locked            p changes it, or waits for its turn
//	                     link + q          q has asked p for the turn, or p would ask q (a probable owner)
//	grant[b] of PE p     1 + q             q gives p the turn, and the newest version is q's
//	hint[b]              1 + q             on PE b mod n only: q was the home a while ago; 0: PE b mod n
//
// Zero is the beginning: the home of block b is PE b mod n, and every PE has a valid copy of zeros.

import "github.com/gopgas/gopgas/pgas"

const (
	Closed = uint64(1) << 62
	Moved  = uint64(1) << 63

	Unlocked = 0
	Locked   = 1
	Link     = 2
)

// Words are the words of all blocks.
type Words struct {
	Version, Lock, Grant, Hint pgas.AtomicSlice[uint64]
	VersionAt, HintAt          uint64 // offsets in the symmetric heap
}
