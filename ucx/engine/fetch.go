//go:build cgo

package engine

// Fetching atomics that do not wait. Like a small put they are gathered in the lane's buffer, so
// hundreds of them travel in one message, and their old values in one answer. C keeps the values in slots,
// which are its own memory, and Go moves them to where the program wants them, in Quiet at the latest: so
// the destinations need no pinning, and no C ever sees them.

/*
#cgo noescape need_slot
#cgo nocallback need_slot
#cgo noescape slot_await_fetch
#cgo nocallback slot_await_fetch
#cgo noescape lane_nic_fetch_nb
#cgo nocallback lane_nic_fetch_nb
#include <ucs/type/status.h>
#include "engine.h"
*/
import "C"

import (
	"encoding/binary"
	"unsafe"
)

const fetchBytes = recBytes + C.sizeof_struct_wire_fetch

// pendingFetch is a slot, and where Go puts its value.
type pendingFetch struct {
	slot *C.slot_t
	dst  []byte
}

// FetchNB applies op to the word of pe at off; its old value is in dst, of as many bytes as the word,
// when Quiet returns without error. The update is in order with others on the channel, as that of Post.
func (c *Channel) FetchNB(pe int, op uint8, off uint64, bytes int, operand, cond uint64, dst []byte) {
	c.check(pe)
	c.lock()
	l := c.lane(pe)
	if l.service_lane_seq != l.acked {
		C.lane_drain_service(l)
	}
	if !c.engine.config.NICAtomics {
		c.orderMessage(l, off, bytes)
	}
	if s := c.reserve(l, dst[:bytes]); s == nil {
		l.lost = 1
	} else if c.engine.config.NICAtomics {
		c.needService()
		args := wordArgs(op, off, bytes, operand, cond)
		C.lane_nic_fetch_nb(l, &args, s)
	} else if pos := c.reserveRecord(l, fetchBytes); pos != nil {
		putRec(pos, C.REC_FETCH, op, uint8(bytes), uint32(s.token), off)
		fetch := (*C.struct_wire_fetch)(unsafe.Add(pos, recBytes))
		fetch.operand, fetch.cond = C.uint64_t(operand), C.uint64_t(cond)
		l.records++
		l.replies++
	}
	c.unlock()
}

// reserve takes a slot for an old value that goes to dst, or returns nil if the lane is lost.
func (c *Channel) reserve(l *C.lane_t, dst []byte) *C.slot_t {
	if len(c.pendingFetches) >= C.FETCHES_MAX {
		C.slot_await_fetch(c.c, c.pendingFetches[0].slot)
		c.harvest()
	}
	if c.c.free_slots == nil {
		C.need_slot(l)
	}
	if l.status != C.UCS_OK {
		return nil
	}
	s := c.c.free_slots
	c.c.free_slots = s.next
	s.status, s.pe, s.detached, s.native = C.UCS_INPROGRESS, l.pe, C.PENDING_FETCH, 0
	s.left, s.bytes = 0, 0
	l.detached++
	c.pendingFetches = append(c.pendingFetches, pendingFetch{s, dst})
	return s
}

// harvest moves the values that have come to where they are wanted.
func (c *Channel) harvest() {
	left := c.pendingFetches[:0]
	for _, k := range c.pendingFetches {
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
	clear(c.pendingFetches[len(left):]) // lets go of the destinations
	c.pendingFetches = left
}

// release frees a slot, as slot_release does.
func (c *Channel) release(s *C.slot_t) {
	s.token += C.SLOTS
	s.status = C.UCS_OK
	s.next = c.c.free_slots
	c.c.free_slots = s
}
