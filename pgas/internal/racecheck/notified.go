package racecheck

// Notified accesses. One that finds the target's queue full has done nothing, and is tried again: it is told once.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// begin notes that c issues a notified access. told says whether the detector has its record already.
func (c *Context) beginNote(to int, k NoteKey) (s *noteState, told, mixed bool) {
	p := c.pe
	p.mu.Lock()
	defer p.mu.Unlock()
	s = p.notes[noteTo{to, k}]
	if s == nil {
		s = &noteState{context: c, mixed: len(p.notes) >= mostNotes}
		if s.mixed {
			p.lost(UnseenNotes)
		} else {
			p.notes[noteTo{to, k}] = s
		}
	}
	s.underway++
	s.mixed = s.mixed || s.context != c || s.underway > 1 || c.crowded
	s.context = c
	if told = s.refused > 0; told {
		s.refused--
	}
	return s, told, s.mixed
}

// endNote ends what beginNote began. ok says whether the access was issued.
func (c *Context) endNote(s *noteState, ok bool) {
	c.pe.mu.Lock()
	defer c.pe.mu.Unlock()
	s.underway--
	if !ok {
		s.refused++
	}
}

// Got notes that a request of the PE has got a note.
func (p *PE) Got(ctx context.Context, n transport.Note) {
	p.acquire(ctx, int(p.me), Question{Note: &NoteKey{n.Stamp, n.Bytes, n.Off}})
}

// Probed notes that the PE has seen a note, which a request may still get.
func (p *PE) Probed(ctx context.Context, n transport.Note) {
	if p == nil {
		return
	}
	p.acquire(ctx, int(p.me), Question{Note: &NoteKey{n.Stamp, n.Bytes, n.Off}, Stays: true})
}

func (ch *channel) PutNotify(pe int, dst uint64, src []byte, s transport.Stamp) bool {
	k := NoteKey{s, uint64(len(src)), dst}
	state, told, mixed := ch.c.beginNote(pe, k)
	if !told {
		site := ch.c.pe.Here()
		ch.c.pe.touch(src, Read, whole(len(src)), site)
		ch.operationAt(site, notifiedStream, pe, Write, dst, whole(len(src)), Record{Release: ReleaseNote, Key: k, Mixed: mixed})
	}
	ok := ch.Channel.PutNotify(pe, dst, src, s)
	ch.c.endNote(state, ok)
	return ok
}

func (ch *channel) GetNotify(ctx context.Context, pe int, dst []byte, src uint64, s transport.Stamp) (bool, error) {
	k := NoteKey{s, uint64(len(dst)), src}
	state, told, mixed := ch.c.beginNote(pe, k)
	done := func() {}
	if !told {
		done = ch.get(pe, dst, whole(len(dst)), src, whole(len(dst)), Record{Release: ReleaseNote, Key: k, Mixed: mixed})
	}
	ok, err := ch.Channel.GetNotify(ctx, pe, dst, src, s)
	ch.c.endNote(state, ok)
	if err == nil {
		done()
	}
	return ok, err
}

func (ch *channel) GetNotifyNB(pe int, dst []byte, src uint64, s transport.Stamp) bool {
	k := NoteKey{s, uint64(len(dst)), src}
	state, told, mixed := ch.c.beginNote(pe, k)
	if !told {
		a := ch.operation(notifiedStream, pe, Read, src, whole(len(dst)), Record{Release: ReleaseNote, Key: k, Mixed: mixed})
		ch.fills(dst, a, whole(len(dst)))
	}
	ok := ch.Channel.GetNotifyNB(pe, dst, src, s)
	ch.c.endNote(state, ok)
	return ok
}

func (ch *channel) AtomicNotify(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64, s transport.Stamp) (uint64, bool, error) {
	k := NoteKey{s, uint64(word.Bytes), word.Off}
	state, told, mixed := ch.c.beginNote(pe, k)
	how, release := update(op)
	done := func() {}
	if !told {
		done = ch.fetch(ctx, pe, how, word, Record{Release: release | ReleaseNote, Key: k, Mixed: mixed})
	}
	old, ok, err := ch.Channel.AtomicNotify(ctx, pe, op, word, operand, cond, s)
	ch.c.endNote(state, ok)
	if err == nil && ok {
		done()
	}
	return old, ok, err
}

func (ch *channel) PostNotify(pe int, op transport.Op, word transport.Word, operand uint64, s transport.Stamp) bool {
	k := NoteKey{s, uint64(word.Bytes), word.Off}
	state, told, mixed := ch.c.beginNote(pe, k)
	how, release := update(op)
	if !told {
		ch.operation(notifiedStream, pe, how, word.Off, whole(word.Bytes), Record{Release: release | ReleaseNote, Key: k, Mixed: mixed})
	}
	ok := ch.Channel.PostNotify(pe, op, word, operand, s)
	ch.c.endNote(state, ok)
	return ok
}
