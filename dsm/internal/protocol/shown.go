package protocol

// What reports of the job say while this PE waits in a release or a fetch: the block, its elements, and the PE that has
// what is waited for. A release or a fetch notes it in one word before its messages go out; a wait that does not end at
// once reads the word, so what does not block pays a store. Where goroutines of a PE fetch and release at once, reports
// show one of them, as with all waits.

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/hook"
)

// shown is what this PE may be waiting for: zero, or a block, a PE, and whether it is a release.
type shown struct{ word atomic.Uint64 }

const (
	shownPEs     = 30 // bits of a PE
	shownRelease = uint64(1) << 62
	shownFetch   = uint64(1) << 63
)

// set notes that this PE may wait for block b of pe.
func (s *shown) set(kind uint64, b, pe int32) {
	s.word.Store(kind | uint64(uint32(b))<<shownPEs | uint64(pe))
}

// clear notes that what is of this kind is over.
func (s *shown) clear(kind uint64) {
	if word := s.word.Load(); word&kind != 0 {
		s.word.CompareAndSwap(word, 0)
	}
}

// shows returns a context derived from ctx for the waits of the protocol. elements names the elements of a block.
func (s *shown) shows(ctx context.Context, elements func(block int) string) context.Context {
	return hook.WithCoherentWait(ctx, func() (w hook.CoherentWait, ok bool) {
		word := s.word.Load()
		w.Release, w.PE = word&shownRelease != 0, int(word&(1<<shownPEs-1))
		w.Block = int(word &^ (shownRelease | shownFetch) >> shownPEs)
		if word != 0 {
			w.Elements = elements(w.Block)
		}
		return w, word != 0
	})
}
