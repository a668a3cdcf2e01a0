//go:build cgo

package engine

// What C has for itself and Go writes out too: numbers, and the layout of memory that both access. Nothing but tests
// calls these functions. The test of pgas/transport/ucp compares them with boot, transport and transport/shm.

/*
#include "engine.h"
static size_t wire_pad(size_t n) { return WIRE_PAD(n); }
*/
import "C"

import "unsafe"

// ABI holds numbers of C.
type ABI struct {
	Ops         []uint8 // enum word_op, in the order of its names
	Comparisons []int   // EQ, NE, GT, GE, LT, LE
	RMA         []RMA   // auto, active messages, native

	BlockedOffsets [5]uintptr // offsets of the words of struct blocked, op first

	ContentionOffsets [5]uintptr // offsets of the words of struct contention
	ContentionRules   [8]int64   // the rules of contention, as boot.ContentionRules has them

	WaitingBytes, DoorbellBytes, FailedBytes, AccusedBytes, BellBytes, KeyBytes uintptr // what Config points to
}

// Numbers returns the numbers of C.
func Numbers() ABI {
	var config C.struct_engine_config
	var b C.struct_blocked
	var c C.struct_contention
	return ABI{
		Ops: []uint8{
			C.WORD_FETCH, C.WORD_SET, C.WORD_SWAP, C.WORD_CAS, C.WORD_ADD, C.WORD_AND, C.WORD_OR, C.WORD_XOR,
			C.WORD_MIN, C.WORD_MAX, C.WORD_MIN_UNSIGNED, C.WORD_MAX_UNSIGNED, C.WORD_ADD_FLOAT, C.WORD_MIN_FLOAT, C.WORD_MAX_FLOAT,
			C.WORD_OPS,
		},
		Comparisons: []int{C.CMP_EQ, C.CMP_NE, C.CMP_GT, C.CMP_GE, C.CMP_LT, C.CMP_LE},
		RMA:         []RMA{C.RMA_AUTO, C.RMA_AM, C.RMA_NATIVE},

		BlockedOffsets: [5]uintptr{unsafe.Offsetof(b.op), unsafe.Offsetof(b.peer), unsafe.Offsetof(b.seq), unsafe.Offsetof(b.since), unsafe.Offsetof(b.team)},

		ContentionOffsets: [5]uintptr{unsafe.Offsetof(c.until), unsafe.Offsetof(c.span), unsafe.Offsetof(c.ended), unsafe.Offsetof(c.clean), unsafe.Offsetof(c.lost)},

		ContentionRules: [...]int64{
			C.LOST_SLICE_NS, C.CONTENTION_FIRST_SPAN, C.CONTENTION_LONGER_SPAN, C.CONTENTION_LONGEST_SPAN,
			C.CONTENTION_RECENTLY, C.CONTENTION_PROBE_NS, C.CONTENTION_CLEAN_YIELDS, C.CONTENTION_SLEEP_COSTS_NS,
		},

		WaitingBytes:  unsafe.Sizeof(*config.waiting),
		DoorbellBytes: unsafe.Sizeof(*config.doorbell),
		FailedBytes:   unsafe.Sizeof(*config.failed),
		AccusedBytes:  unsafe.Sizeof(*config.accused),
		BellBytes:     unsafe.Sizeof(*config.accused_bell),
		KeyBytes:      unsafe.Sizeof(config.key),
	}
}

// Watched reports what C makes of boot.State.Waiting: whether the PE sleeps, and on which bytes of its heap.
func Watched(waiting uint64) (lo, hi uint64, sleeps bool) {
	var from, to C.uint64_t
	sleeps = C.watched(C.uint64_t(waiting), &from, &to) != 0
	return uint64(from), uint64(to), sleeps
}

// Accusation returns the word in which C accuses a PE.
func Accusation(pe, accuser int, certain, silent, largeLost bool) uint64 {
	flags := C.uint64_t(0)
	if certain {
		flags |= C.ACCUSED_CERTAINLY
	}
	if silent {
		flags |= C.ACCUSED_SILENT
	}
	if largeLost {
		flags |= C.ACCUSED_LARGE_LOST
	}
	return uint64(C.accusation(C.uint32_t(pe), C.uint32_t(accuser), flags))
}

// Stamp returns what C makes of the tag and the sender of a note.
func Stamp(tag uint32, pe int) uint64 { return uint64(C.note_stamp(C.uint32_t(tag), C.uint32_t(pe))) }

// PushNote appends a note to the queue at offset queue of heap, as C does, and returns the offset of the word that
// announces it; 0 if there is no room.
func PushNote(heap []byte, queue, stamp, bytes, off uint64) uint64 {
	return uint64(C.note_push((*C.char)(unsafe.Pointer(&heap[0])), C.uint64_t(queue), C.uint64_t(stamp), C.uint64_t(bytes), C.uint64_t(off)))
}

// PublishOverflow tells the owner of the queue at offset queue of heap that n notes wait, as C does, and reports
// whether C would wake the owner.
func PublishOverflow(heap []byte, queue uint64, n int) bool {
	return C.note_publish_overflow((*C.char)(unsafe.Pointer(&heap[0])), C.uint64_t(queue), C.uint32_t(n)) != 0
}

// wirePad returns what C's WIRE_PAD makes of n.
func wirePad(n int) int { return int(C.wire_pad(C.size_t(n))) }
