package network

// What an exploration asks of operations.

import (
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// From returns the initiator of o.
func (o *Op) From() *PE { return o.from }

// Data returns what o carries, or the bytes that it has got.
func (o *Op) Data() []byte { return o.data }

// Old returns the word before o, an atomic that has taken effect.
func (o *Op) Old() uint64 { return o.old }

// InReserved reports whether o is on words of the runtime.
func (o *Op) InReserved() bool { return o.off < boot.ReservedBytes }

// OfDead reports whether the initiator of o or its target is dead.
func (o *Op) OfDead() bool { return o.to.dead || o.from.dead }

// ReadOnly reports whether o, which has taken effect, has changed nothing.
func (o *Op) ReadOnly() bool {
	return !o.notifies && (o.kind == opGet || changedWord(o.atomicOp, o.bytes, o.old, o.operand, o.cond) == o.old)
}

// Epoch returns a number that identifies the flow of o, and the epoch of o in that flow. The number is 0 if fences do
// not order o.
func (o *Op) Epoch() (flow uint64, epoch uint32) {
	f := o.flow
	if f == nil || !o.ordered() {
		return 0, 0
	}
	return uint64(f.ch.pe.ID)<<48 | uint64(f.ch.serial)<<24 | uint64(f.to.ID), o.epoch
}

// Digest identifies what o will do.
func (o *Op) Digest() uint64 {
	var b [8]uint64
	b[0] = uint64(o.kind) | uint64(o.phase)<<8 | uint64(o.atomicOp)<<16 | uint64(o.bytes)<<24
	b[1] = uint64(o.from.ID)<<32 | uint64(o.to.ID)
	if o.flow != nil {
		b[2] = uint64(o.epoch - o.flow.oldestEpoch)
	}
	b[3], b[4], b[5], b[6], b[7] = o.off, o.operand, o.cond, o.sig, uint64(o.size)
	if o.phase == writing {
		b[2] += o.old << 8
	}
	if o.notifies {
		b[6] += engine.Mix(uint64(o.note.stamp) + 1)
	}
	var h uint64
	for _, v := range b {
		h = engine.Mix(h*31 + v)
	}
	return h
}

// Footprint calls touch with each range of a heap that the next step of o reads or writes.
func (net *Network) Footprint(o *Op, touch func(p *PE, write bool, lo, hi uint64)) {
	switch {
	case o.phase == signalling:
		touch(o.to, true, o.sig, o.sig+8)
	case o.phase == notifying:
		touch(o.to, true, boot.NoteQueueOff, shm.NoteQueueEnd)
	case o.kind == opPut:
		touch(o.to, true, o.off, o.off+uint64(len(o.data)))
	case o.kind == opGet:
		touch(o.to, false, o.off, o.off+uint64(o.size))
	case o.nic && net.config.Split: // it locks the word
		touch(o.to, true, o.off&^7, o.off&^7+8)
	default:
		v := word(o.to.heap, o.off, o.bytes)
		changes := changedWord(o.atomicOp, o.bytes, v, o.operand, o.cond) != v
		touch(o.to, changes, o.off, o.off+uint64(o.bytes))
	}
	if lo, hi, own := o.from.HeapRange(o.dst); own {
		touch(o.from, true, lo, hi)
	}
}
