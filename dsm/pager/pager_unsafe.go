//go:build cgo && linux

// Package pager keeps one PE's copies of the blocks of a coherent region, by page faults: userfaultfd on memory, served
// in C. Package dsm uses it in mode Paged; its protocol calls the methods between fences as cache.go of dsm says.
//
//	pager.h    the structures, and which file has which function
//	memory.c   opening and closing: descriptors, mappings, the thread
//	fault.c    what a fault does
//	signal.c   the faulting thread serves it, in a handler of SIGBUS
//	serving.c  one such thread at a time
//	stack.h    the stack on which it does
//	thread.c   or a thread for all faults does
//	fetch.c    how it gets a copy from another PE
//	fence.c    what fences do to the copies
//	block.c    blocks under their locks, lists
//	evict.c    bounding the memory of copies
//	map.c      what the program has mapped: the system calls
//	merge.c    own bytes over newer ones
package pager

/*
#cgo CFLAGS: -D_GNU_SOURCE -std=gnu11 -O2 -Wall -Wextra
#cgo LDFLAGS: -lpthread
#include <stdlib.h>
#include "pager.h"

#cgo noescape pager_written
#cgo nocallback pager_written
#cgo noescape pager_merge
#cgo nocallback pager_merge
#cgo noescape pager_changes
#cgo nocallback pager_changes
#cgo noescape pager_settle
#cgo nocallback pager_settle
#cgo noescape pager_drop
#cgo nocallback pager_drop
#cgo noescape pager_expire
#cgo nocallback pager_expire
#cgo noescape pager_drop_all
#cgo nocallback pager_drop_all
#cgo noescape pager_known
#cgo nocallback pager_known
#cgo noescape pager_zeros
#cgo nocallback pager_zeros
#cgo noescape pager_install
#cgo nocallback pager_install
#cgo noescape pager_ready
#cgo nocallback pager_ready
#cgo noescape pager_pin
#cgo nocallback pager_pin
#cgo noescape pager_overwritten
#cgo nocallback pager_overwritten
#cgo noescape signal_lost
#cgo nocallback signal_lost
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Pager is one PE's copies and the thread that serves its page faults.
type Pager struct {
	p      *C.struct_pager
	config Config
}

// whySize is room for an error of C.
const whySize = 256

// Available returns why this machine cannot serve page faults, or nil. It tries what a region needs on one page.
func Available() error {
	var why [whySize]C.char
	if C.pager_probe(0, &why[0], whySize) != 0 {
		return remedy(C.GoString(&why[0]))
	}
	return nil
}

// remedy adds what helps to an error of C.
func remedy(why string) error {
	if !strings.HasPrefix(why, "userfaultfd") {
		return fmt.Errorf("%s: ask for fewer Options.Bytes, or raise this process's limits (`ulimit -v`, `ulimit -n`)", why)
	}
	return fmt.Errorf("%s (allow the system call userfaultfd in the container's seccomp profile, or set vm.unprivileged_userfaultfd=1)", why)
}

// Open makes the copies, all of them zeros, and starts the thread. Its state is published before Open returns. An error
// says what cannot be had, and what would help.
func Open(c Config) (*Pager, error) {
	if page := os.Getpagesize(); c.Block%page != 0 {
		return nil, fmt.Errorf("blocks of %d bytes: mode paged needs multiples of the page, %d", c.Block, page)
	}
	if len(c.Near) != c.PEs || c.PE < 0 || c.PE >= c.PEs || c.Near[c.PE] == 0 {
		return nil, errors.New("the PE's own heap is not mapped")
	}
	near := (**C.char)(C.calloc(C.size_t(c.PEs), C.size_t(unsafe.Sizeof(uintptr(0)))))
	if near == nil {
		return nil, errors.New("no memory")
	}
	copy(unsafe.Slice((*uintptr)(unsafe.Pointer(near)), c.PEs), c.Near)
	config := C.struct_pager_config{
		block: C.uint64_t(c.Block), blocks: C.uint64_t(c.Blocks), pes: C.int32_t(c.PEs), pe: C.int32_t(c.PE),
		pub: C.uint64_t(c.Pub), ver: C.uint64_t(c.Ver), hint: C.uint64_t(c.Hint), near: near, lease: C.uint64_t(c.Lease),
		keep: C.uint64_t(c.Keep),
	}
	*(*uintptr)(unsafe.Pointer(&config.outside)) = c.Outside
	if c.UserOnly {
		config.user_only = 1
	}
	if c.Faults == ByThread {
		config.faults = C.FAULTS_BY_THREAD
	}
	var why [whySize]C.char
	p := C.pager_open(&config, &why[0], whySize) // it frees near, too, if it fails
	if p == nil {
		return nil, remedy(C.GoString(&why[0]))
	}
	return &Pager{p, c}, nil
}

// Close makes the memory inaccessible, and then ends the thread and gives everything back.
func (p *Pager) Close() error {
	if p.p != nil {
		C.pager_close(p.p)
		p.p = nil
	}
	return nil
}

// Memory returns the region as the program accesses it.
func (p *Pager) Memory() []byte { return p.bytes(p.p.app) }

// Alias returns the same memory without faults: what the PE has of each block, valid or not. It is for debuggers.
func (p *Pager) Alias() []byte { return p.bytes(p.p.alias) }

func (p *Pager) bytes(at *C.char) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(at)), p.config.Block*p.config.Blocks)
}

// Written protects the blocks that the program has written, and appends those that differ from their twins to into.
// The others are clean after it.
func (p *Pager) Written(into []int32) []int32 {
	had := len(into)
	for {
		free := into[had:cap(into)]
		n := int(C.pager_written(p.p, (*C.int32_t)(unsafe.SliceData(free)), C.uint64_t(len(free))))
		if n >= 0 {
			return into[:had+n]
		}
		into = slices.Grow(into, -n)
	}
}

// Merge writes the PE's own bytes over latest, or over the twin if latest is nil, into the twin and the copy, which is
// clean and valid then. It returns the range of bytes that the PE had changed, or -1, -1.
func (p *Pager) Merge(b int32, latest []byte, home int32, rts uint64) (first, last int) {
	var changed [2]C.int64_t
	C.pager_merge(p.p, C.int32_t(b), (*C.char)(unsafe.Pointer(unsafe.SliceData(latest))), C.int32_t(home), C.uint64_t(rts), &changed[0])
	return int(changed[0]), int(changed[1])
}

// Changes copies block b and its twin, and makes the twin what the block is now. It reports whether every byte counts
// as changed.
func (p *Pager) Changes(b int32, own, twin []byte) (whole bool) {
	return C.pager_changes(p.p, C.int32_t(b), (*C.char)(unsafe.Pointer(&own[0])), (*C.char)(unsafe.Pointer(&twin[0]))) != 0
}

// Settle makes block b clean, unless the program has changed it after Changes.
func (p *Pager) Settle(b int32) { C.pager_settle(p.p, C.int32_t(b)) }

// Drop makes the copy of block b invalid. Own bytes stay: the next fetch merges them.
func (p *Pager) Drop(b int32, home int32, rts uint64) {
	C.pager_drop(p.p, C.int32_t(b), C.int32_t(home), C.uint64_t(rts))
}

// Unwritten reports whether the program has written no block since Written was called last. It calls no C.
func (p *Pager) Unwritten() bool {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&p.p.dirty.n))) == 0
}

// Expire sets the logical time, drops copies whose leases ended before it, and unmaps what is not valid.
func (p *Pager) Expire(now uint64) { C.pager_expire(p.p, C.uint64_t(now)) }

// Current counts a fence, and reports whether an acquire that tells of nothing has nothing else to do: every copy had a
// lease when it came, time stands still, and copies are not bounded. It calls no C. A copy that the thread takes for
// valid after the fence has been counted sees the count, and one that it took before has set closing, if it must.
func (p *Pager) Current() bool {
	atomic.AddUint32((*uint32)(unsafe.Pointer(&p.p.fences)), 1)
	return p.config.Keep == 0 && atomic.LoadUint32((*uint32)(unsafe.Pointer(&p.p.closing))) == 0
}

// HandlerLost reports that page faults are not served any more, because the program has replaced the handler of SIGBUS
// by one that is known not to pass them on.
func (p *Pager) HandlerLost() bool { return p.config.Faults == BySignal && C.signal_lost() != 0 }

// DropAll drops the copies of a bitmap of blocks, and unmaps what is not valid.
func (p *Pager) DropAll(stale []uint64) {
	C.pager_drop_all(p.p, (*C.uint64_t)(unsafe.SliceData(stale)))
}

// Known returns what the PE knows of block b.
func (p *Pager) Known(b int32) Known {
	k := C.pager_known(p.p, C.int32_t(b))
	return Known{
		Valid: k.flags&C.VALID != 0, Untouched: k.flags&C.TOUCHED == 0 && k.now == 0, Home: int32(k.home),
		Generation: uint32(k.generation), Lease: uint64(k.rts), Now: uint64(k.now),
	}
}

// Zeros makes an untouched block a valid copy.
func (p *Pager) Zeros(b int32) { C.pager_zeros(p.p, C.int32_t(b)) }

// Install makes data the copy of block b, with own bytes over it. It reports false, and does nothing, if a fence has
// come since Known returned generation.
func (p *Pager) Install(b int32, generation uint32, data []byte, home int32, rts uint64) bool {
	return C.pager_install(p.p, C.int32_t(b), C.uint32_t(generation), (*C.char)(unsafe.Pointer(&data[0])), C.int32_t(home), C.uint64_t(rts)) != 0
}

// Has reports whether blocks lo to hi-1 are valid and mapped, and writable if write is set. It calls no C and takes no
// lock: if a fence of another goroutine comes between, an access faults.
func (p *Pager) Has(lo, hi int32, write bool) bool {
	want := uint32(C.VALID | C.MAPPED)
	if write {
		want |= C.WRITABLE
	}
	blocks := unsafe.Slice(p.p.blk, p.config.Blocks)
	for b := lo; b < hi; b++ {
		if atomic.LoadUint32((*uint32)(unsafe.Pointer(&blocks[b].flags)))&want != want {
			return false
		}
	}
	return true
}

// Ready maps the valid blocks from lo to hi-1, writable and with twins if write is set.
func (p *Pager) Ready(lo, hi int32, write bool) {
	w := C.int(0)
	if write {
		w = 1
	}
	C.pager_ready(p.p, C.int32_t(lo), C.int32_t(hi), w)
}

// Overwritten makes whole blocks valid and writable without their contents: every byte counts as changed.
func (p *Pager) Overwritten(lo, hi int32) {
	C.pager_overwritten(p.p, C.int32_t(lo), C.int32_t(hi))
}

// Pin keeps the copies of blocks lo to hi-1 when Config.Keep bounds them, if keep is set, or lets them go again.
func (p *Pager) Pin(lo, hi int32, keep bool) {
	k := C.int(0)
	if keep {
		k = 1
	}
	C.pager_pin(p.p, C.int32_t(lo), C.int32_t(hi), k)
}

// Resident returns the bytes of memory that the copies take, or 0 if the kernel does not tell.
func (p *Pager) Resident() int {
	var s syscall.Stat_t
	if syscall.Fstat(int(p.p.memory), &s) != nil {
		return 0
	}
	return int(s.Blocks) * 512 // the unit of st_blocks
}

// Lost returns a PE whose loss has ended a fetch, or -1.
func (p *Pager) Lost() int { return int(p.p.lost) - 1 }

// Stats returns what the thread has done.
func (p *Pager) Stats() Stats {
	s := &p.p.stats
	return Stats{
		ReadFaults: uint64(s.reads), WriteFaults: uint64(s.writes), Upgrades: uint64(s.upgrades),
		Fast: uint64(s.fast), Slow: uint64(s.slow), Hops: uint64(s.hops), Bytes: uint64(s.bytes), Lost: uint64(s.lost),
		Evicted: uint64(s.evicted),
	}
}
