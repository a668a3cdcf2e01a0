package main

// Notified accesses, and what they are compared with: the same transfer with a flag that is raised when it is
// complete, and with a signal. A PE that is notified must see the data of the same number.

import (
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasbench/payload"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

var fromWord = sizes{8, mostBytes, 1}

var benchesOfNotes = []bench{
	{"notify-pingpong", "notified put there and back, one way", fromWord, true, notifyTask},
	{"quiet-pingpong", "put, quiet, and then a flag, there and back, one way", fromWord, true, quietTask},
	{"get-notify-pingpong", "notified get by one PE and then by the other, one way", fromWord, true, getNotifyTask},
	{"get-flag-pingpong", "get, and then a flag, by one PE and then by the other, one way", fromWord, true, getFlagTask},
	{"notify-rate", "notified puts of 8 bytes of all PEs to the last one", oneWord, true, notifyRateTask},
	{"signal-rate", "puts of 8 bytes of all PEs to the last one that add to its signal", oneWord, true, signalRateTask},
	{"notify-overlap", "notified put and quiet, with a computation between the two by pgasbench notify", fromWord, true, overlapTask},
}

// other returns the PE that this one plays with.
func (r *runner) other() int {
	if r.w.PE() == 0 {
		return r.partner
	}
	return 0
}

// ballTag is the tag of whatever goes to and fro.
const ballTag = 1

// notified lets b wait for a notification. The request ends with the task.
func (b *ball) notified(t task) task {
	request := notify.New(b.r.w, b.r.other(), ballTag, 1)
	wait := b.come
	b.come = func(number int) error {
		request.Start()
		_, err := request.Wait(b.r.ctx)
		if err == nil && wait != nil {
			err = wait(number)
		}
		return err
	}
	t.end = request.Free
	return t
}

func notifyTask(r *runner, size int) task {
	b := r.newBall(size)
	if size == 8 {
		word, target := b.byWord(), r.ring.At(0)
		b.send = func(to, number int) {
			value := uint64(number)
			target.PutNotify(to, &value, ballTag)
		}
		b.come = func(number int) error {
			r.wrong |= *word ^ uint64(number)
			return nil
		}
		return b.notified(b.checkedWord(b.task(), word))
	}
	target, source := r.area.Range(0, size), r.payload[:size]
	b.send = func(to, number int) {
		payload.Stamp(source, number)
		target.PutNotify(to, source, ballTag)
	}
	return b.notified(b.task())
}

// quietTask measures what one-sided access has without notifications: the flag may be sent only when the data has
// arrived.
func quietTask(r *runner, size int) task {
	b := r.newBall(size)
	target, source := r.area.Range(0, size), r.payload[:size]
	var failed error
	b.send = func(to, number int) {
		payload.Stamp(source, number)
		target.Put(to, source)
		failed = r.w.Quiet(r.ctx)
		b.flag.Set(to, uint64(number))
	}
	t := b.task()
	play := t.batch
	t.batch = func(first, n int) error {
		if err := play(first, n); err != nil {
			return err
		}
		return failed
	}
	return t
}

// getsTask has the two PEs read each other's memory in turn. A PE that has been told that its memory was read writes
// the next number into it, before it reads the partner's.
func getsTask(r *runner, size int, read func(b *ball, source pgas.Slice[byte], from, number int)) (*ball, task) {
	b := r.newBall(size)
	mine := r.area.Local()[:size]
	payload.Stamp(mine, 1)
	source := r.area.Range(0, size)
	b.mine = nil // nothing is put
	b.send = func(from, number int) {
		read(b, source, from, number)
		if err := checkHead(r.payload[:size], number); err != nil {
			r.wrong |= 1
		}
	}
	b.come = func(number int) error {
		payload.Stamp(mine, number+1)
		return nil
	}
	t := b.task()
	t.verify = func(done int) error {
		if !r.plays() {
			return nil
		}
		if err := r.checkGot(done); err != nil {
			return err
		}
		return payload.Check(r.payload[:size], done)
	}
	return b, t
}

// checkHead checks the first word of a payload.
func checkHead(p []byte, number int) error { return payload.Check(p[:8], number) }

func getNotifyTask(r *runner, size int) task {
	b, t := getsTask(r, size, func(b *ball, source pgas.Slice[byte], from, _ int) {
		source.GetNotify(from, r.payload[:size], ballTag)
	})
	return b.notified(t)
}

func getFlagTask(r *runner, size int) task {
	b, t := getsTask(r, size, func(b *ball, source pgas.Slice[byte], from, number int) {
		source.Get(from, r.payload[:size])
		b.flag.Set(from, uint64(number))
	})
	read := b.come
	b.come = func(number int) error {
		if _, err := b.flag.WaitUntil(r.ctx, pgas.GE, uint64(number)); err != nil {
			return err
		}
		return read(number)
	}
	return t
}

// rateTask makes a batch of puts of each PE to the last one, which tells all when it has seen them.
func (r *runner) manyToOne(put func(to, number int), seen func(done, n int) error) task {
	me, senders := r.w.PE(), r.w.NPEs()-1
	back := notify.New(r.w, r.partner, ballTag, 1)
	batch := func(first, n int) error {
		if me == r.partner {
			if err := seen(first+n, n*senders); err != nil {
				return err
			}
			for pe := range senders {
				r.w.Notify(pe, ballTag)
			}
			return nil
		}
		for i := first + 1; i <= first+n; i++ {
			put(r.partner, i)
		}
		back.Start()
		_, err := back.Wait(r.ctx)
		return err
	}
	words := r.ring.Local()
	clear(words)
	verify := func(done int) error {
		if me != r.partner {
			return nil
		}
		for pe := range senders {
			if err := checkWord(words[pe%ringLen], done); err != nil {
				return fmt.Errorf("of PE %d: %w", pe, err)
			}
		}
		return nil
	}
	return task{batch: batch, verify: verify, step: 64, ways: float64(senders), via: r.w.TransportTo(r.partner), long: true, end: back.Free}
}

// arrivalsTag is the tag of the many.
const arrivalsTag = 2

func notifyRateTask(r *runner, _ int) task {
	word := r.ring.At(r.w.PE() % ringLen)
	return r.manyToOne(func(to, number int) {
		value := uint64(number)
		word.PutNotify(to, &value, arrivalsTag)
	}, func(_, n int) error {
		all := notify.New(r.w, notify.Any, arrivalsTag, n)
		defer all.Free()
		all.Start()
		if _, err := all.Wait(r.ctx); err != nil {
			all.Cancel()
			return err
		}
		return nil
	})
}

func signalRateTask(r *runner, _ int) task {
	word, flag := r.ring.At(r.w.PE()%ringLen), r.board.Flag()
	flag.Set(r.w.PE(), 0)
	return r.manyToOne(func(to, number int) {
		value := uint64(number)
		word.PutSignalAdd(to, &value, flag, 1)
	}, func(done, _ int) error {
		_, err := flag.WaitUntil(r.ctx, pgas.GE, uint64(done*(r.w.NPEs()-1)))
		return err
	})
}

// overlapTask makes a task of a notified put, r.compute and a quiet. The partner waits for the notifications of a
// batch.
func overlapTask(r *runner, size int) task {
	payload.Fill(r.payload[:size])
	payload.Fill(r.area.Local()[:size])
	target, source := r.area.Range(0, size), r.payload[:size]
	batch := func(first, n int) error {
		switch r.w.PE() {
		case 0:
			for i := first + 1; i <= first+n; i++ {
				payload.Stamp(source, i)
				target.PutNotifyNB(r.partner, source, arrivalsTag)
				if r.compute != nil {
					if err := r.compute(); err != nil {
						return err
					}
				}
				if err := r.w.Quiet(r.ctx); err != nil {
					return err
				}
			}
		case r.partner:
			all := notify.New(r.w, 0, arrivalsTag, n)
			defer all.Free()
			all.Start()
			if _, err := all.Wait(r.ctx); err != nil {
				all.Cancel()
				return err
			}
		}
		return nil
	}
	return task{batch: batch, step: 1, ways: 1, via: r.w.TransportTo(r.partner), verify: func(done int) error {
		if r.w.PE() != r.partner {
			return nil
		}
		return payload.Check(r.area.Local()[:size], done)
	}}
}
