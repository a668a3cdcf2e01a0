// Package ucx is UCP, the protocol layer of UCX, for Go: remote memory access, atomics and active
// messages over whatever the machine has (shared memory, TCP, InfiniBand, ...).
//
// A [Context] holds the devices, a [Worker] is a progress engine with an address, an [Endpoint] is a
// worker's connection to another worker, [Memory] is registered so that others can reach it, and an
// [RKey] is the permission to do so. Operations are posted on endpoints and return a [Request] or
// complete at once; they complete while a goroutine makes progress on the worker, which waits do.
//
// # Completion
//
// A completed put says that its source may be reused, not that the data is at the target: for that,
// wait for [Endpoint.Flush] or [Worker.Flush]. A completed get or fetching atomic has its result.
// A completed flush says that everything posted before it is complete at the origin and at the target. [Worker.Fence]
// orders without waiting: what was posted before takes effect before what is posted after, to each
// endpoint.
//
// # Memory
//
// Buffers of operations stay in use until the request completes. The package pins Go memory for that
// long (runtime.Pinner), so any byte slice will do; the bytes must not contain Go pointers. Memory from
// [Context.AllocMemory] or mmap needs no pinning and is what network cards like best.
//
// # Failure
//
// No failure of a peer ends the process. It is reported by the request of every operation that it
// prevented, by [Endpoint.Err] and by [Worker.NextFailed]; a failed endpoint is good for nothing but
// [Endpoint.Abort].
//
// Every error is an [*Error] that wraps a [Status], unless the comment of a function says otherwise. Every function
// fails with [ErrInvalidParam] on an object that has been closed (on an endpoint with [ErrNotConnected]), or on a
// context without the feature that it needs, and with [ErrNoMemory]. An operation fails with the status of an endpoint
// that has failed, and with [ErrUnreachable] if its first use finds no transport to the peer. Comments of functions
// name what comes on top.
//
// # Concurrency
//
// A worker, and everything made from it, is used by one goroutine at a time unless it was made with
// WorkerParams.Shared. Go never blocks inside C for longer than a few milliseconds, C never calls
// Go, and posting and completing an operation allocate nothing.
//
//ci:below nocgo=short ucx
package ucx
