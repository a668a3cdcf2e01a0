// Package pgas is a partitioned global address space in the OpenSHMEM tradition: a job of processing
// elements (PEs), each with a symmetric heap that every other PE can read, write and update atomically
// without the owner's help.
//
// A program is a body run by Main on every PE. It allocates symmetric memory collectively (Alloc, or
// the typed functions that pgasgen writes), and moves data with one-sided operations on references:
//
//	put, get     plain data            Ref.Put, Slice.Get, …
//	atomics      one word, indivisible Atomic.FetchAdd, …
//	signals      data, then a word     Ref.PutSignal, SignalRef.WaitUntil
//
// # Completion and order
//
// When a put returns, it is complete locally: its source may be reused. PutNB may return earlier. Fence orders the
// operations issued before it before those issued after it, for each target PE separately. Quiet returns when all
// operations issued are complete and visible at their targets. Barrier is a Quiet of the default context on every PE,
// then a synchronization of all PEs. A Context is an ordering domain of its own: its fences and quiets do not cover the
// operations of another.
//
// NB at the end of a name means non-blocking. A put returns a LocalCompletion, which tells when its source
// may be reused. The destination of a get or of a fetching atomic is filled when the next Quiet returns. A collective
// returns a Request.
//
// # Waiting
//
// Only atomic words and signals can be waited for, and a Short, by polling at intervals. A plain put wakes no
// waiter, so a flag is a field tagged `pgas:"atomic"`, or better a Signal.
//
// # Errors
//
// Misuse panics with *UsageError, as a slice index out of range panics in Go. A call that can block takes a
// context.Context and returns an error: *PeerError if a PE is lost, the cause of the context if it ends first, and for
// collectives *MismatchError and *AbortedError. Blocking gets and fetching atomics return a value, and panic with
// *PeerError. The loss of a PE during an operation that returns nothing is reported by the next call that blocks.
//
// # Where to read
//
//	open.go, world.go              Main, Init, and the World of a PE
//	atclose.go, closers.go         what ends with a World; settle.go: when its state can be saved
//	exit.go, info.go               the end of the job by one PE; what PE 0 prints about the job
//	clock.go                       time, randomness and scheduling, real or simulated
//	sym_unsafe.go, agree.go        symmetric allocations; comparing the PEs' requests
//	ref_unsafe.go, slice_unsafe.go references to elements and ranges: put, get
//	strided_unsafe.go              puts and gets of every n-th element
//	ptr_unsafe.go                  pointers to what other PEs of the host have
//	put_completion.go              when the source of a put may be reused
//	fastpath_unsafe.go             the put and get that inline to a store and a load
//	context*.go                    ordering domains: fence, quiet, sessions, the way to each PE
//	connection.go                  how a PE is reached, for reports
//	atomic*.go, short_unsafe.go    words that are only accessed atomically
//	signal.go, notified_unsafe.go  put with signal; notified accesses
//	notes.go                       the arrival of notified accesses
//	wait_word.go, waitset.go       waits for one word and for many
//	team*.go, topology.go          teams and their splits
//	share.go                       items in blocks, one for each member of a team
//	collective*.go                 collectives; the algorithms are in internal/coll
//	value.go, gather.go            collectives of Go values and slices
//	library.go                     calls of libraries above pgas, for mismatches and reports
//	coherent.go, hooks_unsafe.go   what other packages of this module need, and programs do not
//	group.go                       goroutines of one PE
//	lock.go                        the lock of the specification
//	stats.go, region.go            what a PE counts; parts of a program that have a name in traces
//	misuse.go, errors.go, check.go zero values, errors, PGAS_CHECK
//	races.go                       PGAS_CHECK=race: the detector of this PE, and its way to those of others
//	races_mappings.go              memory that PEs share by mappings of their own, of which the detector sees nothing
//	generated_unsafe.go            what generated code calls
//
// What one PE is and how it waits is in internal/node.
//
//ci:nocgo=short
package pgas
