package main

// Ping-pongs: a payload and a signal that counts up go to the partner and come back. A PE that sees the
// signal must see the payload of the same number; its first eight bytes are compared each time.

import (
	"encoding/binary"

	"github.com/gopgas/gopgas/cmd/pgasbench/payload"
	"github.com/gopgas/gopgas/pgas"
)

// A ball is one direction of a ping-pong, seen from one PE.
type ball struct {
	r    *runner
	flag pgas.SignalRef
	send func(to, number int)
	come func(number int) error // waits for the ball; nil: for its flag
	mine []byte                 // where payloads arrive; empty if the flag is all there is
}

func (b *ball) await(number int) error {
	if b.come != nil {
		if err := b.come(number); err != nil {
			return err
		}
	} else if _, err := b.flag.WaitUntil(b.r.ctx, pgas.GE, uint64(number)); err != nil {
		return err
	}
	if len(b.mine) >= 8 {
		b.r.wrong |= binary.LittleEndian.Uint64(b.mine) ^ uint64(number)
	}
	return nil
}

func (b *ball) play(first, n int) error {
	switch b.r.w.PE() {
	case 0:
		for i := first + 1; i <= first+n; i++ {
			b.send(b.r.partner, i)
			if err := b.await(i); err != nil {
				return err
			}
		}
	case b.r.partner:
		for i := first + 1; i <= first+n; i++ {
			if err := b.await(i); err != nil {
				return err
			}
			b.send(0, i)
		}
	}
	return nil
}

func (b *ball) task() task {
	pe := b.r.w.PE()
	verify := func(done int) error {
		if err := b.r.checkGot(done); err != nil || len(b.mine) == 0 || pe != 0 && pe != b.r.partner {
			return err
		}
		return payload.Check(b.mine, done)
	}
	return task{batch: b.play, verify: verify, step: 1, ways: 2, via: b.r.w.TransportTo(b.r.partner)}
}

// newBall makes this PE ready for payloads of size bytes. The signal counts from 0: a barrier stands
// between this and the first ping.
func (r *runner) newBall(size int) *ball {
	payload.Fill(r.payload[:size])
	payload.Fill(r.area.Local()[:size])
	r.board.Flag().Set(r.w.PE(), 0)
	return &ball{r: r, flag: r.board.Flag(), mine: r.area.Local()[:size]}
}

func signalTask(r *runner, size int) task {
	b := r.newBall(size)
	target, source := r.area.Range(0, size), r.payload[:size]
	b.send = func(to, number int) {
		payload.Stamp(source, number)
		target.PutSignal(to, source, b.flag, uint64(number))
	}
	if size == 8 {
		word, target := b.byWord(), r.ring.At(0)
		b.send = func(to, number int) {
			value := uint64(number)
			target.PutSignal(to, &value, b.flag, value)
		}
		b.come = func(number int) error {
			_, err := b.flag.WaitUntil(r.ctx, pgas.GE, uint64(number))
			r.wrong |= *word ^ uint64(number) // looked at each time, as payloads of every other size are
			return err
		}
		return b.checkedWord(b.task(), word)
	}
	return b.task()
}

func flagTask(r *runner, size int) task {
	b := r.newBall(size)
	if size == 8 {
		b.mine = nil
		b.send = func(to, number int) { b.flag.Set(to, uint64(number)) }
		t := b.task()
		t.verify = func(done int) error {
			if pe := r.w.PE(); pe != 0 && pe != r.partner {
				return nil
			}
			return checkWord(b.flag.Fetch(), done)
		}
		return t
	}
	target, source := r.area.Range(0, size), r.payload[:size]
	b.send = func(to, number int) {
		payload.Stamp(source, number)
		target.Put(to, source)
		r.w.Fence()
		b.flag.Set(to, uint64(number))
	}
	return b.task()
}

// byWord has b bring one word, which is looked at each time.
func (b *ball) byWord() *uint64 {
	word := &b.r.ring.Local()[0]
	*word, b.mine = 0, nil
	return word
}

// checkedWord returns t, which also checks the last word at its end.
func (b *ball) checkedWord(t task, word *uint64) task {
	t.verify = func(done int) error {
		if !b.r.plays() {
			return nil
		}
		if err := b.r.checkGot(done); err != nil {
			return err
		}
		return checkWord(*word, done)
	}
	return t
}
