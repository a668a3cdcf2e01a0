package bounce

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/pgas/transport"
)

// bounceBytes is how much of a large put or get is copied at a time.
const bounceBytes = 1 << 20

// Channel is a channel that bounces what a Memory holds.
type Channel struct {
	transport.Channel
	memory *Memory

	Landings Landings // gets whose buffers a quiet has yet to copy
}

// Over returns a channel over c that bounces what memory holds.
func Over(c transport.Channel, memory *Memory) *Channel { return &Channel{Channel: c, memory: memory} }

// ZeroCopy returns z, which then bounces as b does; nil if z is nil.
func (b *Channel) ZeroCopy(z transport.ZeroCopyPutter) transport.ZeroCopyPutter {
	if z == nil {
		return nil
	}
	return zeroCopy{z, b}
}

// Strided returns s, which then bounces as b does; nil if s is nil.
func (b *Channel) Strided(s transport.Strider) transport.Strider {
	if s == nil {
		return nil
	}
	return strided{s, b}
}

// source returns src, or a copy of it if memory holds it.
func (b *Channel) source(src []byte) []byte {
	if b.memory.holds(src) {
		return slices.Clone(src)
	}
	return src
}

// sourceBlocks returns src, or a copy of its blocks if memory holds it. It reads nothing between the blocks.
func (b *Channel) sourceBlocks(src []byte, blocks transport.Strided) []byte {
	if !b.memory.holds(src) {
		return src
	}
	from := make([]byte, span(blocks))
	copyBlocks(from, src, blocks)
	return from
}

// whole describes n bytes as one block.
func whole(n int) transport.Strided {
	return transport.Strided{BlockBytes: n, Count: 1, LocalStride: n, RemoteStride: n}
}

func (b *Channel) Put(pe int, dst uint64, src []byte) {
	if !b.memory.holds(src) {
		b.Channel.Put(pe, dst, src)
		return
	}
	buf := make([]byte, min(len(src), bounceBytes))
	for len(src) > 0 {
		n := copy(buf, src)
		b.Channel.Put(pe, dst, buf[:n])
		dst, src = dst+uint64(n), src[n:]
	}
}

func (b *Channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	b.Channel.PutSignal(pe, dst, b.source(src), sig, op, value)
}

func (b *Channel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	if !b.memory.holds(dst) {
		return b.Channel.Get(ctx, pe, dst, src)
	}
	buf := make([]byte, min(len(dst), bounceBytes))
	for len(dst) > 0 {
		part := buf[:min(len(buf), len(dst))]
		if err := b.Channel.Get(ctx, pe, part, src); err != nil {
			return err
		}
		n := copy(dst, part)
		dst, src = dst[n:], src+uint64(n)
	}
	return nil
}

func (b *Channel) GetNB(pe int, dst []byte, src uint64) {
	if !b.memory.holds(dst) {
		b.Channel.GetNB(pe, dst, src)
		return
	}
	from := make([]byte, len(dst))
	b.Channel.GetNB(pe, from, src)
	b.Landings.add(pe, dst, from, whole(len(dst)))
}

func (b *Channel) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	if !b.memory.holds(dst) {
		b.Channel.AtomicNB(pe, op, word, operand, cond, dst)
		return
	}
	from := make([]byte, len(dst))
	b.Channel.AtomicNB(pe, op, word, operand, cond, from)
	b.Landings.add(pe, dst, from, whole(len(dst)))
}

func (b *Channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	return b.Channel.PutNotify(pe, dst, b.source(src), s)
}

func (b *Channel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	if !b.memory.holds(dst) {
		return b.Channel.GetNotify(ctx, pe, dst, src, s)
	}
	from := make([]byte, len(dst))
	ok, err := b.Channel.GetNotify(ctx, pe, from, src, s)
	if ok && err == nil {
		copy(dst, from)
	}
	return ok, err
}

func (b *Channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	if !b.memory.holds(dst) {
		return b.Channel.GetNotifyNB(pe, dst, src, s)
	}
	from := make([]byte, len(dst))
	ok := b.Channel.GetNotifyNB(pe, from, src, s)
	if ok {
		b.Landings.add(pe, dst, from, whole(len(dst)))
	}
	return ok
}

// zeroCopy puts without a copy what may reach the transport. The copy of other memory belongs to the put, so that
// its handle is released as any other.
type zeroCopy struct {
	transport.ZeroCopyPutter
	b *Channel
}

func (z zeroCopy) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	return z.ZeroCopyPutter.PutZcopy(pe, dst, z.b.source(src))
}

func (z zeroCopy) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	return z.ZeroCopyPutter.PutNotifyZcopy(pe, dst, z.b.source(src), s)
}

func (z zeroCopy) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	return z.ZeroCopyPutter.PutSignalZcopy(pe, dst, z.b.source(src), sig, op, value)
}

func (z zeroCopy) PutStridedZcopy(pe int, dst uint64, src []byte, blocks transport.Strided) uint64 {
	return z.ZeroCopyPutter.PutStridedZcopy(pe, dst, z.b.sourceBlocks(src, blocks), blocks)
}

// strided bounces strided transfers.
type strided struct {
	transport.Strider
	b *Channel
}

// span returns the bytes from the first to the last of the blocks in memory of this process.
func span(b transport.Strided) int { return (b.Count-1)*b.LocalStride + b.BlockBytes }

func (s strided) PutStrided(pe int, dst uint64, src []byte, blocks transport.Strided) {
	s.Strider.PutStrided(pe, dst, s.b.sourceBlocks(src, blocks), blocks)
}

func (s strided) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, blocks transport.Strided) error {
	if !s.b.memory.holds(dst) {
		return s.Strider.GetStrided(ctx, pe, dst, src, blocks)
	}
	from := make([]byte, span(blocks))
	err := s.Strider.GetStrided(ctx, pe, from, src, blocks)
	if err == nil {
		copyBlocks(dst, from, blocks)
	}
	return err
}

func (s strided) GetStridedNB(pe int, dst []byte, src uint64, blocks transport.Strided) {
	if !s.b.memory.holds(dst) {
		s.Strider.GetStridedNB(pe, dst, src, blocks)
		return
	}
	from := make([]byte, span(blocks))
	s.Strider.GetStridedNB(pe, from, src, blocks)
	s.b.Landings.add(pe, dst, from, blocks)
}
