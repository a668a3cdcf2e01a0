package baseline

// Fixed homes: PE b mod n keeps the master copy of block b.

import (
	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/pgas"
)

// homes are a State whose blocks have fixed homes.
type homes struct{ *protocol.State }

// masterOf returns the master copy of block b.
func (h homes) masterOf(b int32) pgas.Slice[byte] {
	return h.Source.Range(int(b)*h.Block, (int(b)+1)*h.Block)
}

// putChanges puts the bytes that this PE has changed in block b into the home's master copy. The puts are on their way
// when it returns. It reports whether all bytes have been put.
func (h homes) putChanges(b, prev int32) (full bool) {
	first, last := -1, -1
	home, master := h.HomeOf(b), h.masterOf(b)
	h.Cache.Changes(b, func(at int, bytes []byte) {
		master.Range(at, at+len(bytes)).Put(home, bytes)
		if first < 0 {
			first = at
		}
		last = at + len(bytes) - 1
		full = full || len(bytes) == h.Block
	})
	h.countRelease(b, prev, first, last)
	return full
}

// countRelease counts a release of block b. This PE has changed the bytes of the block from first to last.
func (h homes) countRelease(b, prev int32, first, last int) {
	h.Counters.Released(b, prev, int32(h.Me), first, last)
	if h.HomeOf(b) == h.Me {
		h.Counters.FastReleases.Add(1)
	} else {
		h.Counters.Moves.Add(1)
	}
}
