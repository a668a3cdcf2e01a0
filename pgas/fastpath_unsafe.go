package pgas

// The fast path.
//
// A put or get indexes a table of mapped heaps. The PEs of a host are numbered without gaps, so one unsigned
// comparison tells whether the PE exists and its heap is mapped in this process. One load finds the heap, and one
// store puts. Where the runtime must see each access (the simulator, checks), the table is empty: every access then
// takes the slow path, at no cost to other programs.
//
// The compiler inlines a function up to a cost of 80, and charges 57 for any call in it, but only 17
// for a call of a function parameter, because it expects to know the argument once it has inlined. So
// the fast path is written once, with its slow path as a parameter, and accessors that
// generated code exports still inline down to that one store. tests/inline_test.go holds it there.

import (
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// slowFunc moves n bytes between p and offset off of pe's heap through a transport. It does not keep p.
type slowFunc = func(c *Context, pe int, off uintptr, p unsafe.Pointer, n uintptr)

// store puts v into the element at offset off of pe's heap: one comparison, one load, one store.
//
//gcassert:inline
func store[T any](c *Context, off uintptr, pe int, v T, slow slowFunc) {
	if i := uint(pe - c.firstPE); i < uint(len(c.bases)) {
		*(*T)(unsafe.Add(c.bases[i], off)) = v
	} else {
		t := v // a copy, so that v itself need not live in memory
		slow(c, pe, off, unsafe.Pointer(&t), unsafe.Sizeof(t))
	}
}

// fetch returns the element at offset off of pe's heap.
//
//gcassert:inline
func fetch[T any](c *Context, off uintptr, pe int, slow slowFunc) T {
	if i := uint(pe - c.firstPE); i < uint(len(c.bases)) {
		return *(*T)(unsafe.Add(c.bases[i], off))
	}
	var t T
	slow(c, pe, off, unsafe.Pointer(&t), unsafe.Sizeof(t))
	return t
}

// slowPut puts through a transport.
//
//go:noinline
func slowPut(c *Context, pe int, off uintptr, p unsafe.Pointer, n uintptr) {
	via, to := c.routeTo("Put", pe)
	via.Put(to, c.place("Put", off, n), node.NoescapeBytes(p, n))
}

// slowGet gets through a transport. It panics with *PeerError if pe is lost.
//
//go:noinline
func slowGet(c *Context, pe int, off uintptr, p unsafe.Pointer, n uintptr) {
	c.mustGet("Get", pe, node.NoescapeBytes(p, n), uint64(off))
}

// addr returns the address of offset off in pe's heap. It returns nil if only a transport reaches that heap, if there
// is no such PE, or if c is nil: routeTo tells these apart, off the fast path.
func (c *Context) addr(pe int, off uintptr) unsafe.Pointer {
	if c == nil {
		return nil
	}
	if i := uint(pe - c.firstPE); i < uint(len(c.bases)) {
		return unsafe.Add(c.bases[i], off)
	}
	return nil
}

// atomicAddr returns the address of offset off in pe's heap, for atomics, and pe's doorbell, which the initiator rings
// after an update. It returns nil if only a transport reaches that heap, if there is no such PE, or if c is nil.
func (c *Context) atomicAddr(pe int, off uintptr) (unsafe.Pointer, *boot.State) {
	if c == nil {
		return nil, nil
	}
	if i := uint(pe - c.firstPE); i < uint(len(c.words)) {
		return unsafe.Add(c.words[i].base, off), c.words[i].door()
	}
	return nil, nil
}

// predecessorWord returns the address of PE pe's copy of a word, for a wait in a queue behind pe, or nil if it is not
// mapped in this process.
func (c *Context) predecessorWord(pe int, off uintptr) unsafe.Pointer {
	if c.w.n.Sched != nil {
		return nil
	}
	p, _ := c.atomicAddr(pe, off&offsetMask)
	return p
}

// routeTo returns the route of an access to pe, and pe's number in the job. It panics with *UsageError if there is no
// such PE, the context is closed, or the reference is zero.
func (c *Context) routeTo(op string, pe int) (*route, int) {
	c.world(op)
	if uint(pe) >= uint(len(c.team.g.PEs)) {
		misuse(op, "PE %d is out of range: this %s has PEs 0 to %d", pe, c.team.noun(), len(c.team.g.PEs)-1)
	}
	if c.closed.Load() {
		misuse(op, "the context is closed: use it before its Close, and before that of its World")
	}
	via := c.remote
	if c.routes != nil {
		via = c.routes[pe]
	}
	if via.bounced != nil && c.w.coherent.Any() {
		via = via.bounced
	}
	return via, c.team.g.PEs[pe]
}

// openTables fills in the tables of heaps and doorbells of PEs of this host. They cover one run of consecutive numbers,
// which for most teams is all of the host's members. Accesses to other members of this host go through the channel,
// which takes a few nanoseconds more.
func (c *Context) openTables() {
	lo, hi := c.team.localRun()
	c.firstPE = lo
	for _, pe := range c.team.g.PEs[lo:hi] {
		c.bases = append(c.bases, node.BasePointer(c.w.n.Shm.Heap(pe)))
		c.doorbells = append(c.doorbells, c.w.n.Job.Segment.States[pe-c.w.n.FirstPE])
	}
	c.openWords()
}

// wordTable is where atomics find the words of one PE of this host.
type wordTable struct {
	base    unsafe.Pointer // base of the PE's heap
	waiting *uint64        // State.Waiting, the first word of the PE's State
}

func (t *wordTable) door() *boot.State { return (*boot.State)(unsafe.Pointer(t.waiting)) }

// State.Waiting is the first word of a State.
var _ [unsafe.Offsetof(boot.State{}.Waiting)]struct{} = [0]struct{}{}

// wordSizeShift is where the index of a word has its size, above every number of a PE. The index is
// uintptr(pe)-size<<wordSizeShift, which the operations write out, because a function for it would cost too much. So
// the PEs of words of 8 bytes have indices without gaps, and those of 4 bytes lie far off.
const wordSizeShift = 40

// openWords fills in the table of words from those of heaps and doorbells.
func (c *Context) openWords() {
	c.firstWord = uintptr(c.firstPE) - 8<<wordSizeShift
	for i, base := range c.bases {
		c.words = append(c.words, wordTable{base, (*uint64)(unsafe.Pointer(c.doorbells[i]))})
	}
}

// heapPointers are the addresses of heaps in this process.
type heapPointers []unsafe.Pointer

// bytesOf returns the memory of n elements at p, hidden from escape analysis: transports do not keep the slices that
// they are given beyond the call, so puts to other hosts need not allocate.
func bytesOf[T any](p *T, n int) []byte {
	return node.NoescapeBytes(unsafe.Pointer(p), uintptr(n)*unsafe.Sizeof(*p))
}

// keptBytesOf returns the memory of n elements at p for an operation that outlives the call.
func keptBytesOf[T any](p *T, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), uintptr(n)*unsafe.Sizeof(*p))
}

// lockWords are the words of a PE's copy of a Lock.
type lockWords struct{ tail, next, turn atomic.Uint64 }

// lockHome returns the home of the lock at offset off in a job of npes PEs: by a hash of the offset.
func lockHome(off uintptr, npes int) int {
	hash := uint64(off) / 8 * 0x9e3779b97f4a7c15 >> 32
	return int(hash * uint64(npes) >> 32)
}

// lockCopies returns the words of the home's copy of the lock at off, and of this PE's own; nil if the home's are not
// mapped, if the runtime must see every access, if a PE of the job is lost, or if w is nil.
func (w *World) lockCopies(off uintptr) (home, own *lockWords) {
	if w == nil || off>>generationShift != 0 || w.n.Job.Segment.Header.Failed.Load() != 0 {
		return nil, nil
	}
	c := w.defaultCtx
	if i := uint(lockHome(off, w.n.Job.NPEs) - c.firstPE); i < uint(len(c.words)) {
		return (*lockWords)(unsafe.Add(c.words[i].base, off)), (*lockWords)(w.n.Own(off))
	}
	return nil, nil
}
