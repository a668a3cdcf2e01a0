package shm

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
)

// NewNoteQueue is the ring of the PE that has that heap and that page.
func NewNoteQueue(heap []byte, state *boot.State) *NoteQueue {
	at := unsafe.Pointer(unsafe.SliceData(heap[boot.NoteQueueOff:NoteQueueEnd]))
	r := &NoteQueue{
		words:   (*queueWords)(at),
		entries: (*[NoteQueueCap]entry)(unsafe.Add(at, wordsBytes)),
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
	_ [wordsBytes - unsafe.Sizeof(queueWords{})]byte
	_ [entryBytes - unsafe.Sizeof(entry{})]byte
	_ [unsafe.Sizeof(entry{}) - entryBytes]byte
	_ [boot.NoteQueueOff + boot.NoteQueueBytes - NoteQueueEnd]byte
)
