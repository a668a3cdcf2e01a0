package pgas

// Checking (PGAS_CHECK=1). It finds references and pointers that outlive their allocation.
//
//	references  Each allocation has a number, its generation, which its references carry in the upper bits of
//	            their offset. The tables of the fast path are empty, so every access takes the slow path; place
//	            looks up the generation there, and panics with *UsageError unless that allocation lives and the
//	            access stays inside of it.
//	pointers    What Local and Ptr return lies in a guarded view of the heaps, where only live allocations are
//	            accessible (boot.Guard). Each allocation has pages of its own and one behind it that is never
//	            accessible. Freed pages are used again only when there is no other room, the oldest first.
//
// Without checking every generation is 0, and nothing is looked up. The runtime's own offsets have generation
// 0 in both cases: place turns a reference into one of them. The order of the allocations is the same on
// every PE, so their generations agree, but only offsets without generation leave the PE.

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/checked"
	"github.com/gopgas/gopgas/pgas/transport"
)

const (
	generationShift = 46 // offsets are smaller: a process cannot map more
	offsetMask      = 1<<generationShift - 1
	generationMax   = 1<<(64-generationShift) - 1 // followed by 1
	generationChunk = 1 << 9
)

// checker holds the allocations of a World by their generations.
type checker struct {
	w      *World
	last   uint64 // the last generation; guarded by World.allocMu
	chunks [(generationMax + 1) / generationChunk]atomic.Pointer[blockChunk]
	guard  *boot.Guard                  // guards pointers; nil if they are not guarded
	sorted atomic.Pointer[[]*allocated] // the live allocations, by their offsets

	locks    checked.Locks
	requests checked.Requests // the requests of teams besides World.Team
	signals  checked.Signals
}

type blockChunk [generationChunk]atomic.Pointer[allocated]

// startChecking makes w check accesses. If pages cannot be guarded, it checks references only.
func (w *World) startChecking() {
	if w.n.Sched != nil {
		return // thousands of PEs, with heaps of a few pages each
	}
	boards := make([]checked.Board, len(w.n.Job.Segment.States))
	for i := range boards {
		boards[i] = w.n.WordsOf(w.n.FirstPE+i, boot.SignalBoardOff, checked.BoardWords)
	}
	w.check.signals.Open(boards, w.n.FirstPE, w.n.Job.PE)
	guard, err := w.n.Job.Segment.Guard(w.n.Job.PE - w.n.FirstPE)
	if err != nil {
		w.n.Debugf("does not guard its heap: %v", err)
		return
	}
	w.check.guard = guard
	w.heap.Guarded()
	debug.SetPanicOnFault(true) // for this goroutine, which runs the program: Recovered explains the panic
}

// track gives b a generation and makes it accessible. It returns the offset that references to it carry.
func (k *checker) track(b *allocated) uintptr {
	k.last = k.last%generationMax + 1
	b.made = callsite.Program()
	chunk := &k.chunks[k.last/generationChunk]
	if chunk.Load() == nil {
		chunk.Store(new(blockChunk))
	}
	chunk.Load()[k.last%generationChunk].Store(b)
	k.setLive(b, true)
	if k.guard != nil {
		if err := k.guard.Open(b.off, b.bytes); err != nil {
			panic(fmt.Errorf("pgas: PGAS_CHECK: %w", err)) // the program could not use what it has allocated
		}
	}
	return uintptr(b.off | k.last<<generationShift)
}

// untrack makes b inaccessible. Its memory goes back to the kernel, since its addresses are not used again soon.
func (k *checker) untrack(b *allocated) {
	if b.freed.Swap(true) {
		return
	}
	b.ended.Store(callsite.Program())
	k.setLive(b, false)
	if k.guard == nil {
		return
	}
	k.w.n.Job.Segment.Discard(k.w.n.Job.PE-k.w.n.FirstPE, b.off, b.bytes)
	if err := k.guard.Shut(b.off, b.bytes); err != nil {
		k.w.n.Debugf("leaves freed memory accessible: %v", err)
	}
}

// place returns the offset in the heap of n bytes from reference off. It panics with *UsageError if their
// allocation does not live.
//
//go:noinline
func (k *checker) place(op string, off, n uintptr) uint64 {
	switch op {
	case "Put", "PutNB", "PutSignal", "PutSignalAdd", "PutSignalNB", "PutSignalAddNB", updateOp:
	default:
		k.signals.Learn()
	}
	b := k.block(uint64(off) >> generationShift)
	if b == nil {
		misuse(op, "the reference is not to memory of this World")
	}
	if b.freed.Load() {
		misuse(op, "this memory was freed: %s", b)
	}
	at := uint64(off) & offsetMask
	if at < b.off || at+uint64(n) > b.off+(b.bytes+3)&^3 { // the word of the last AtomicSmall may end behind it
		misuse(op, "%d bytes at offset %d are not inside their allocation: %s", n, at, b)
	}
	return at
}

// updateOp is the op of atomics that tell this PE nothing.
const updateOp = "atomic update"

