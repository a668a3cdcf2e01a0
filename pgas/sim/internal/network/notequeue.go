package network

// The queue of a PE's notes. Notes for which it has no room wait at the NIC of the PE, up to maxOverflow.

import (
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// maxOverflow is how many notes wait at a NIC before initiators must wait.
const maxOverflow = 256

// Notes returns the queue of p's notes.
func (p *PE) Notes() *shm.NoteQueue { return p.openNotes().ring }

// openNotes returns the notes of p. Their queue is there from the first call on.
func (p *PE) openNotes() *noteQueue {
	if p.notes.ring == nil {
		p.notes.ring = shm.NewNoteQueue(p.heap, p.seg.States[0])
	}
	return &p.notes
}

// push puts n into the queue of p, if there is room.
func (net *Network) push(p *PE, n transport.Note) bool {
	off, ok := p.notes.ring.PushAt(n)
	if !ok {
		return false
	}
	if net.exploring() {
		net.observer.WroteWord(p, off, engine.Mix(uint64(n.Stamp))+engine.Mix(n.Bytes)+n.Off)
	}
	net.notifyWaiters(p, off, off+8)
	return true
}

// Refill implements transport.Overflow.
func (p *PE) Refill() {
	b := p.openNotes()
	for len(b.overflow) > 0 && p.net.push(p, b.overflow[0]) {
		b.overflow = b.overflow[1:]
	}
	b.ring.SetOverflow(len(b.overflow))
}

// AboutToReadNotes implements transport.Scheduler: what the PE does next may depend on which notes are in its queue.
func (p *PE) AboutToReadNotes() {
	if x := p.net.observer; x != nil {
		x.ReadsNotes(p)
	}
}

var _ transport.Overflow = (*PE)(nil)
