//go:build cgo && linux

package pager

import (
	"os"
	"testing"
)

// A PE that reads more blocks than Config.Keep has memory for those alone and for pinned ones, and reads what is right.
// Pinned blocks are not fetched again.
func TestKeep(t *testing.T) { inBothForms(t, testKeep) }

func testKeep(t *testing.T, faults Faults) {
	const blocks, keep = 40, 4
	for _, far := range []bool{false, true} {
		j := open(t, setup{faults: faults, pes: 2, block: 2 * os.Getpagesize(), blocks: blocks, remote: far, keep: keep})
		writer, p, per := j.pe[0], j.pe[1], j.block/8
		for b := range blocks {
			writer.words()[b*per] = hash(b, 1)
		}
		j.barrier(false)
		read := func(lo, hi int) {
			for b := lo; b < hi; b++ {
				if got := p.words()[b*per]; got != hash(b, 1) {
					t.Fatalf("block %d has %#x, want %#x", b, got, hash(b, 1))
				}
			}
		}
		fetched := func() uint64 { s := p.Stats(); return s.Fast + s.Slow }
		p.Pin(0, 2, true)
		for range 3 {
			read(0, blocks)
		}
		before := fetched()
		read(0, 2)
		if n := fetched() - before; n != 0 {
			t.Errorf("pinned blocks were fetched again %d times", n)
		}
		read(2, 3)
		if n := fetched() - before; n != 1 {
			t.Errorf("a block that had been evicted was fetched %d times", n)
		}
		p.acquire(nil, 0) // the end of an acquire evicts, too: the pager may still be at it after the last fault
		if got, most := p.Resident(), (keep+1)*j.block; got > most || got < 2*j.block {
			t.Errorf("the copies take %d bytes, want 2 to %d blocks of %d", got, keep+1, j.block)
		}
		p.Pin(0, 2, false)
		read(2, blocks)
		before = fetched()
		read(0, 2)
		if n := fetched() - before; n != 2 {
			t.Errorf("two blocks that are pinned no more were fetched %d times", n)
		}
		if p.Stats().Evicted == 0 {
			t.Error("no eviction was counted")
		}
	}
}

// Blocks with changes keep their pages until they have been released.
func TestKeepDirty(t *testing.T) { inBothForms(t, testKeepDirty) }

func testKeepDirty(t *testing.T, faults Faults) {
	const blocks, keep = 16, 2
	j := open(t, setup{faults: faults, pes: 2, block: os.Getpagesize(), blocks: blocks, keep: keep})
	p, per := j.pe[1], j.block/8
	for b := range blocks {
		p.words()[b*per+1] = hash(b, 2)
	}
	if got := p.Resident(); got < blocks*j.block {
		t.Errorf("%d dirty blocks take %d bytes", blocks, got)
	}
	j.barrier(false)
	if got := p.Resident(); got > (keep+1)*j.block {
		t.Errorf("after their release %d bytes are kept, more than %d blocks", got, keep+1)
	}
	for b := range blocks {
		if got := p.words()[b*per+1]; got != hash(b, 2) {
			t.Errorf("block %d has %#x after its release and eviction, want %#x", b, got, hash(b, 2))
		}
	}
}
