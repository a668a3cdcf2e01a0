package shm

// StoreFence orders every store and atomic operation before it before every store and atomic operation after it, for
// all observers. On amd64 no instruction is needed: a CPU's stores become visible in program order, the locked ones
// with them. (Copies that go past the caches end with a fence of their own.) The Go compiler keeps the order of stores.
func StoreFence() {}
