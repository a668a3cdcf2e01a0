package baseline

// Classified: the protocol of ArgoDSM (S. Kaxiras et al.: "Turning Centralized Coherence and Distributed
// Critical-Section Execution on their Head", 2015). A PE drops copies at each acquire without being told, but keeps
// those of blocks that no other PE has ever written. Bitmaps of readers and writers on the block's home, PE b mod n,
// tell the classes. The first release of a PE that changes a class tells the PEs that have copies.
//
// A reader enters the bitmap of readers and then looks at the writers; a writer enters the bitmap of writers and then
// looks at the readers. So one of the two sees the other.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/pgas"
)

type classified struct {
	homes
	readers pgas.AtomicSlice[uint64] // at the home, a bitmap of PEs for each block
	writers pgas.AtomicSlice[uint64]
	shared  pgas.AtomicSlice[uint64] // at each PE, the blocks that other PEs write
	writes  []bool                   // for each block, this PE is in the bitmap of writers
}

// openClassified allocates the bitmaps of a classified.
func openClassified(ctx context.Context, h homes) (*classified, error) {
	n := int(h.Blocks) * h.wordsOfPEs()
	all, err := protocol.Alloc[uint64](ctx, h.State, 2*n+h.wordsOfBlocks())
	if err != nil {
		return nil, err
	}
	part := func(lo, hi int) pgas.AtomicSlice[uint64] { return pgas.AtomicsOf(all.Range(lo, hi)).On(h.Context) }
	return &classified{
		homes: h, readers: part(0, n), writers: part(n, 2*n), shared: part(2*n, 2*n+h.wordsOfBlocks()),
		writes: make([]bool, h.Blocks),
	}, nil
}

func (p *classified) Fetch(list []*protocol.Fetch) {
	h := p.homes
	n := h.wordsOfPEs()
	for _, f := range list {
		i, bit := h.mine(f.Block)
		f.Home, f.RTS = int32(h.HomeOf(f.Block)), forever
		p.readers.At(i).FetchOrNB(int(f.Home), bit, &f.Version)
	}
	h.MustQuiet()
	writers := make([]uint64, n*len(list))
	for k, f := range list {
		p.writers.Range(int(f.Block)*n, int(f.Block+1)*n).FetchNB(int(f.Home), writers[k*n:(k+1)*n])
	}
	h.MustQuiet()
	for k, f := range list {
		p.noteWriters(f.Block, writers[k*n:(k+1)*n])
	}
	h.Counters.SlowReads.Add(uint64(len(list)))
	h.Get(list)
}

// noteWriters records whether PEs of a bitmap other than this one write block b.
func (p *classified) noteWriters(b int32, writers []uint64) {
	for i, word := range writers {
		if i == p.Me/64 {
			word &^= 1 << (p.Me % 64)
		}
		if word != 0 {
			p.shared.At(int(b)/64).Or(p.Me, 1<<(b%64))
		}
	}
}

func (p *classified) Release(_ context.Context, list []int32) error {
	h := p.homes
	for _, b := range list {
		h.putChanges(b, int32(h.HomeOf(b)))
	}
	h.MustQuiet()
	var first []int32
	for _, b := range list {
		if !p.writes[b] {
			p.writes[b] = true
			first = append(first, b)
			i, bit := h.mine(b)
			p.writers.At(i).Or(h.HomeOf(b), bit)
		}
		h.Cache.Settle(b)
	}
	h.MustQuiet()
	p.tellClass(first)
	return nil
}

// tellClass tells the readers and writers of blocks that this PE writes them now, and itself if others do.
func (p *classified) tellClass(first []int32) {
	h := p.homes
	n := h.wordsOfPEs()
	readers, writers := make([]uint64, n*len(first)), make([]uint64, n*len(first))
	for k, b := range first {
		p.readers.Range(int(b)*n, int(b+1)*n).FetchNB(h.HomeOf(b), readers[k*n:(k+1)*n])
		p.writers.Range(int(b)*n, int(b+1)*n).FetchNB(h.HomeOf(b), writers[k*n:(k+1)*n])
	}
	h.MustQuiet()
	for k, b := range first {
		p.noteWriters(b, writers[k*n:(k+1)*n])
		h.tell(p.shared, b, readers[k*n:(k+1)*n])
		h.tell(p.shared, b, writers[k*n:(k+1)*n])
	}
	h.MustQuiet()
}

func (p *classified) Acquire(protocol.Notices) {
	h := p.homes
	shared := make([]uint64, p.shared.Len())
	p.shared.FetchNB(h.Me, shared)
	h.MustQuiet()
	h.Cache.DropAll(func(b int32) bool { return shared[b/64]>>(b%64)&1 != 0 })
}
