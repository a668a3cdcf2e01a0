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
// When a put returns, its source may be reused, and nothing more is known; PutNB of a slice says when its
// source may be. Fence orders what was issued before it against what comes after, for each target PE by
// itself. Quiet returns when everything issued is complete and visible at its target. Barrier is a Quiet
// of the default context on every PE, then a meeting of all of them. A Context is an ordering domain of
// its own: fences and quiets of one say nothing about another.
//
// # Waiting
//
// Only atomic words and signals can be waited for, and a Short, by polling at intervals. A plain put wakes no
// waiter, so a flag is a field tagged `pgas:"atomic"`, or better a Signal.
//
// # Errors
//
// Misuse panics with *UsageError, as a slice index out of range does. What can block takes a
// context.Context and returns an error. Operations that return nothing report a dead peer through the
// next call that blocks, as *PeerError.
package pgas
