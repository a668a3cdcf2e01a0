package node

// What a leaving PE publishes: a word and a text near the start of its heap, for PEs of any host.

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/boot"
)

// A leaving is the record that a PE publishes at boot.LeavingOff when it calls Close. The text is written before the
// word.
type leaving struct {
	length atomic.Uint64 // 1 + length of the text; 0: the PE is not leaving
	text   [120]byte     // where the PE has called Close
}

var _ [boot.LeavingBytes - unsafe.Sizeof(leaving{})]byte

// PublishLeaving tells the PEs of all hosts that read this PE's memory that it is leaving the job, and from where in
// the program.
func (n *Node) PublishLeaving(site string) {
	l := (*leaving)(n.Own(boot.LeavingOff))
	if size := len(site); size > len(l.text) {
		site = site[size-len(l.text):] // the end of a path tells more than its start
	}
	l.length.Store(1 + uint64(copy(l.text[:], site)))
}

// LeavingAt reports whether PE pe of the job is leaving, and where it has called Close.
func (n *Node) LeavingAt(pe int) (site string, leaves bool) {
	size, err := n.PeekWord(pe, boot.LeavingOff)
	if err != nil || size == 0 {
		return "", false
	}
	var l leaving
	b := unsafe.Slice(&l.text[0], min(size-1, uint64(len(l.text))))
	ctx, cancel := context.WithTimeout(n.Ctx, PeekTime)
	defer cancel()
	if len(b) > 0 && n.Channel(pe).Get(ctx, pe, b, boot.LeavingOff+uint64(unsafe.Offsetof(l.text))) != nil {
		return "", true
	}
	return string(b), true
}
