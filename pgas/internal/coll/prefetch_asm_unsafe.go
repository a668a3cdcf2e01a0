//go:build amd64 || arm64

package coll

import "unsafe"

// prefetchToWrite has the cache line at p come to this CPU, for a store that follows. Nothing waits for it: not the
// store, and not a fence before that.
//
//go:noescape
func prefetchToWrite(p unsafe.Pointer)
