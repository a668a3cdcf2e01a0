package shm

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
)

// NewRing is the ring of the PE that has that heap and that page.
func NewRing(heap []byte, state *boot.State) *Ring {
	at := unsafe.Pointer(unsafe.SliceData(heap[RingOff : entriesOff+RingNotes*entryBytes]))
	r := &Ring{
		words:   (*ringWords)(at),
		entries: (*[RingNotes]entry)(unsafe.Add(at, entriesOff-RingOff)),
		heap:    heap,
		state:   state,
	}
	r.seen.Store(r.words.taken.Load() / 2)
	return r
}

// inlined is how many bytes the entry carries.
func (e *entry) inlined() int { return int(e.what &^ inlineMark >> inlineShift) }

// keep copies src into the entry.
func (e *entry) keep(src []byte) {
	if len(src) == 8 {
		e.data[0] = *(*uint64)(unsafe.Pointer(unsafe.SliceData(src)))
		return
	}
	copy((*[InlineBytes]byte)(unsafe.Pointer(&e.data))[:], src)
}

// copyOut copies what the entry carries to its place. An aligned word is written whole.
func (r *Ring) copyOut(e *entry) {
	n, off := e.inlined(), e.what&offsetMask
	to := r.heap[off : off+uint64(n)]
	if n == 8 && off%8 == 0 {
		*(*uint64)(unsafe.Pointer(unsafe.SliceData(to))) = e.data[0]
		return
	}
	copy(to, (*[InlineBytes]byte)(unsafe.Pointer(&e.data))[:])
}

var (
	_ [4096 - unsafe.Sizeof(ringWords{})]byte
	_ [entryBytes - unsafe.Sizeof(entry{})]byte
	_ [unsafe.Sizeof(entry{}) - entryBytes]byte
	_ [64<<10 - entriesOff - RingNotes*entryBytes]byte
)
