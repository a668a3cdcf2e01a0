//go:build cgo

package ucp

import (
	"bytes"
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// blocks is a random strided transfer that fits the heap and the source.
func (s *script) blocks() (off uint64, b transport.Blocks) {
	sizes := []int{1, 2, 3, 4, 8, 8, 16, 24, 100, 1000, 4096, 4097, 8192, 8193, 70000}
	b.Bytes = sizes[s.r.IntN(len(sizes))]
	b.Here = b.Bytes + s.r.IntN(2)*s.r.IntN(40)
	b.There = b.Bytes + s.r.IntN(2)*s.r.IntN(40)
	most := int(s.size) - b.Bytes
	b.Count = 1 + s.r.IntN(1+min(most/max(b.Here, b.There), 300_000/b.Bytes))
	return s.r.Uint64N(s.size - uint64((b.Count-1)*b.There+b.Bytes)), b
}

// blockOf is block i of those from off on, step bytes apart.
func blockOf(p []byte, off uint64, i, step, n int) []byte { return p[int(off)+i*step:][:n] }

func (s *script) putBlocks() {
	off, b := s.blocks()
	src := s.fill(uint64((b.Count-1)*b.Here + b.Bytes))
	for i := range b.Count {
		copy(blockOf(s.shadow, off, i, b.There, b.Bytes), blockOf(src, 0, i, b.Here, b.Bytes))
		s.wrote(off+uint64(i*b.There), uint64(b.Bytes))
	}
	s.c.(transport.Strider).PutBlocks(s.pe, off, src, b)
	clear(src) // it may be reused on return
}

func (s *script) getBlocks(ctx context.Context) {
	off, b := s.blocks()
	got := bytes.Repeat([]byte{0xaa}, (b.Count-1)*b.Here+b.Bytes)
	want := bytes.Clone(got)
	for i := range b.Count {
		copy(blockOf(want, 0, i, b.Here, b.Bytes), blockOf(s.shadow, off, i, b.There, b.Bytes))
	}
	if err := s.c.(transport.Strider).GetBlocks(ctx, s.pe, got, off, b); err != nil || !bytes.Equal(got, want) {
		s.t.Fatalf("get of %+v at %d differs (%v)", b, off, err)
	}
}

func (s *script) getBlocksNB() {
	off, b := s.blocks()
	b.Here = b.There // so that the destination is an image of the heap
	n := (b.Count-1)*b.There + b.Bytes
	g := pendingGet{off, make([]byte, n), make([]byte, n), make([]bool, n)}
	for i := range b.Count {
		copy(blockOf(g.want, 0, i, b.There, b.Bytes), blockOf(s.shadow, off, i, b.There, b.Bytes))
	}
	s.c.(transport.Strider).GetBlocksNB(s.pe, g.got, off, b)
	s.gets = append(s.gets, g)
}

var _ transport.Strider = (*channel)(nil)
