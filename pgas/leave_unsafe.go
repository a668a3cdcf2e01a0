package pgas

// What a leaving PE publishes: a word and a text near the start of its heap, for PEs of any host.

import (
	"context"
	"sync/atomic"
	"unsafe"
)

// leavingOff is the offset of a PE's leaving record.
const leavingOff = waitsOff + 64

// A leaving is the record that a PE publishes when it calls Close. The text is written before the word.
type leaving struct {
	said atomic.Uint64 // 1 + bytes of the text; 0: it is not leaving
	text [120]byte     // where it has called Close
}

var _ [leavingOff - waitsOff - 8*waitsWords]byte

func (w *World) sayLeaving(site string) {
	l := (*leaving)(w.own(leavingOff))
	if n := len(site); n > len(l.text) {
		site = site[n-len(l.text):] // the end of a path tells more than its start
	}
	l.said.Store(1 + uint64(copy(l.text[:], site)))
}

// leavingAt reports whether PE pe of the job is leaving, and where it has called Close.
func (w *World) leavingAt(pe int) (site string, leaves bool) {
	n, err := w.peekWord(pe, leavingOff)
	if err != nil || n == 0 {
		return "", false
	}
	var l leaving
	b := unsafe.Slice(&l.text[0], min(n-1, uint64(len(l.text))))
	ctx, cancel := context.WithTimeout(w.ctx, peekTime)
	defer cancel()
	if len(b) > 0 && w.wire.courier(pe).Get(ctx, pe, b, leavingOff+uint64(unsafe.Offsetof(l.text))) != nil {
		return "", true
	}
	return string(b), true
}
