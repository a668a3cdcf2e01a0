package shm

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
)

// NewNoteQueue returns the queue in a PE's heap. state is that PE's page.
func NewNoteQueue(heap []byte, state *boot.State) *NoteQueue {
	start := unsafe.Pointer(unsafe.SliceData(heap[boot.NoteQueueOff:NoteQueueEnd]))
	q := &NoteQueue{
		words:   (*queueWords)(start),
		entries: (*[NoteQueueCap]entry)(unsafe.Add(start, wordsBytes)),
		state:   state,
		places:  placesAt(unsafe.Add(start, placesOff)),
	}
	q.seen.Store(q.words.taken.Load() / 2)
	return q
}

// storeShort copies src to dst, which has the same length. It writes an aligned word with one store.
func storeShort(dst, src []byte) {
	p := unsafe.Pointer(unsafe.SliceData(dst))
	if len(src) == 8 && uintptr(p)%8 == 0 {
		*(*uint64)(p) = *(*uint64)(unsafe.Pointer(unsafe.SliceData(src)))
		return
	}
	copy(dst, src)
}

// placesOff is where a queue has its places, behind its words, and nplaces how many it has.
const (
	placesOff = 2048
	nplaces   = 256
)

var (
	_ [placesOff - unsafe.Sizeof(queueWords{})]byte
	_ [wordsBytes - placesOff - 8*nplaces]byte
	_ [wordsBytes - unsafe.Sizeof(queueWords{})]byte
	_ [entryBytes - unsafe.Sizeof(entry{})]byte
	_ [unsafe.Sizeof(entry{}) - entryBytes]byte
	_ [boot.NoteQueueOff + boot.NoteQueueBytes - NoteQueueEnd]byte
)
