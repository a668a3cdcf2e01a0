package pgas

// What reports of a job say of a PE that waits for coherent memory (package dsm): the release or the fetch, the block and
// its elements, and the PE that is waited for, instead of a word or of messages that the program knows nothing of.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// CoherentWait is what a wait of package dsm is part of.
type CoherentWait struct {
	Release  bool   // of blocks that this PE has written; otherwise a fetch
	Block    int    // the first one that is waited for
	PE       int    // that is waited for, or -1 if it is not known
	Elements string // what the block holds
}

// WithCoherentWait returns a context derived from ctx. While a wait with it is blocked, reports show what why returns, or
// the wait itself where why returns false. why is called by the goroutine that waits, when the wait does not end at once,
// and must not block.
func WithCoherentWait(ctx context.Context, why func() (CoherentWait, bool)) context.Context {
	return node.WithPurpose(ctx, func() (node.Blocked, bool) {
		w, ok := why()
		op := boot.InFetch
		if w.Release {
			op = boot.InRelease
		}
		return node.Blocked{Op: op, Peer: w.PE, Seq: uint64(w.Block), Name: w.Elements}, ok
	})
}
