package racecheck

// Channels whose operations are told to the detectors. The record of an operation is told before the operation goes
// out, so a PE that sees its effect finds the record.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/transport"
)

// channel is a channel of a Context.
type channel struct {
	transport.Channel
	c *Context
}

// operation tells of an operation that is under way, and returns its access. It comes after r.Clock too.
func (ch *channel) operation(stream, to int, how How, off uint64, b blocks, r Record) Access {
	return ch.operationAt(ch.c.pe.Here(), stream, to, how, off, b, r)
}

// operationAt is operation at a Site.
func (ch *channel) operationAt(site Site, stream, to int, how How, off uint64, b blocks, r Record) Access {
	ch.c.pe.mu.Lock()
	r.Access = ch.c.issue(stream, to, how, off, b, r.Clock, site)
	ch.c.pe.mu.Unlock()
	r.Off, r.Bytes, r.Stride, r.Count = off, b.bytes, b.stride, b.count
	ch.c.pe.tell(ch.Channel, to, r)
	return r.Access
}

// fills notes that the operation with an access fills memory of this process.
func (ch *channel) fills(mem []byte, a Access, b blocks) {
	if len(mem) == 0 || b.count == 0 {
		return
	}
	p := ch.c.pe
	p.mu.Lock()
	f := ch.c.issue(fillStream, int(a.To), Write, 0, blocks{}, nil, a.Site)
	p.mu.Unlock()
	f.Local, f.Clock = true, a.release() // the value comes after the access
	p.use(mem, f, b)
}

func (ch *channel) Put(pe int, dst uint64, src []byte) {
	site := ch.c.pe.Here()
	ch.c.pe.touch(src, Read, whole(len(src)), site)
	ch.operationAt(site, plainStream, pe, Write, dst, whole(len(src)), Record{})
	ch.Channel.Put(pe, dst, src)
}

func (ch *channel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	ch.c.pe.touch(src, Read, whole(len(src)), ch.c.pe.Here())
	ch.signal(pe, dst, src, sig)
	ch.Channel.PutSignal(pe, dst, src, sig, op, value)
}

// signal tells of the two operations of a put with a signal.
func (ch *channel) signal(pe int, dst uint64, src []byte, sig uint64) {
	r := Record{Release: ReleaseWord}
	if len(src) > 0 {
		payload := ch.operation(plainStream, pe, Write, dst, whole(len(src)), Record{})
		r.Clock = payload.release()
	}
	ch.operation(plainStream, pe, AtomicWrite, sig, whole(8), r)
}

func (ch *channel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	done := ch.get(pe, dst, whole(len(dst)), src, whole(len(dst)), Record{})
	err := ch.Channel.Get(ctx, pe, dst, src)
	done()
	return err
}

// get tells of a get that waits. The caller calls done when it has waited.
func (ch *channel) get(pe int, dst []byte, here blocks, src uint64, there blocks, r Record) (done func()) {
	c, p := ch.c, ch.c.pe
	site := p.Here()
	p.mu.Lock()
	r.Access = c.step(pe, Read, src, there, site)
	known := r.Access
	if r.Release != 0 {
		c.fence(&r.Access, c.target(pe))
		r.Fenced[notifiedStream] = c.issued[notifiedStream]
		p.own++
	}
	p.mu.Unlock()
	r.Off, r.Bytes, r.Stride, r.Count = src, there.bytes, there.stride, there.count
	p.tell(ch.Channel, pe, r)
	return func() {
		p.mu.Lock()
		p.learn(&known)
		p.mu.Unlock()
		p.touch(dst, Write, here, site)
	}
}

func (ch *channel) GetNB(pe int, dst []byte, src uint64) {
	a := ch.operation(getStream, pe, Read, src, whole(len(dst)), Record{})
	ch.fills(dst, a, whole(len(dst)))
	ch.Channel.GetNB(pe, dst, src)
}

// update returns how an atomic operation accesses its word, and what it releases.
func update(op transport.Op) (How, Release) {
	if op == transport.Fetch {
		return AtomicRead, 0
	}
	return AtomicWrite, ReleaseWord
}

