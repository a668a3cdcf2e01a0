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
//	options.go          Options and Mode
//	named.go            the names of arrays, for reports and errors
//	local.go            what the goroutines of a PE do among themselves
//	soft.go             copies that accessors check (mode Soft)
//	twins.go            their twins; twin.go and twin_race.go have the stores that other PEs can see
//	paged_unsafe.go     copies that page faults check (mode Paged, package dsm/pager)
//	window_unsafe.go    views that fault after the fence that ends them (Options.Check)
//	memory.go           the memory of a region: copies and arrays
//	region.go           Region: memory, fences (package dsm/internal/protocol) and what is observed
//	stats.go            counters of a PE
//	report.go           which blocks move most, and which sharing is false
//	notice.go           Notice, in the hands of programs
//	fence.go            fences of one PE take turns: Barrier, Release, Acquire
//	open.go             opening, closing, which mode
//	checks.go           what an access looks at first
//	array_unsafe.go     Array and its accesses; field_unsafe.go has those to one field
//	array.go            Alloc
//	hints.go            Prefetch, Publish, Claim, Pin
//	mutex.go, rwmutex.go, event.go
//	                    locks and events that carry notices
//	run.go              Run and Member: goroutines of all PEs as one team
//
//ci:long nocgo=short
package dsm
