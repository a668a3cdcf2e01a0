//go:build race

package shm

// Notes under the race detector. What a note proves is known to the request that gets it, and to no other. The words of
// a queue order more: each initiator after those before it, and the owner after all that have left notes, whichever it
// wants. So the detector sees neither the words that initiators and owner share nor the entries. Instead the initiator
// of a note releases what it has done to a place that belongs to the note's source and tag, and who gets the note
// acquires it.

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// hidden is a word that the race detector does not see.
type hidden struct{ n atomic.Uint64 }

func (w *hidden) Load() uint64 {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	return w.n.Load()
}

func (w *hidden) Store(v uint64) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	w.n.Store(v)
}

func (w *hidden) CompareAndSwap(old, new uint64) bool {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	return w.n.CompareAndSwap(old, new)
}

// takenWord returns the word of a queue that says how many notes were taken, for initiators. The owner's goroutines see
// each other's updates of it.
func (q *NoteQueue) takenWord() *hidden { return (*hidden)(unsafe.Pointer(&q.words.taken)) }

// placesOff is where a queue has the places of sources and tags, behind its words, and nplaces how many there are.
const (
	placesOff = 2048
	nplaces   = 256
)

var (
	_ [placesOff - unsafe.Sizeof(queueWords{})]byte
	_ [wordsBytes - placesOff - 8*nplaces]byte
)

// place returns the place of a note's source and tag.
func (q *NoteQueue) place(s transport.Stamp) unsafe.Pointer {
	hash := uint64(s) * 0x9e3779b97f4a7c15 >> 56 % nplaces
	return unsafe.Add(unsafe.Pointer(q.words), placesOff+8*hash)
}

// release orders the goroutine that gets a note with this stamp after the calling one.
func (q *NoteQueue) release(s transport.Stamp) { runtime.RaceReleaseMerge(q.place(s)) }

// Seen orders the calling goroutine, which has got a note with this stamp, after what the note proves.
func (q *NoteQueue) Seen(s transport.Stamp) { runtime.RaceAcquire(q.place(s)) }
