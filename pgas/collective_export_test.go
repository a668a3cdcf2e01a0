package pgas

// What tests of collectives change: how many CPUs and how much cache a PE believes its host to have.

// SetCrowded makes the PE behave as if its host had a CPU for each PE, or not. Every PE calls it between the same calls.
func SetCrowded(w *World, crowded bool) { w.n.Dedicated = !crowded }

// SetCacheBytes makes the PE behave as if the last cache had that size. Every PE calls it between the same calls.
func SetCacheBytes(w *World, n int) { w.n.CacheBytes = n }
