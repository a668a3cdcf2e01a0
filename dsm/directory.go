package dsm

// Directory: the baseline that MENPS is compared with. The home of block b, PE b mod n, has a bitmap of the PEs that have
// copies. A release puts what it has changed into the home's master copy, takes the bitmap, and sets a bit for the block
// in a bitmap on each of those PEs, which looks through its bitmap at its next acquire. There are no notices and no
// leases.
//
// A reader enters the bitmap before it fetches, and a releaser takes the bitmap after it has put: the reader has the new
// bytes, or the releaser tells it.

import (
	"context"
	"math/bits"

	"github.com/gopgas/gopgas/pgas"
)

// forever is the lease of copies that only messages invalidate.
const forever = closed - 1

type directory struct {
	*Region
	sharers pgas.AtomicSlice[uint64] // of the home: a bitmap of PEs for each block
	stale   pgas.AtomicSlice[uint64] // of each PE: a bitmap of blocks
}

// wordsOfPEs is the length of a bitmap of PEs.
func (r *Region) wordsOfPEs() int { return (r.n + 63) / 64 }

// wordsOfBlocks is the length of a bitmap of blocks.
func (r *Region) wordsOfBlocks() int { return (int(r.blocks) + 63) / 64 }

func (r *Region) openDirectory(ctx context.Context) (*directory, error) {
	sharers, err := allocate[uint64](ctx, r, int(r.blocks)*r.wordsOfPEs())
	if err != nil {
		return nil, err
	}
	stale, err := allocate[uint64](ctx, r, r.wordsOfBlocks())
	if err != nil {
		return nil, err
	}
	return &directory{r, pgas.AtomicsOf(sharers.All()).On(r.ctx), pgas.AtomicsOf(stale.All()).On(r.ctx)}, nil
}

// mine returns the word of a bitmap of PEs that has this PE's bit, and the bit.
func (r *Region) mine(b int32) (i int, bit uint64) {
	return int(b)*r.wordsOfPEs() + r.me/64, 1 << (r.me % 64)
}

// zeroAtFirst reports false: a PE that has a copy is in the bitmap.
func (p *directory) zeroAtFirst() bool { return false }

func (p *directory) fetch(list []*fetch) {
	r := p.Region
	for _, f := range list {
		i, bit := r.mine(f.b)
		f.home, f.rts = int32(r.homeOf(f.b)), forever
		p.sharers.At(i).FetchOrNB(int(f.home), bit, &f.version)
	}
	r.mustQuiet()
	r.stats.count(&r.stats.SlowReads, uint64(len(list)))
	r.get(list)
}

func (p *directory) release(_ context.Context, list []int32) error {
	r := p.Region
	for _, b := range list {
		i, bit := r.mine(b)
		p.sharers.At(i).Or(r.homeOf(b), bit) // it may have overwritten the block without fetching it
		r.putChanges(b, int32(r.homeOf(b)))
	}
	r.mustQuiet()
	n := r.wordsOfPEs()
	old := make([]uint64, n*len(list))
	for k, b := range list {
		own, bit := r.mine(b)
		for i := range n {
			keep := uint64(0)
			if int(b)*n+i == own {
				keep = bit
			}
			p.sharers.At(int(b)*n+i).FetchAndNB(r.homeOf(b), keep, &old[k*n+i])
		}
	}
	r.mustQuiet()
	for k, b := range list {
		r.tell(p.stale, b, old[k*n:(k+1)*n])
		r.cache.settle(b)
	}
	r.mustQuiet()
	return nil
}

// tell sets the bit of block b on each PE of a bitmap but this one.
func (r *Region) tell(blocks pgas.AtomicSlice[uint64], b int32, pes []uint64) {
	for i, word := range pes {
		for ; word != 0; word &= word - 1 {
			if pe := 64*i + bits.TrailingZeros64(word); pe != r.me {
				blocks.At(int(b)/64).Or(pe, 1<<(b%64))
			}
		}
	}
}

func (p *directory) acquire(notices) {
	r := p.Region
	for i := range p.stale.Len() {
		if p.stale.At(i).Fetch(r.me) == 0 {
			continue
		}
		for word := p.stale.At(i).Swap(r.me, 0); word != 0; word &= word - 1 {
			b := int32(64*i + bits.TrailingZeros64(word))
			r.cache.drop(b, int32(r.homeOf(b)), 0)
			r.stats.count(&r.stats.Invalidated, 1)
		}
	}
	r.cache.expire(r.now)
}