func (ch *channel) Atomic(ctx context.Context, pe int, op transport.Op, word transport.Word, operand, cond uint64) (uint64, error) {
	how, release := update(op)
	done := ch.fetch(ctx, pe, how, word, Record{Release: release})
	old, err := ch.Channel.Atomic(ctx, pe, op, word, operand, cond)
	if err == nil {
		done()
	}
	return old, err
}

// fetch tells of an atomic that waits. The caller calls done when it has waited.
func (ch *channel) fetch(ctx context.Context, pe int, how How, word transport.Word, r Record) (done func()) {
	c, p := ch.c, ch.c.pe
	site := p.Here()
	p.mu.Lock()
	r.Access = c.step(pe, how, word.Off, whole(word.Bytes), site)
	known := r.Access
	if r.Release&ReleaseNote != 0 {
		r.Fenced[notifiedStream] = c.issued[notifiedStream]
	}
	if r.Release != 0 {
		p.own++
	}
	p.mu.Unlock()
	r.Off, r.Bytes, r.Stride, r.Count = word.Off, uint64(word.Bytes), uint64(word.Bytes), 1
	p.tell(ch.Channel, pe, r)
	return func() {
		p.mu.Lock()
		p.learn(&known)
		p.mu.Unlock()
		p.acquire(ctx, pe, Question{Word: word.Off, Bytes: uint64(word.Bytes)})
	}
}

func (ch *channel) AtomicNB(pe int, op transport.Op, word transport.Word, operand, cond uint64, dst []byte) {
	how, release := update(op)
	a := ch.operation(plainStream, pe, how, word.Off, whole(word.Bytes), Record{Release: release})
	ch.fills(dst, a, whole(len(dst)))
	ch.Channel.AtomicNB(pe, op, word, operand, cond, dst)
	// Not before: a quiet of another goroutine would learn what the word had before this operation looked at it.
	ch.c.pe.mu.Lock()
	if !ch.c.to[pe].fetch(words{lo: word.Off, hi: word.Off + uint64(word.Bytes), upTo: a.Number}) {
		ch.c.pe.lost(UnseenRanges)
	}
	ch.c.pe.mu.Unlock()
}

func (ch *channel) Post(pe int, op transport.Op, word transport.Word, operand uint64) {
	how, release := update(op)
	ch.operation(plainStream, pe, how, word.Off, whole(word.Bytes), Record{Release: release})
	ch.Channel.Post(pe, op, word, operand)
}

// strided is the strided interface of a channel.
type strided struct {
	transport.Strider
	ch *channel
}

// here and there return the blocks of a strided transfer in this process and in the heap of the other PE.
func here(b transport.Strided) blocks {
	return blocks{uint64(b.BlockBytes), uint64(b.LocalStride), countOf(b)}
}

func there(b transport.Strided) blocks {
	return blocks{uint64(b.BlockBytes), uint64(b.RemoteStride), countOf(b)}
}

// countOf returns the number of blocks that have bytes.
func countOf(b transport.Strided) uint64 {
	if b.BlockBytes == 0 {
		return 0
	}
	return uint64(b.Count)
}

func (s strided) PutStrided(pe int, dst uint64, src []byte, b transport.Strided) {
	site := s.ch.c.pe.Here()
	s.ch.c.pe.touch(src, Read, here(b), site)
	s.ch.operationAt(site, plainStream, pe, Write, dst, there(b), Record{})
	s.Strider.PutStrided(pe, dst, src, b)
}

func (s strided) GetStrided(ctx context.Context, pe int, dst []byte, src uint64, b transport.Strided) error {
	done := s.ch.get(pe, dst, here(b), src, there(b), Record{})
	err := s.Strider.GetStrided(ctx, pe, dst, src, b)
	done()
	return err
}

func (s strided) GetStridedNB(pe int, dst []byte, src uint64, b transport.Strided) {
	a := s.ch.operation(getStream, pe, Read, src, there(b), Record{})
	s.ch.fills(dst, a, here(b))
	s.Strider.GetStridedNB(pe, dst, src, b)
}
