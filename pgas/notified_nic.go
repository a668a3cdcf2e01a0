package pgas

// Notified accesses to PEs of this host in a job whose atomics are the NIC's: data and notes go by memory,
// and the note of an atomic is left when the NIC has carried that out.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

func (s *splitChannel) mem() *shm.Channel { return s.Channel.(*shm.Channel) }

func (s *splitChannel) PutNotify(pe int, dst uint64, src []byte, stamp transport.Stamp) bool {
	return s.mem().PutNotify(pe, dst, src, stamp)
}

func (s *splitChannel) PutNotifyNB(pe int, dst uint64, src []byte, stamp transport.Stamp) (uint64, bool) {
	return s.mem().PutNotifyNB(pe, dst, src, stamp)
}

func (s *splitChannel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, stamp transport.Stamp) (bool, error) {
	return s.mem().GetNotify(ctx, pe, dst, src, stamp)
}

func (s *splitChannel) GetNotifyNB(pe int, dst []byte, src uint64, stamp transport.Stamp) bool {
	return s.mem().GetNotifyNB(pe, dst, src, stamp)
}

func (s *splitChannel) AtomicNotify(ctx context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64, stamp transport.Stamp) (old uint64, ok bool, err error) {
	note := transport.Note{Stamp: stamp, Bytes: uint64(at.Bytes), Off: at.Off}
	ok = s.mem().NotifyAfter(pe, note, func() {
		old, err = s.Atomic(ctx, pe, op, at, operand, cond)
	})
	return old, ok, err
}

// PostNotify waits for the NIC, since the note must not come before it. That is a fence, which leaves what is
// lost for the next quiet to report.
func (s *splitChannel) PostNotify(pe int, op transport.Op, at transport.Word, operand uint64, stamp transport.Stamp) bool {
	note := transport.Note{Stamp: stamp, Bytes: uint64(at.Bytes), Off: at.Off}
	return s.mem().NotifyAfter(pe, note, func() {
		s.words.Post(pe, op, at, operand)
		s.words.Fence(pe)
		s.bells.of(pe).Ring(at.Off)
	})
}

var _ transport.Notifier = (*splitChannel)(nil)
