package protocol

// What the protocol asks of a PE's copies. The protocol decides which copies are valid and where the newest version of
// a block is; the cache holds the copies, notices first writes, and compares and merges bytes.
//
// Of each block a PE has a copy, which the program accesses, and a twin: the copy as it was before the first write
// since the last release. Bytes that differ from the twin are the PE's own changes. The twin is the PE's part of the
// symmetric array pub, from which other PEs fetch the block while this PE is its home.

// CopyInfo is what a PE knows of a block.
type CopyInfo struct {
	Valid      bool
	Untouched  bool   // the block is zeros: neither accessed nor invalidated yet
	Home       int32  // the PE to ask for a newer version
	Generation uint32 // changes when a fence may have made what is being fetched out of date
	RTS        uint64 // the end of the lease of the copy, or of the version in a notice
	Now        uint64 // the PE's logical time when this was read
}

// A Cache is one PE's copies. Fences call Written, Merge, Drop and Expire, one fence at a time; accesses of any
// goroutine may come between.
type Cache interface {
	// Written appends the blocks whose copies differ from their twins to into. Copies that do not are clean after it.
	Written(into []int32) []int32
	// Merge writes this PE's own bytes over latest, or over the twin if latest is nil, into the twin and the copy,
	// which is clean and valid then. It returns the range of bytes that this PE had changed. latest is overwritten.
	Merge(b int32, latest []byte, home int32, rts uint64) (first, last int)
	// Changes makes the copy's bytes the twin, and calls run for each run of bytes that have differed from the twin
	// before. It is for protocols whose homes merge.
	Changes(b int32, run func(at int, bytes []byte))
	// Settle makes the copy clean, unless the program has changed it after Changes. Its validity and lease stay.
	Settle(b int32)
	// Drop makes the copy invalid. Own bytes stay: the next fetch merges them.
	Drop(b int32, home int32, rts uint64)
	// Expire sets the logical time, drops every copy whose lease ended before it, and ends an acquire.
	Expire(now uint64)
	// Current begins an acquire without notices, and reports whether nothing else is to be done. A copy of a version
	// that was closed when it was fetched has to be dropped. Other fences may be under way.
	Current() bool
	// DropAll drops the copies for which stale is true, whatever their leases.
	DropAll(stale func(b int32) bool)
	// Known returns what the PE knows of a block.
	Known(b int32) CopyInfo
	// Has reports whether blocks lo to hi-1 are valid and ready, and writable if write is set: nothing is to be done
	// then before an access.
	Has(lo, hi int32, write bool) bool
	// Zeros makes an untouched block a valid copy.
	Zeros(b int32)
	// Install makes data the copy, with own bytes over it, unless the generation has changed. It reports whether it
	// did.
	Install(b int32, generation uint32, data []byte, home int32, rts uint64) bool
	// Writable makes the twins of valid blocks lo to hi-1, which may be written then. Others are skipped.
	Writable(lo, hi int32)
	// Ready makes accesses to the valid blocks from lo to hi-1 fast.
	Ready(lo, hi int32)
	// Overwritten makes whole blocks valid and writable without their contents: every byte counts as changed.
	Overwritten(lo, hi int32)
	// Close ends the cache. Accesses fail after it.
	Close() error
}

// A Renewer is a Cache whose own versions get new leases from the protocol. Other caches renew them in Expire.
type Renewer interface {
	// Ending returns the valid copies of blocks whose home is the PE home and whose leases end before now.
	Ending(now uint64, home int32) []int32
	// Renew sets the end of the lease of a copy that Ending has returned.
	Renew(b int32, rts uint64)
}
