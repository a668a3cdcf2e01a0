//go:build cgo

package engine

// Fetching atomics that nobody waits for. Like a small put they are gathered in the lane's buffer, so
// hundreds of them travel in one message, and their old values in one answer. C keeps the values in slots,
// which are its own memory, and Go moves them to where the program wants them, in Quiet at the latest: so
// the destinations need no pinning, and no C ever sees them.

/*
#cgo noescape need_slot
#cgo nocallback need_slot
#cgo noescape slot_settle
#cgo nocallback slot_settle
#cgo noescape lane_nic_kept
#cgo nocallback lane_nic_kept
#include <ucs/type/status.h>
#include "engine.h"
*/
import "C"

import (
	"encoding/binary"
	"unsafe"
)

const fetchBytes = recBytes + C.sizeof_struct_wire_fetch

// kept is a slot whose value Go takes.
type kept struct {
	slot *C.slot_t
	dst  []byte
}

// FetchNB applies op to the word of pe at off; its old value is in dst, of as many bytes as the word,
// when Quiet returns without error. The update is in order with others on the channel, as that of Post.
func (c *Channel) FetchNB(pe int, op uint8, off uint64, bytes int, operand, cond uint64, dst []byte) {
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	if l.by_express != l.acked {
		C.lane_settle(l)
	}
	if !c.engine.config.NICAtomics {
		c.order(l, off, bytes)
	}
	if s := c.keep(l, dst[:bytes]); s == nil {
		l.lost = 1
	} else if c.engine.config.NICAtomics {
		c.wake()
		args := wordArgs(op, off, bytes, operand, cond)
		C.lane_nic_kept(l, &args, s)
	} else if at := c.room(l, fetchBytes); at != nil {
		putRec(at, C.REC_FETCH, op, uint8(bytes), uint32(s.token), off)
		fetch := (*C.struct_wire_fetch)(unsafe.Add(at, recBytes))
		fetch.operand, fetch.cond = C.uint64_t(operand), C.uint64_t(cond)
		l.records++
		l.asks++
	}
	c.unlock()
}

// keep takes a slot for an old value that goes to dst, or returns nil if the lane is lost.
func (c *Channel) keep(l *C.lane_t, dst []byte) *C.slot_t {
	if len(c.kept) >= C.FETCHES_MAX {
		C.slot_settle(c.c, c.kept[0].slot)
		c.collect()
	}
	if c.c.free_slots == nil {
		C.need_slot(l)
	}
	if l.status != C.UCS_OK {
		return nil
	}
	s := c.c.free_slots
	c.c.free_slots = s.next
	s.status, s.pe, s.detached, s.native = C.UCS_INPROGRESS, l.pe, C.KEPT, 0
	s.left, s.bytes = 0, 0
	l.detached++
	c.kept = append(c.kept, kept{s, dst})
	return s
}

// collect moves the values that have come to where they are wanted.
func (c *Channel) collect() {
	left := c.kept[:0]
	for _, k := range c.kept {
		switch {
		case k.slot.status == C.UCS_INPROGRESS:
			left = append(left, k)
			continue
		case k.slot.status != C.UCS_OK:
			// lost with its lane: the quiet says so
		case len(k.dst) == 4:
			binary.NativeEndian.PutUint32(k.dst, uint32(k.slot.value))
		default:
			binary.NativeEndian.PutUint64(k.dst, uint64(k.slot.value))
		}
		c.release(k.slot)
	}
	clear(c.kept[len(left):]) // lets go of the destinations
	c.kept = left
}

// release is slot_release.
func (c *Channel) release(s *C.slot_t) {
	s.token += C.SLOTS
	s.status = C.UCS_OK
	s.next = c.c.free_slots
	c.c.free_slots = s
}
