package pgas

import "context"

// A Hint says how an allocation will be used. Hints change no meaning: every allocation serves every use.

type Hint uint8

// The hints of the specification.
const (
	// AtomicsRemote: most accesses are atomics of other PEs (OpenSHMEM 1.6, SHMEM_MALLOC_ATOMICS_REMOTE).
	AtomicsRemote Hint = 1 << iota
	// SignalRemote: it holds signals that other PEs update (OpenSHMEM 1.6, SHMEM_MALLOC_SIGNAL_REMOTE).
	SignalRemote
)

// AllocHints allocates as AllocRaw does, with hints. This runtime has one kind of memory, so hints change
// nothing, and unknown ones are ignored (OpenSHMEM 1.6, shmem_malloc_with_hints).
func AllocHints[T any](ctx context.Context, w *World, n int, hints Hint) (Sym[T], error) {
	return AllocRaw[T](ctx, w, n)
}
