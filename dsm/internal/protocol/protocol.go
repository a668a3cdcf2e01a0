package protocol

// What a protocol is, and what it fetches.

import "context"

// A Protocol keeps the copies of PEs coherent between fences.
type Protocol interface {
	// Fetch fetches and installs blocks. It panics with *pgas.PeerError if their homes are lost.
	Fetch(list []*Fetch)
	// Release publishes the blocks of list, which this PE has changed, and adds their notices.
	Release(ctx context.Context, list []int32) error
	// Acquire drops the copies that the notices, or the homes, declare out of date.
	Acquire(told Notices)
}

// Traits are what distinguishes a protocol from Floating.
type Traits struct {
	FixedHomes bool // a home for each block: PE b mod n is that of block b
	AsksFirst  bool // an untouched block may not be taken for zeros
	Transient  bool // no copy is valid after the call that fetched it
}

// An Exchanger sends what this PE knows to all PEs, blocks until all have come, and returns what all of them know.
type Exchanger interface {
	Exchange(ctx context.Context, known Notices) (Notices, error)
}

// A Fetch is a copy under way.
type Fetch struct {
	CopyInfo
	Block   int32
	Fast    bool   // a notice has told where the version is, and its lease is good
	Version uint64 // the version word as the lease found it
	From    uint64 // the hint word
	Lease   uint64 // the end of the lease that the fetch asks for
	hops    int
	// Installed says that the copy has become valid: no fence has come between.
	Installed bool
}
