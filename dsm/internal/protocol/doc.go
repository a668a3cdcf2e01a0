// Package protocol keeps the copies that PEs have of the blocks of a region coherent. A State is one PE's part in it. A
// fence takes the State's turn, releases what this PE has written, and acquires what other PEs have released; an access
// brings the copies that are missing. Package dsm has the copies themselves: a Cache is what this package asks of them.
//
// The files, the lowest layer first:
//
//	doc.go            this text
//	cache.go          Cache and Renewer: what the protocol asks of a PE's copies
//	notice.go         write notices, and their encoding
//	words.go          the words of a block in symmetric memory
//	counters.go       what a PE counts, and which blocks have moved to it
//	shown.go          what reports of the job say while this PE waits
//	local.go          what the goroutines of a PE do among themselves
//	protocol.go       Protocol, Traits, Exchanger and Fetch
//	state.go          State, and its symmetric memory
//	fence.go          the end of a fence
//	transfer.go       how bytes come from homes
//	turn.go           the turns of PEs at changing a block
//	dissemination.go  the exchange of notices in a barrier
//	release.go        Floating, and how a PE publishes what it has written
//	fetch.go          how a reader gets a copy
//	acquire.go        how a PE learns of others' releases
package protocol
