package checked

// Channels whose operations a Domain sees. The offsets and slices of an operation are noted before the operation
// begins.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// Over returns c with its optional interfaces, z and s, such that d sees every operation. Those that are nil stay so.
func (d *Domain) Over(c transport.Channel, z transport.ZeroCopyPutter, s transport.Strider) (transport.Channel, transport.ZeroCopyPutter, transport.Strider) {
	if z != nil {
		z = zeroCopy{z, d}
	}
	if s != nil {
		s = strided{s, d}
	}
	return Channel{c, d}, z, s
}

// Channel is a channel of a Domain.
type Channel struct {
	transport.Channel
	d *Domain
}

func (c Channel) Put(pe int, dst uint64, src []byte) {
	defer c.d.Use("Put")()
	c.d.issue("a put", pe, dst)
	c.Channel.Put(pe, dst, src)
}

func (c Channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	defer c.d.Use("PutSignal")()
	c.d.issue("a put with a signal", pe, dst)
	c.d.issue("a put with a signal", pe, sig)
	c.Channel.PutSignal(pe, dst, src, sig, op, value)
}

func (c Channel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	defer c.d.Use("Get")()
	return c.Channel.Get(ctx, pe, dst, src)
}

func (c Channel) GetNB(pe int, dst []byte, src uint64) {
	defer c.d.Use("GetNB")()
	c.d.issue("a get that does not wait", pe, src)
	c.d.fills("a get that does not wait", pe, dst)
	c.Channel.GetNB(pe, dst, src)
}

func (c Channel) Atomic(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64) (uint64, error) {
	defer c.d.Use("atomic " + op.String())()
	return c.Channel.Atomic(ctx, pe, op, word, operand, cond)
}

func (c Channel) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	defer c.d.Use("atomic " + op.String())()
	c.d.issue("a fetching atomic that does not wait", pe, word.Off)
	c.d.fills("a fetching atomic that does not wait", pe, dst)
	c.Channel.AtomicNB(pe, op, word, operand, cond, dst)
}

func (c Channel) Post(pe int, op transport.Op, word transport.Word, operand uint64) {
	defer c.d.Use("atomic " + op.String())()
	c.d.issue("an atomic "+op.String(), pe, word.Off)
	c.Channel.Post(pe, op, word, operand)
}

func (c Channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	defer c.d.Use("PutNotify")()
	c.d.issue("a notified put", pe, dst)
	return c.Channel.PutNotify(pe, dst, src, s)
}

func (c Channel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	defer c.d.Use("GetNotify")()
	return c.Channel.GetNotify(ctx, pe, dst, src, s)
}

func (c Channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	defer c.d.Use("GetNotifyNB")()
	c.d.issue("a notified get that does not wait", pe, src)
	c.d.fills("a notified get that does not wait", pe, dst)
	return c.Channel.GetNotifyNB(pe, dst, src, s)
}

func (c Channel) AtomicNotify(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (uint64, bool, error) {
	defer c.d.Use("atomic " + op.String())()
	return c.Channel.AtomicNotify(ctx, pe, op, word, operand, cond, s)
}

func (c Channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	defer c.d.Use("atomic " + op.String())()
	c.d.issue("a notified atomic "+op.String(), pe, word.Off)
	return c.Channel.PostNotify(pe, op, word, operand, s)
}

// zeroCopy is the zero-copy puts of such a channel.
type zeroCopy struct {
	transport.ZeroCopyPutter
	d *Domain
}

func (z zeroCopy) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	defer z.d.Use("PutNB")()
	z.d.issue("a put that does not wait", pe, dst)
	z.d.fills("a put that does not wait", pe, src)
	return z.ZeroCopyPutter.PutZcopy(pe, dst, src)
}

func (z zeroCopy) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (uint64, bool) {
	defer z.d.Use("PutNotifyNB")()
	z.d.issue("a notified put that does not wait", pe, dst)
	z.d.fills("a notified put that does not wait", pe, src)
	return z.ZeroCopyPutter.PutNotifyZcopy(pe, dst, src, s)
}

func (z zeroCopy) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	defer z.d.Use("PutSignalNB")()
	z.d.issue("a put with a signal that does not wait", pe, dst)
	z.d.issue("a put with a signal that does not wait", pe, sig)
	z.d.fills("a put with a signal that does not wait", pe, src)
	return z.ZeroCopyPutter.PutSignalZcopy(pe, dst, src, sig, op, value)
}

func (z zeroCopy) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	defer z.d.Use("strided put")()
	z.d.issue("a strided put that does not wait", pe, dst)
	z.d.fills("a strided put that does not wait", pe, src)
	return z.ZeroCopyPutter.PutStridedZcopy(pe, dst, src, b)
}

// strided is the strided transfers of such a channel.
type strided struct {
	transport.Strider
	d *Domain
}

func (s strided) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	defer s.d.Use("strided put")()
	s.d.issue("a strided put", pe, dst)
	s.Strider.PutStrided(pe, dst, src, b)
}

func (s strided) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	defer s.d.Use("strided get")()
	return s.Strider.GetStrided(ctx, pe, dst, src, b)
}

func (s strided) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	defer s.d.Use("strided get")()
	s.d.issue("a strided get that does not wait", pe, src)
	s.d.fills("a strided get that does not wait", pe, dst)
	s.Strider.GetStridedNB(pe, dst, src, b)
}
