package pgas

// Notified accesses to PEs of this host in a job whose atomics are the NIC's: data and notes go by memory,
// and the note of an atomic is left when the NIC has carried that out.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

func (s *splitChannel) AtomicNotify(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, stamp transport.Stamp) (old uint64, ok bool, err error) {
	note := transport.Note{Stamp: stamp, Bytes: uint64(word.Bytes), Off: word.Off}
	ok = s.Channel.NotifyAfter(pe, note, func() {
		old, err = s.Atomic(ctx, pe, op, word, operand, cond)
	})
	return old, ok, err
}

// PostNotify waits for the NIC, since the note must not come before it. That is a fence, which leaves what is
// lost for the next quiet to report.
func (s *splitChannel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, stamp transport.Stamp) bool {
	note := transport.Note{Stamp: stamp, Bytes: uint64(word.Bytes), Off: word.Off}
	return s.Channel.NotifyAfter(pe, note, func() {
		s.words.Post(pe, op, word, operand)
		s.words.Fence(pe)
		s.bells.of(pe).Ring(word.Off)
	})
}
