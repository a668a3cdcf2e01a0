package symheap

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

// FuzzHeap drives the allocator with a sequence of requests and holds it against a byte map: blocks
// never overlap, stay inside, are aligned; memory that is given back merges again; and two copies of
// the allocator stay equal, which is what the heaps of the PEs rely on.
func FuzzHeap(f *testing.F) {
	f.Add([]byte{1, 200, 3, 0, 40, 0x81, 5, 0x80})
	f.Add([]byte{255, 255, 0x80, 255, 9, 9, 9, 0x81, 0x80})
	f.Fuzz(func(t *testing.T, script []byte) {
		const size = 1 << 16
		const limit = boot.ReservedBytes + size
		h, twin := New(limit), New(limit)
		owner := make([]int, size)
		var blocks []span
		for step, b := range script {
			if b&0x80 != 0 && len(blocks) > 0 {
				i := int(b&0x7f) % len(blocks)
				s := blocks[i]
				blocks = append(blocks[:i], blocks[i+1:]...)
				paint(t, owner, s, 0)
				h.Release(s.off)
				twin.Release(s.off)
				continue
			}
			n, align := uint64(b&0x7f)*37+1, uint64(1)<<(b%13)
			off, ok := h.Alloc(n, align)
			if off2, ok2 := twin.Alloc(n, align); off != off2 || ok != ok2 {
				t.Fatalf("step %d: two allocators disagree: %d %v, %d %v", step, off, ok, off2, ok2)
			}
			if !ok {
				continue
			}
			if off%align != 0 || off%minAlign != 0 {
				t.Fatalf("step %d: offset %d is not aligned to %d", step, off, align)
			}
			s := span{off, roundUp(n, minAlign)}
			paint(t, owner, s, step+1)
			blocks = append(blocks, s)
		}
		checkFree(t, h, owner, len(blocks))
		for _, s := range blocks {
			h.Release(s.off)
		}
		if len(h.free) != 1 || h.free[0] != (span{boot.ReservedBytes, size}) || h.Usage.InUse != 0 {
			t.Fatalf("after everything was released: free %v, usage %+v", h.free, h.Usage)
		}
	})
}

func paint(t *testing.T, owner []int, s span, who int) {
	t.Helper()
	for i := s.off - boot.ReservedBytes; i < s.off-boot.ReservedBytes+s.n; i++ {
		if i >= uint64(len(owner)) || (who != 0 && owner[i] != 0) {
			t.Fatalf("block %v overlaps another or leaves the heap at %d", s, i)
		}
		owner[i] = who
	}
}

func checkFree(t *testing.T, h *Heap, owner []int, blocks int) {
	t.Helper()
	var used uint64
	for _, who := range owner {
		if who != 0 {
			used++
		}
	}
	if h.Usage.InUse != used || h.Usage.Blocks != blocks {
		t.Fatalf("usage %+v, but %d bytes in %d blocks are used", h.Usage, used, blocks)
	}
	for i, s := range h.free {
		if s.n == 0 || i > 0 && h.free[i-1].off+h.free[i-1].n >= s.off {
			t.Fatalf("free spans %v are empty, out of order or touch", h.free)
		}
		for at := s.off; at < s.off+s.n; at++ {
			if owner[at-boot.ReservedBytes] != 0 {
				t.Fatalf("byte %d is both free and used", at)
			}
		}
	}
}
