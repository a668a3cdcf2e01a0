package pgas

// Atomics on words of this host in a job whose atomics are the NIC's (PGAS_AMO=nic). Even a PE of this host
// is updated by its NIC then, since CPU and NIC are not atomic to each other. A NIC rings no doorbell, so the
// initiator does when it knows that the update is there: after an atomic that it has waited for, and after a
// quiet or a fence for all others. A NIC that carries out what other hosts send rings nobody: who waits for
// that long enough to sleep looks again now and then. (Where UCX does it for want of such a NIC, it rings.)

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// splitChannel sends atomics through the NIC and data through memory.
type splitChannel struct {
	*shm.Channel
	atomics   transport.Channel
	owedBells *owedDoorbells
}

func (s *splitChannel) Atomic(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64) (uint64, error) {
	old, err := s.atomics.Atomic(ctx, pe, op, word, operand, cond)
	if err == nil && op != transport.Fetch {
		s.owedBells.of(pe).Ring(word.Off)
	}
	return old, err
}

func (s *splitChannel) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	s.atomics.AtomicNB(pe, op, word, operand, cond, dst)
	if op != transport.Fetch {
		s.owedBells.owe(pe)
	}
}

func (s *splitChannel) Post(pe int, op transport.Op, word transport.Word, operand uint64) {
	s.atomics.Post(pe, op, word, operand)
	s.owedBells.owe(pe)
}

// PutSignal's signal is an atomic too: the data is stored first, then the NIC updates the word.
func (s *splitChannel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	s.Put(pe, dst, src)
	shm.FullFence()
	s.atomics.PutSignal(pe, 0, nil, sig, op, value)
	s.owedBells.owe(pe)
}

func (s *splitChannel) Quiet(ctx context.Context, pe int) error {
	err := s.atomics.Quiet(ctx, pe)
	s.owedBells.ringOwed(pe)
	return err
}

// owedDoorbells are the doorbells of the PEs of this host. All contexts have one that complete together.
type owedDoorbells struct {
	first  int
	states []*boot.State
	owed   []atomic.Bool // something was issued that a quiet is to ring for
}

func newOwedDoorbells(seg *boot.Segment) *owedDoorbells {
	return &owedDoorbells{int(seg.Header.First), seg.States, make([]atomic.Bool, len(seg.States))}
}

func (b *owedDoorbells) of(pe int) *boot.State { return b.states[pe-b.first] }

// owe says that something has been issued to pe. It comes after that: a quiet that rings for it before it
// completes is another goroutine's.
func (b *owedDoorbells) owe(pe int) { b.owed[pe-b.first].Store(true) }

// ringOwed rings for what was issued to pe, to every PE if pe < 0, and is complete now: for any word, since
// which ones they were is not kept. pe may be on another host.
func (b *owedDoorbells) ringOwed(pe int) {
	for i := range b.owed {
		if pe >= 0 && pe != b.first+i {
			continue
		}
		if b.owed[i].Swap(false) && b.states[i].Waiting.Load() != 0 {
			b.states[i].Wake()
		}
	}
}

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
		s.atomics.Post(pe, op, word, operand)
		s.atomics.Fence(pe)
		s.owedBells.of(pe).Ring(word.Off)
	})
}
