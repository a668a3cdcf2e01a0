// Package engine is one-sided communication over UCX's active messages: put, get, atomic, signal,
// fence and quiet on memory of other processes, without help from their programs.
//
// UCX has one-sided operations of its own, and where a NIC executes them they are the right path. Where
// UCX must emulate them (TCP), a put with its flush costs two round trips and every operation a system
// call. In this engine a message carries many small operations, is applied by the target in order, and one
// acknowledgement, carried by an answer wherever there is one, says that all before it are complete: put
// and quiet are one round trip, and a stream of small puts costs a system call in hundreds.
//
//	Engine    one per PE: the service worker, and the thread that serves when no other does
//	Channel   an ordering and completion domain: an origin worker, used under the channel's lock
//	lane      what a channel has with one PE: a buffer, sequence numbers, an endpoint made on first use
//
// Who makes progress. The service worker is served by a C thread that never enters Go, so a target that
// computes, collects garbage or is stopped by its debugger's breakpoint in Go is still read and written.
// A thread that waits (Quiet, Get, Fetch, WaitWord) does the work itself, for its own channel and for
// requests to this PE; the service thread then only ticks every 100 µs, and takes over when it
// finds that no thread has served since. What a channel has gathered leaves at the latest at that
// thread's second tick.
//
// Memory is bounded: a lane has at most 8 MiB of unacknowledged messages and 4 MiB of unanswered gets.
//
// Everything is in C but the appending of small operations, which is Go so that it crosses no border.
package engine
