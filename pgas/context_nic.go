package pgas

// Atomics on words of this host in a job in which the NIC executes atomics (PGAS_AMO=nic). Atomics to a PE of this host
// then go through the NIC too, since those of the CPU and of the NIC are not atomic to each other. A NIC rings no
// doorbell. So the initiator rings it when it knows that the update is complete: after an atomic that it has waited
// for, and after a quiet or a fence for all others. For atomics that arrive from other hosts no doorbell is rung: a
// sleeping waiter polls at intervals. (Where UCX executes them in software for want of such a NIC, it rings.)

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// splitChannel carries atomics through the NIC and puts and gets through memory.
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

// PutSignal stores the data, and then the NIC updates the signal, since a signal is an atomic too.
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

// owedDoorbells holds the doorbells of the PEs of this host, and which of them are to be rung. Contexts whose
// operations complete together share one.
type owedDoorbells struct {
	first  int
	states []*boot.State
	owed   []atomic.Bool // an atomic was issued whose doorbell the next quiet rings
}

func newOwedDoorbells(seg *boot.Segment) *owedDoorbells {
	return &owedDoorbells{int(seg.Header.First), seg.States, make([]atomic.Bool, len(seg.States))}
}

func (b *owedDoorbells) of(pe int) *boot.State { return b.states[pe-b.first] }

// owe records that an atomic has been issued to pe. The caller calls it after it has issued the atomic: only a quiet of
// another goroutine can then ring before the atomic is complete.
func (b *owedDoorbells) owe(pe int) { b.owed[pe-b.first].Store(true) }

// ringOwed rings the doorbell of pe, or of every PE if pe < 0, for the atomics that were issued and are complete now.
// It wakes waiters for any word, since the words are not recorded. pe may be on another host.
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

// PostNotify fences the atomic before it leaves the note, since the note must not arrive first. A fence returns no
// error: the next quiet reports a lost PE.
func (s *splitChannel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, stamp transport.Stamp) bool {
	note := transport.Note{Stamp: stamp, Bytes: uint64(word.Bytes), Off: word.Off}
	return s.Channel.NotifyAfter(pe, note, func() {
		s.atomics.Post(pe, op, word, operand)
		s.atomics.Fence(pe)
		s.owedBells.of(pe).Ring(word.Off)
	})
}
