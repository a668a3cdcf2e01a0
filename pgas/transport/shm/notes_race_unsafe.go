//go:build race

package shm

// Notes under the race detector. What a note proves is known to the request that gets it, and to no other. The words of
// a queue order more: each initiator after those before it, and the owner after all that have left notes, whichever it
// wants. So the detector sees neither the words that initiators and owner share nor the entries. Instead the initiator
// of a note releases what it has done to a place that belongs to the note's source and tag. The request that gets the
// note acquires it.

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

// hide returns w as a word that the race detector does not see.
func hide(w *atomic.Uint64) *hidden { return (*hidden)(unsafe.Pointer(w)) }

// places are the places of the sources and tags of the notes of a queue, in memory that all its PEs share.
type places struct{ first unsafe.Pointer }

// placesAt returns the places that begin at p.
func placesAt(p unsafe.Pointer) places { return places{p} }

// of returns the place of a note's source and tag.
func (p places) of(s transport.Stamp) unsafe.Pointer {
	hash := uint64(s) * 0x9e3779b97f4a7c15 >> 56 % nplaces
	return unsafe.Add(p.first, 8*hash)
}

// release orders the goroutine that gets a note with this stamp after the calling one.
func (p places) release(s transport.Stamp) { runtime.RaceReleaseMerge(p.of(s)) }

// acquire orders the calling goroutine after those that have released a note with this stamp.
func (p places) acquire(s transport.Stamp) { runtime.RaceAcquire(p.of(s)) }
