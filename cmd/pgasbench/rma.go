package main

// Puts and gets. Eight bytes are words of an annotated struct, as programs have them; other sizes are
// ranges of bytes. Operands walk through a ring, so that a store is not measured that the next
// one overtakes in the store buffer.

import (
	"github.com/gopgas/gopgas/cmd/pgasbench/payload"
	"github.com/gopgas/gopgas/cmd/pgasbench/result"
	"github.com/gopgas/gopgas/pgas"
)

func putTask(r *runner, size int) task {
	if size == 8 {
		return r.oneSided(r.putWords, r.checkWords)
	}
	r.fillRing(size)
	return r.oneSided(r.putBytes(size), r.checkRing(size))
}

func putQuietTask(r *runner, size int) task {
	if size == 8 {
		return r.oneSided(r.putWordsQuiet, r.checkWords)
	}
	r.fillRing(size)
	return r.oneSided(r.putBytesQuiet(size), r.checkRing(size))
}

func (r *runner) putWords(first, n int) error {
	ring, to, mask := r.ring, r.partner, r.ring.Len()-1
	for i := first; i < first+n; i++ {
		ring.At(i&mask).Put(to, uint64(i))
	}
	return nil
}

func (r *runner) putWordsQuiet(first, n int) error {
	ring, to, mask := r.ring, r.partner, r.ring.Len()-1
	for i := first; i < first+n; i++ {
		ring.At(i&mask).Put(to, uint64(i))
		if err := r.w.Quiet(r.ctx); err != nil {
			return err
		}
	}
	return nil
}

// targets returns the ring of ranges of size bytes in the area.
func (r *runner) targets(size int) []pgas.Slice[byte] {
	targets := make([]pgas.Slice[byte], result.Slots(size))
	for slot := range targets {
		targets[slot] = r.area.Range(slot*size, (slot+1)*size)
	}
	return targets
}

func (r *runner) putBytes(size int) func(first, n int) error {
	targets := r.targets(size)
	return func(first, n int) error {
		to, mask, source := r.partner, len(targets)-1, r.payload[:size]
		for i := first; i < first+n; i++ {
			payload.Stamp(source, i)
			targets[i&mask].Put(to, source)
		}
		return nil
	}
}

func (r *runner) putBytesQuiet(size int) func(first, n int) error {
	targets := r.targets(size)
	return func(first, n int) error {
		to, mask, source := r.partner, len(targets)-1, r.payload[:size]
		for i := first; i < first+n; i++ {
			payload.Stamp(source, i)
			targets[i&mask].Put(to, source)
			if err := r.w.Quiet(r.ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func rateTask(r *runner, size int) task {
	t := putTask(r, size)
	t.batch = r.inWindows(t.batch)
	t.step = result.Window
	return t
}

// inWindows ends every window of puts with a quiet. A put's source may be reused when it returns, so one
// source will do.
func (r *runner) inWindows(put func(first, n int) error) func(first, n int) error {
	return func(first, n int) error {
		for i := first; i < first+n; i += result.Window {
			if err := put(i, result.Window); err != nil {
				return err
			}
			if err := r.w.Quiet(r.ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// bandwidthTask puts one source to one target again and again; the source changes once a window.
func bandwidthTask(r *runner, size int) task {
	payload.Fill(r.payload[:size])
	payload.Fill(r.area.Local()[:size])
	stream := r.inWindows(func(first, n int) error {
		source, target := r.payload[:size], r.area.Range(0, size)
		payload.Stamp(source, first)
		for range n {
			target.PutNB(r.partner, source)
		}
		return nil
	})
	t := r.oneSided(stream, func(done int) error {
		if r.w.PE() != r.partner {
			return nil
		}
		return payload.Check(r.area.Local()[:size], done-result.Window)
	})
	t.step = result.Window
	return t
}

func (r *runner) fillRing(size int) {
	payload.Fill(r.payload[:size])
	for slot := range result.Slots(size) {
		payload.Fill(r.area.Local()[slot*size : (slot+1)*size])
	}
}

// checkWords checks the ring of words of the partner.
func (r *runner) checkWords(done int) error {
	if r.w.PE() != r.partner {
		return nil
	}
	for slot, word := range r.ring.Local()[:min(ringLen, done)] {
		if err := checkWord(word, payload.LastIn(slot, ringLen, done)); err != nil {
			return err
		}
	}
	return nil
}

// checkRing checks the ring of byte ranges of the partner.
func (r *runner) checkRing(size int) func(done int) error {
	return func(done int) error {
		if r.w.PE() != r.partner {
			return nil
		}
		slots := result.Slots(size)
		for slot := range min(slots, done) {
			if err := payload.Check(r.area.Local()[slot*size:(slot+1)*size], payload.LastIn(slot, slots, done)); err != nil {
				return err
			}
		}
		return nil
	}
}

// getTask makes a task of gets. Each slot holds its own number, and what comes back is compared with it.
func getTask(r *runner, size int) task {
	if size == 8 {
		for i := range r.ring.Local() {
			r.ring.Local()[i] = uint64(i)
		}
		return r.oneSided(r.getWords, r.checkGot)
	}
	slots := result.Slots(size)
	r.fillRing(size)
	for slot := range slots {
		payload.Stamp(r.area.Local()[slot*size:(slot+1)*size], slot)
	}
	return r.oneSided(r.getBytes(size), func(done int) error {
		if err := r.checkGot(done); err != nil || r.w.PE() != 0 {
			return err
		}
		return payload.Check(r.payload[:size], (done-1)&(slots-1))
	})
}

func (r *runner) getWords(first, n int) error {
	ring, from, mask := r.ring, r.partner, r.ring.Len()-1
	var wrong uint64
	for i := first; i < first+n; i++ {
		wrong |= ring.At(i&mask).Get(from) ^ uint64(i&mask)
	}
	r.wrong |= wrong
	return nil
}

func (r *runner) getBytes(size int) func(first, n int) error {
	sources := r.targets(size)
	return func(first, n int) error {
		from, mask, dst := r.partner, len(sources)-1, r.payload[:size]
		var wrong byte
		for i := first; i < first+n; i++ {
			sources[i&mask].Get(from, dst)
			wrong |= dst[0] ^ byte(i&mask)
		}
		r.wrong |= uint64(wrong)
		return nil
	}
}
