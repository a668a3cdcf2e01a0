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
		state:   state,
	}
	r.seen.Store(r.words.taken.Load() / 2)
	return r
}

// storeShort copies src to to, which has the same length. It writes an aligned word with one store.
func storeShort(to, src []byte) {
	p := unsafe.Pointer(unsafe.SliceData(to))
	if len(src) == 8 && uintptr(p)%8 == 0 {
		*(*uint64)(p) = *(*uint64)(unsafe.Pointer(unsafe.SliceData(src)))
		return
	}
	copy(to, src)
}

var (
	_ [4096 - unsafe.Sizeof(ringWords{})]byte
	_ [entryBytes - unsafe.Sizeof(entry{})]byte
	_ [unsafe.Sizeof(entry{}) - entryBytes]byte
	_ [64<<10 - entriesOff - RingNotes*entryBytes]byte
)
