package node

// The optional interfaces of a Recorded channel.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/transport"
)

// recordedZeroCopy records puts without a copy.
type recordedZeroCopy struct {
	transport.ZeroCopyPutter
	to *Recorded
}

// ZeroCopy returns z, whose operations count as those of c, or nil if z is nil.
func (c *Recorded) ZeroCopy(z transport.ZeroCopyPutter) transport.ZeroCopyPutter {
	if z == nil {
		return nil
	}
	return recordedZeroCopy{z, c}
}

func (z recordedZeroCopy) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	z.to.count(record.Put, pe, len(src))
	return z.ZeroCopyPutter.PutZcopy(pe, dst, src)
}

func (z recordedZeroCopy) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	at := z.to.rec.Moment()
	handle, ok := z.ZeroCopyPutter.PutNotifyZcopy(pe, dst, src, s)
	if ok {
		z.to.note(at, pe, len(src), s)
	}
	return handle, ok
}

func (z recordedZeroCopy) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	z.to.count(record.Signal, pe, len(src)+8)
	z.to.update(pe, sig, value)
	return z.ZeroCopyPutter.PutSignalZcopy(pe, dst, src, sig, op, value)
}

func (z recordedZeroCopy) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	z.to.count(record.Put, pe, b.Total())
	return z.ZeroCopyPutter.PutStridedZcopy(pe, dst, src, b)
}

// recordedStrided records strided transfers: each is one operation.
type recordedStrided struct {
	transport.Strider
	to *Recorded
}

// Strided returns s, whose operations count as those of c. If s is nil, it moves each block by itself.
func (c *Recorded) Strided(s transport.Strider) transport.Strider {
	if s == nil {
		return recordedBlocks{c}
	}
	return recordedStrided{s, c}
}

func (s recordedStrided) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	s.to.count(record.Put, pe, b.Total())
	s.Strider.PutStrided(pe, dst, src, b)
}

func (s recordedStrided) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	s.to.count(record.Get, pe, b.Total())
	return s.Strider.GetStrided(ctx, pe, dst, src, b)
}

func (s recordedStrided) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	s.to.count(record.Get, pe, b.Total())
	s.Strider.GetStridedNB(pe, dst, src, b)
}

// recordedBlocks moves each block of a strided transfer by itself, and counts them as one operation.
type recordedBlocks struct{ to *Recorded }

func (s recordedBlocks) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	s.to.count(record.Put, pe, b.Total())
	for i := range b.Count {
		s.to.Channel.Put(pe, dst+uint64(i*b.RemoteStride), src[i*b.LocalStride:][:b.BlockBytes])
	}
}

func (s recordedBlocks) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) (err error) {
	s.to.count(record.Get, pe, b.Total())
	for i := 0; i < b.Count && err == nil; i++ {
		err = s.to.Channel.Get(ctx, pe, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
	}
	return err
}

func (s recordedBlocks) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	s.to.count(record.Get, pe, b.Total())
	for i := range b.Count {
		s.to.Channel.GetNB(pe, dst[i*b.LocalStride:][:b.BlockBytes], src+uint64(i*b.RemoteStride))
	}
}
