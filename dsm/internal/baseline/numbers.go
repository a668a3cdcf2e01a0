package baseline

// Numbers that goroutines of a PE share.

import "sync/atomic"

// versionNumbers are numbers by block that fetches of any goroutine and fences set.
type versionNumbers []atomic.Uint64

func (v versionNumbers) get(b int32) uint64    { return v[b].Load() }
func (v versionNumbers) set(b int32, n uint64) { v[b].Store(n) }
