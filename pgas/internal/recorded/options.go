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

// strided records strided transfers: each is one operation.
type strided struct {
	transport.Strider
	to *Channel
}

// Strided returns s, whose operations count as those of c, or nil if s is nil.
func (c *Channel) Strided(s transport.Strider) transport.Strider {
	if s == nil {
		return nil
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
