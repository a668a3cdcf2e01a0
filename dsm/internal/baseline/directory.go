package baseline

// Directory: the baseline that MENPS is compared with. The home of block b, PE b mod n, has a bitmap of the PEs that
// have copies. A release puts what it has changed into the home's master copy, takes the bitmap, and sets a bit for the
// block in a bitmap on each of those PEs, which looks through its bitmap at its next acquire. There are no notices and
// no leases.
//
// A reader enters the bitmap before it fetches, and a releaser takes the bitmap after it has put: the reader has the
// new bytes, or the releaser tells it.

import (
	"context"
	"math/bits"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/pgas"
)

// forever is the lease of copies that only messages invalidate.
const forever = protocol.Closed - 1

type directory struct {
	homes
	sharers pgas.AtomicSlice[uint64] // at the home, a bitmap of PEs for each block
	stale   pgas.AtomicSlice[uint64] // at each PE, a bitmap of blocks
}

// openDirectory allocates the bitmaps of a directory.
func openDirectory(ctx context.Context, h homes) (*directory, error) {
	sharers, err := protocol.Alloc[uint64](ctx, h.State, int(h.Blocks)*h.wordsOfPEs())
	if err != nil {
		return nil, err
	}
	stale, err := protocol.Alloc[uint64](ctx, h.State, h.wordsOfBlocks())
	if err != nil {
		return nil, err
	}
	return &directory{h, pgas.AtomicsOf(sharers.All()).On(h.Context), pgas.AtomicsOf(stale.All()).On(h.Context)}, nil
}

func (p *directory) Fetch(list []*protocol.Fetch) {
	h := p.homes
	for _, f := range list {
		i, bit := h.mine(f.Block)
		f.Home, f.RTS = int32(h.HomeOf(f.Block)), forever
		p.sharers.At(i).FetchOrNB(int(f.Home), bit, &f.Version)
	}
	h.MustQuiet()
	h.Counters.SlowReads.Add(uint64(len(list)))
	h.Get(list)
}

func (p *directory) Release(_ context.Context, list []int32) error {
	h := p.homes
	for _, b := range list {
		i, bit := h.mine(b)
		p.sharers.At(i).Or(h.HomeOf(b), bit) // it may have overwritten the block without fetching it
		h.putChanges(b, int32(h.HomeOf(b)))
	}
	h.MustQuiet()
	n := h.wordsOfPEs()
	old := make([]uint64, n*len(list))
	for k, b := range list {
		own, bit := h.mine(b)
		for i := range n {
			keep := uint64(0)
			if int(b)*n+i == own {
				keep = bit
			}
			p.sharers.At(int(b)*n+i).FetchAndNB(h.HomeOf(b), keep, &old[k*n+i])
		}
	}
	h.MustQuiet()
	for k, b := range list {
		h.tell(p.stale, b, old[k*n:(k+1)*n])
		h.Cache.Settle(b)
	}
	h.MustQuiet()
	return nil
}

func (p *directory) Acquire(protocol.Notices) {
	h := p.homes
	for i := range p.stale.Len() {
		if p.stale.At(i).Fetch(h.Me) == 0 {
			continue
		}
		for word := p.stale.At(i).Swap(h.Me, 0); word != 0; word &= word - 1 {
			b := int32(64*i + bits.TrailingZeros64(word))
			h.Cache.Drop(b, int32(h.HomeOf(b)), 0)
			h.Counters.Invalidated.Add(1)
		}
	}
	h.Cache.Expire(h.Now)
}