// update checks an update of the word at offset off of PE pe. It panics with *UsageError if the word is a signal that
// one PE sets while another adds to it.
func (k *checker) update(op string, pe int, off uint64, how transport.Op) {
	if k == nil || how != transport.Set && how != transport.Add || !k.w.n.Names.Has(off, reflect.TypeFor[Signal]()) {
		return
	}
	if other := k.signals.Update(pe, off, how == transport.Add); other != "" {
		this := "sets"
		if how == transport.Add {
			this = "adds to"
		}
		misuse(op, "this PE %s %s of PE %d while %s: the sum is lost; set a signal when no PE can add to it, such as between two barriers",
			this, k.w.n.PlaceName("the signal", off), pe, other)
	}
}

// block returns the allocation with the given generation, or nil.
func (k *checker) block(generation uint64) *allocated {
	if k == nil {
		return nil
	}
	chunk := k.chunks[generation/generationChunk].Load()
	if chunk == nil {
		return nil
	}
	return chunk[generation%generationChunk].Load()
}

// setLive puts b into the list of allocations that live, or takes it out. The caller holds World.allocMu.
func (k *checker) setLive(b *allocated, lives bool) {
	var list []*allocated
	if old := k.sorted.Load(); old != nil {
		list = slices.Clone(*old)
	}
	i, _ := slices.BinarySearchFunc(list, b.off, func(x *allocated, off uint64) int { return cmp.Compare(x.off, off) })
	if lives {
		list = slices.Insert(list, i, b)
	} else {
		list = slices.DeleteFunc(list, func(x *allocated) bool { return x == b })
	}
	k.sorted.Store(&list)
}

// live returns the allocation that lives at offset off of the heap, or nil.
func (k *checker) live(off uint64) *allocated {
	list := k.sorted.Load()
	if list == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(*list, off, func(x *allocated, off uint64) int { return cmp.Compare(x.off, off) })
	if !found {
		i--
	}
	if i < 0 || off >= (*list)[i].off+(*list)[i].bytes {
		return nil
	}
	return (*list)[i]
}

// Live is live as checked.Memory has it.
func (k *checker) Live(off uint64) any {
	if b := k.live(off); b != nil {
		return b
	}
	return nil
}

// OwnOffset implements checked.Memory for addresses that Local has returned.
func (k *checker) OwnOffset(addr uintptr) (off uint64, ok bool) {
	if k.guard == nil || addr == 0 {
		return 0, false
	}
	i, off, ok := k.guard.Find(addr)
	return off, ok && k.w.n.FirstPE+i == k.w.n.Job.PE
}

// blockAt returns the latest allocation that contained the offset, or nil.
func (k *checker) blockAt(off uint64) (last *allocated) {
	for g := range uint64(generationMax) {
		b := k.block(g + 1)
		if b == nil || off < b.off || off >= b.off+b.bytes {
			continue
		}
		if last = b; !b.freed.Load() {
			return b
		}
	}
	return last
}

// String describes b, and where it was allocated and freed, for messages.
func (b *allocated) String() string {
	s := fmt.Sprintf("%d %s at offset %d", b.n, b.layout.Name, b.off)
	if b.made != "" {
		s += ", allocated at " + b.made
	}
	if ended, _ := b.ended.Load().(string); ended != "" {
		s += ", freed at " + ended
	}
	return s
}

// locate notes the program's call in e, which its deferred function has recovered: the stack of the panic is still
// there.
func (e *UsageError) locate() {
	if e.At == "" {
		e.At = callsite.OfPanic()
	}
}

// Recovered returns the error that a recovered panic of a PE stands for. That is *UsageError or *PeerError itself;
// a *UsageError for a load or store through a zero reference; or, in a World that checks (PGAS_CHECK=1), a
// *UsageError for a pointer from Local or Ptr that was used after Free. It returns nil for any other panic, which
// the program should raise again. Main calls it. A program with its own main calls it in the deferred function that
// recovers, where the stack still shows what has failed.
func (w *World) Recovered(p any) error {
	err, _ := p.(error)
	var misuse *UsageError
	var peer *PeerError
	if errors.As(err, &misuse) {
		misuse.locate()
		return err
	}
	if errors.As(err, &peer) {
		return err
	}
	if err := zeroFault(p); err != nil {
		err.locate()
		return err
	}
	if fault, ok := p.(interface{ Addr() uintptr }); ok && w != nil { // see debug.SetPanicOnFault
		if err := w.check.explain(fault.Addr()); err != nil {
			err.locate()
			return err
		}
	}
	return nil
}

// explain returns what is wrong with an access to an address, or nil if it is not in the guarded heaps.
func (k *checker) explain(addr uintptr) *UsageError {
	if k == nil || k.guard == nil {
		return nil
	}
	i, off, ok := k.guard.Find(addr)
	if !ok {
		return nil
	}
	msg := fmt.Sprintf("the pointer leads to offset %d of the heap of PE %d, ", off, k.w.n.FirstPE+i)
	switch b := k.blockAt(off); {
	case b == nil:
		msg += "where nothing is allocated"
	case b.freed.Load():
		msg += "which was freed: " + b.String()
	default:
		return nil // the allocation lives: the fault has another reason
	}
	return &UsageError{Op: "access through Local or Ptr", Msg: msg}
}
