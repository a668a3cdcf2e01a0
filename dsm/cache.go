package dsm

// What the protocol asks of a PE's copies. The protocol decides which copies are valid and where the newest version of
// a block is; the cache holds the copies, notices first writes, and compares and merges bytes.
//
// Of each block a PE has a copy, which the program accesses, and a twin: the copy as it was before the first write
// since the last release. Bytes that differ from the twin are the PE's own changes. The twin is the PE's part of the
// symmetric array pub, from which other PEs fetch the block while this PE is its home.

// copyInfo is what a PE knows of a block.
type copyInfo struct {
	valid      bool
	untouched  bool   // neither accessed nor invalidated yet: it is zeros
	home       int32  // the PE to ask for a newer version
	generation uint32 // changes when a fence may have made what is being fetched out of date
	rts        uint64 // the end of the lease of the copy, or of the version that a notice told of
	now        uint64 // the PE's logical time when this was read
}

// A cache is one PE's copies. Fences call written, merge, drop and expire, one fence at a time; accesses of any
// goroutine may come between.
type cache interface {
	// written appends the blocks whose copies differ from their twins to into. Copies that do not are clean after it.
	written(into []int32) []int32
	// merge writes this PE's own bytes over latest, or over the twin if latest is nil, into the twin and the copy,
	// which is clean and valid then. It returns the range of bytes that this PE had changed. latest is overwritten.
	merge(b int32, latest []byte, home int32, rts uint64) (first, last int)
	// changes makes the copy's bytes the twin, and calls run for each run of bytes that have differed from the twin
	// before. It is for protocols whose homes merge.
	changes(b int32, run func(at int, bytes []byte))
	// settle makes the copy clean, unless the program has changed it after changes. Its validity and lease stay.
	settle(b int32)
	// drop makes the copy invalid. Own bytes stay: the next fetch merges them.
	drop(b int32, home int32, rts uint64)
	// expire sets the logical time, drops every copy whose lease ended before it, and ends an acquire.
	expire(now uint64)
	// ending returns the valid copies of blocks whose home is the PE home and whose leases end before now.
	ending(now uint64, home int32) []int32
	// renew sets the end of the lease of a copy that ending has returned.
	renew(b int32, rts uint64)
	// current begins an acquire that tells of nothing, and reports whether that is all: no copy has to be dropped, as one of
	// a version that was closed when it was fetched. Other fences may be under way.
	current() bool
	// dropAll drops the copies for which stale is true, whatever their leases.
	dropAll(stale func(b int32) bool)
	// known returns what the PE knows of a block.
	known(b int32) copyInfo
	// has reports whether blocks lo to hi-1 are valid and ready, and writable if write is set: nothing is to be done then
	// before an access.
	has(lo, hi int32, write bool) bool
	// zeros makes an untouched block a valid copy.
	zeros(b int32)
	// install makes data the copy, with own bytes over it, unless the generation has changed. It reports whether it
	// did.
	install(b int32, generation uint32, data []byte, home int32, rts uint64) bool
	// writable makes the twins of valid blocks lo to hi-1, which may be written then. Others are skipped.
	writable(lo, hi int32)
	// ready makes accesses to the valid blocks from lo to hi-1 fast.
	ready(lo, hi int32)
	// overwritten makes whole blocks valid and writable without their contents: every byte counts as changed.
	overwritten(lo, hi int32)
	// close ends the cache. Accesses fail after it.
	close() error
}
