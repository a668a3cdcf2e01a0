package dsmbench

// Page faults and views. The last PE overwrites all blocks, and after a barrier PE 0 touches a byte of each, beside
// Gets of as many bytes of the last PE's symmetric memory.

import (
	"fmt"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

// faultBlocks is the number of blocks of a round.
const faultBlocks = 64

// bulkBytes is the length of a View.
const bulkBytes = 16 << 20

// blocksOf is a region with one array, and symmetric memory of the same length.
type blocksOf struct {
	m      *meter
	block  int
	n      int // the number of blocks
	region *dsm.Region
	array  dsm.Array[byte]
	beside pgas.Sym[byte]
	into   []byte
}

// open opens a region of n blocks in a mode. It is collective.
func (m *meter) open(block, n, notices int, mode dsm.Mode) (*blocksOf, error) {
	r, err := dsm.Open(m.ctx, m.w, dsm.Options{Bytes: uint64(n * block), Block: block, Notices: notices, Mode: mode})
	if err != nil {
		return nil, err
	}
	b := &blocksOf{m: m, block: block, n: n, region: r, into: make([]byte, n*block)}
	if b.array, err = dsm.Alloc[byte](m.ctx, r, n*block); err != nil {
		return nil, err
	}
	b.beside, err = pgas.Alloc[byte](m.ctx, m.w, n*block)
	return b, err
}

func (b *blocksOf) close() error {
	if err := b.beside.Free(b.m.ctx); err != nil {
		return err
	}
	return b.region.Close(b.m.ctx)
}

// mark is the byte of a round. It differs from that of the round before and is not zero.
func mark(round int) byte { return byte(1 + round%250) }

// written has the last PE write every byte of all blocks.
func (b *blocksOf) written(round int) error {
	if b.m.last {
		all := b.array.Overwrite(0, b.array.Len())
		for i := range all {
			all[i] = mark(round)
		}
	}
	return nil
}

// get gets as many bytes as there are blocks, one Get for each.
func (b *blocksOf) get(int) error {
	for i := range b.n {
		b.beside.Range(i*b.block, (i+1)*b.block).Get(b.m.partner, b.into[i*b.block:(i+1)*b.block])
	}
	return nil
}

// touch reads a byte of each block, and compares it with what was written.
func (b *blocksOf) touch(round int) error {
	all := b.array.Slice()
	for i := range b.n {
		if got := all[i*b.block+i%b.block]; got != mark(round) {
			return fmt.Errorf("block %d has %d instead of %d in round %d", i, got, mark(round), round)
		}
	}
	return nil
}

// store writes a byte of each block.
func (b *blocksOf) store(round int) error {
	all := b.array.Slice()
	for i := range b.n {
		all[i*b.block+i%b.block] = mark(round + 1)
	}
	return nil
}

// faults measures operate on blocks that the last PE has written.
func (m *meter) faults(block, notices int, trial func(b *blocksOf) trial) error {
	b, err := m.open(block, faultBlocks, notices, dsm.Paged)
	if err != nil {
		return err
	}
	t := trial(b)
	t.block, t.region, t.ops, t.prepare, t.beside = block, b.region, b.n, b.written, b.get
	if err := m.measure(t); err != nil {
		return err
	}
	return b.close()
}

func readFault(m *meter, block int) error {
	return m.faults(block, 4*faultBlocks, func(b *blocksOf) trial { return trial{operate: b.touch} })
}

func slowRead(m *meter, block int) error {
	return m.faults(block, -1, func(b *blocksOf) trial { return trial{operate: b.touch} })
}

func writeFault(m *meter, block int) error {
	return m.faults(block, 4*faultBlocks, func(b *blocksOf) trial { return trial{operate: b.store} })
}

func upgrade(m *meter, block int) error {
	return m.faults(block, 4*faultBlocks, func(b *blocksOf) trial { return trial{before: b.touch, operate: b.store} })
}

// view measures View of many blocks at once, beside one Get of as many bytes.
func view(m *meter, block int) error {
	n := bulkBytes / block
	b, err := m.open(block, n, 2*n, dsm.Paged)
	if err != nil {
		return err
	}
	t := trial{
		block: block, region: b.region, ops: 1, prepare: b.written,
		operate: func(round int) error {
			all := b.array.View(0, b.array.Len())
			if got := all[len(all)-1]; got != mark(round) {
				return fmt.Errorf("the last byte is %d instead of %d", got, mark(round))
			}
			return nil
		},
		beside: func(int) error {
			b.beside.All().Get(m.partner, b.into)
			return nil
		},
	}
	if err := m.measure(t); err != nil {
		return err
	}
	return b.close()
}
