package recorded

// The optional interfaces of a channel that records.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// zeroCopy records puts without a copy.
type zeroCopy struct {
	transport.ZeroCopyPutter
	to *Channel
}

// ZeroCopy returns z, whose operations count as those of c, or nil if z is nil.
func (c *Channel) ZeroCopy(z transport.ZeroCopyPutter) transport.ZeroCopyPutter {
	if z == nil {
		return nil
	}
	return zeroCopy{z, c}
}

func (z zeroCopy) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	z.to.count(record.Put, pe, len(src))
	return z.ZeroCopyPutter.PutZcopy(pe, dst, src)
}

func (z zeroCopy) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	at := z.to.rec.Moment()
	handle, ok := z.ZeroCopyPutter.PutNotifyZcopy(pe, dst, src, s)
	if ok {
		z.to.note(at, pe, len(src), s)
	}
	return handle, ok
}

func (z zeroCopy) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	z.to.count(record.Signal, pe, len(src)+8)
	z.to.update(pe, sig, value)
	return z.ZeroCopyPutter.PutSignalZcopy(pe, dst, src, sig, op, value)
}

func (z zeroCopy) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	z.to.count(record.Put, pe, b.Total())
	return z.ZeroCopyPutter.PutStridedZcopy(pe, dst, src, b)
}

// strided records strided transfers: each is one operation.
type strided struct {
	transport.Strider
	to *Channel
}

// Strided returns s, whose operations count as those of c. If s is nil, it moves each block by itself.
func (c *Channel) Strided(s transport.Strider) transport.Strider {
	if s == nil {
		return blocks{c}
	}
	return strided{s, c}
}

func (s strided) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	s.to.count(record.Put, pe, b.Total())
	s.Strider.PutStrided(pe, dst, src, b)
}

func (s strided) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	s.to.count(record.Get, pe, b.Total())
	return s.Strider.GetStrided(ctx, pe, dst, src, b)
}

func (s strided) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	s.to.count(record.Get, pe, b.Total())
	s.Strider.GetStridedNB(pe, dst, src, b)
}

// blocks are strided transfers over a channel that has none: one operation all the same.
type blocks struct{ to *Channel }

func (s blocks) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	s.to.count(record.Put, pe, b.Total())
	for i := range b.Count {
		s.to.Channel.Put(pe, dst+uint64(i*b.RemoteStride), src[i*b.LocalStride:][:b.BlockBytes])
	}
}

func (s blocks) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) (err error) {
	s.to.count(record.Get, pe, b.Total())
	for i := 0; i < b.Count && err == nil; i++ {
		err = s.to.Channel.Get(ctx, pe, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
	}
	return err
}

func (s blocks) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	s.to.count(record.Get, pe, b.Total())
	for i := range b.Count {
		s.to.Channel.GetNB(pe, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
	}
}
