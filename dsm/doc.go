// Package dsm gives the PEs of a job arrays that each of them reads and writes as ordinary Go memory. Blocks that a PE
// does not have are fetched when it accesses them. What a PE has written becomes visible to the others when both sides
// synchronize: by a Barrier, a Mutex, an Event, or a Release and an Acquire.
//
// The memory model is release consistency: a program without data races behaves as if all accesses were done in one
// order. Two accesses of different PEs to the same byte, one of them a write, race unless one happens before the other
// by the order of a goroutine, by Go's synchronization within a PE, and by fences between PEs.
//
// The protocol follows W. Endo, S. Sato and K. Taura, "MENPS: A Decentralized Distributed Shared Memory Exploiting
// RDMA" (2020): the home of a block is the PE that wrote it last, copies are invalidated by write notices and by
// logical leases, a read takes one message, and a release of what the PE wrote last takes none.
//
//	doc.go              this text
//	options.go          Options, Mode, Protocol
//	region.go           Region: opening, closing, which mode
//	array.go            Array and Alloc; array_unsafe.go has the accesses
//	local.go            what the goroutines of a PE do among themselves
//	fence.go            fences of one PE take turns: Barrier, Release, Acquire
//	cache.go            what the protocol asks of a PE's copies
//	soft.go             copies that accessors check (mode Soft)
//	twin.go             stores that the race detector does not see (twin_race.go)
//	paged_unsafe.go     copies that page faults check (mode Paged, package dsm/pager)
//	version.go          the words of a block, and the fetch of a copy
//	turn.go             the turns of PEs at changing a block
//	release.go          how a PE publishes what it has written
//	notice.go           write notices, and Notice
//	acquire.go          how a PE learns of others' releases
//	barrier.go          the exchange of notices in a barrier
//	mutex.go, rwmutex.go, event.go
//	                    locks and events that carry notices
//	fixed.go            FixedHome: home-based lazy release consistency
//	directory.go        Directory: the releaser tells every sharer
//	classified.go       Classified: each PE drops what others may have written
//	hints.go            Prefetch, Publish, Claim
//	run.go              Run and Member: goroutines of all PEs as one team
//	stats.go, report.go counters, and which sharing is false; named.go: the names of arrays
//	shown.go            what reports of the job say while this PE waits
//
//ci:nocgo=short
package dsm
