package dsm

// Classified: the protocol of ArgoDSM (S. Kaxiras et al.: "Turning Centralized Coherence and Distributed Critical-Section
// Execution on their Head", 2015). A PE drops copies at each acquire without being told, but keeps those of blocks that
// no other PE has ever written. Bitmaps of readers and writers on the block's home, PE b mod n, tell the classes. The
// first release of a PE that changes a class tells the PEs that have copies.
//
// A reader enters the bitmap of readers and then looks at the writers; a writer enters the bitmap of writers and then
// looks at the readers. So one of the two sees the other.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

type classified struct {
	*Region
	readers pgas.AtomicSlice[uint64] // of the home: a bitmap of PEs for each block
	writers pgas.AtomicSlice[uint64]
	shared  pgas.AtomicSlice[uint64] // of each PE: the blocks that other PEs write
	writes  []bool                   // by block: this PE is in the bitmap of writers
}

func (r *Region) openClassified(ctx context.Context) (*classified, error) {
	n := int(r.blocks) * r.wordsOfPEs()
	all, err := allocate[uint64](ctx, r, 2*n+r.wordsOfBlocks())
	if err != nil {
		return nil, err
	}
	part := func(lo, hi int) pgas.AtomicSlice[uint64] { return pgas.AtomicsOf(all.Range(lo, hi)).On(r.ctx) }
	return &classified{
		Region: r, readers: part(0, n), writers: part(n, 2*n), shared: part(2*n, 2*n+r.wordsOfBlocks()),
		writes: make([]bool, r.blocks),
	}, nil
}

// zeroAtFirst reports false: a PE that has a copy is in the bitmap of readers.
func (p *classified) zeroAtFirst() bool { return false }

func (p *classified) fetch(list []*fetch) {
	r := p.Region
	n := r.wordsOfPEs()
	for _, f := range list {
		i, bit := r.mine(f.b)
		f.home, f.rts = int32(r.homeOf(f.b)), forever
		p.readers.At(i).FetchOrNB(int(f.home), bit, &f.version)
	}
	r.mustQuiet()
	writers := make([]uint64, n*len(list))
	for k, f := range list {
		p.writers.Range(int(f.b)*n, int(f.b+1)*n).FetchNB(int(f.home), writers[k*n:(k+1)*n])
	}
	r.mustQuiet()
	for k, f := range list {
		p.noteWriters(f.b, writers[k*n:(k+1)*n])
	}
	r.stats.count(&r.stats.SlowReads, uint64(len(list)))
	r.get(list)
}

// noteWriters records whether PEs of a bitmap other than this one write block b.
func (p *classified) noteWriters(b int32, writers []uint64) {
	for i, word := range writers {
		if i == p.me/64 {
			word &^= 1 << (p.me % 64)
		}
		if word != 0 {
			p.shared.At(int(b)/64).Or(p.me, 1<<(b%64))
		}
	}
}

func (p *classified) release(_ context.Context, list []int32) error {
	r := p.Region
	for _, b := range list {
		r.putChanges(b, int32(r.homeOf(b)))
	}
	r.mustQuiet()
	var first []int32
	for _, b := range list {
		if !p.writes[b] {
			p.writes[b] = true
			first = append(first, b)
			i, bit := r.mine(b)
			p.writers.At(i).Or(r.homeOf(b), bit)
		}
		r.cache.settle(b)
	}
	r.mustQuiet()
	p.tellClass(first)
	return nil
}

// tellClass tells the readers and writers of blocks that this PE writes them now, and itself if others do.
func (p *classified) tellClass(first []int32) {
	r := p.Region
	n := r.wordsOfPEs()
	readers, writers := make([]uint64, n*len(first)), make([]uint64, n*len(first))
	for k, b := range first {
		p.readers.Range(int(b)*n, int(b+1)*n).FetchNB(r.homeOf(b), readers[k*n:(k+1)*n])
		p.writers.Range(int(b)*n, int(b+1)*n).FetchNB(r.homeOf(b), writers[k*n:(k+1)*n])
	}
	r.mustQuiet()
	for k, b := range first {
		p.noteWriters(b, writers[k*n:(k+1)*n])
		r.tell(p.shared, b, readers[k*n:(k+1)*n])
		r.tell(p.shared, b, writers[k*n:(k+1)*n])
	}
	r.mustQuiet()
}

func (p *classified) acquire(notices) {
	r := p.Region
	shared := make([]uint64, p.shared.Len())
	p.shared.FetchNB(r.me, shared)
	r.mustQuiet()
	r.cache.dropAll(func(b int32) bool { return shared[b/64]>>(b%64)&1 != 0 })
}
