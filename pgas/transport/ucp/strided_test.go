//go:build cgo

package ucp

import (
	"bytes"
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// blocks is a random strided transfer that fits the heap and the source.
func (s *script) blocks() (off uint64, b transport.Strided) {
	sizes := []int{1, 2, 3, 4, 8, 8, 16, 24, 100, 1000, 4096, 4097, 8192, 8193, 70000}
	b.BlockBytes = sizes[s.r.IntN(len(sizes))]
	b.LocalStride = b.BlockBytes + s.r.IntN(2)*s.r.IntN(40)
	b.RemoteStride = b.BlockBytes + s.r.IntN(2)*s.r.IntN(40)
	most := int(s.size) - b.BlockBytes
	b.Count = 1 + s.r.IntN(1+min(most/max(b.LocalStride, b.RemoteStride), 300_000/b.BlockBytes))
	return s.r.Uint64N(s.size - uint64((b.Count-1)*b.RemoteStride+b.BlockBytes)), b
}

// blockOf is block i of those from off on, step bytes apart.
func blockOf(p []byte, off uint64, i, step, n int) []byte { return p[int(off)+i*step:][:n] }

func (s *script) putBlocks() {
	off, b := s.blocks()
	src := s.fill(uint64((b.Count-1)*b.LocalStride + b.BlockBytes))
	for i := range b.Count {
		copy(blockOf(s.shadow, off, i, b.RemoteStride, b.BlockBytes), blockOf(src, 0, i, b.LocalStride, b.BlockBytes))
		s.wrote(off+uint64(i*b.RemoteStride), uint64(b.BlockBytes))
	}
	s.c.(transport.Strider).PutStrided(s.pe, off, src, b)
	clear(src) // it may be reused on return
}

func (s *script) getBlocks(ctx context.Context) {
	off, b := s.blocks()
	got := bytes.Repeat([]byte{0xaa}, (b.Count-1)*b.LocalStride+b.BlockBytes)
	want := bytes.Clone(got)
	for i := range b.Count {
		copy(blockOf(want, 0, i, b.LocalStride, b.BlockBytes), blockOf(s.shadow, off, i, b.RemoteStride, b.BlockBytes))
	}
	if err := s.c.(transport.Strider).GetStrided(ctx, s.pe, got, off, b); err != nil || !bytes.Equal(got, want) {
		s.t.Fatalf("get of %+v at %d differs (%v)", b, off, err)
	}
}

func (s *script) getBlocksNB() {
	off, b := s.blocks()
	b.LocalStride = b.RemoteStride // so that the destination is an image of the heap
	n := (b.Count-1)*b.RemoteStride + b.BlockBytes
	g := pendingGet{off, make([]byte, n), make([]byte, n), make([]bool, n)}
	for i := range b.Count {
		copy(blockOf(g.want, 0, i, b.RemoteStride, b.BlockBytes), blockOf(s.shadow, off, i, b.RemoteStride, b.BlockBytes))
	}
	s.c.(transport.Strider).GetStridedNB(s.pe, g.got, off, b)
	s.gets = append(s.gets, g)
}

var _ transport.Strider = (*channel)(nil)
