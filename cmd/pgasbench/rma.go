package main

// Puts and gets. Eight bytes go through the generated accessors of a record, as programs do it; other
// sizes are ranges of bytes. Operands walk through a ring, so that a store is not measured that the next
// one overtakes in the store buffer.

import (
	"errors"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// oneSided is a task of PE 0 alone.
func (r *runner) oneSided(batch func(first, n int) error, verify func(done int) error) task {
	return task{batch: batch, verify: verify, step: 1, alone: true, ways: 1, via: r.w.TransportTo(r.partner)}
}

func putTask(r *runner, size int) task {
	if size == 8 {
		return r.oneSided(r.putWords, r.checkCells)
	}
	r.fillRing(size)
	return r.oneSided(r.putBytes(size), r.checkRing(size))
}

func putQuietTask(r *runner, size int) task {
	if size == 8 {
		return r.oneSided(r.putWordsQuiet, r.checkCells)
	}
	r.fillRing(size)
	return r.oneSided(r.putBytesQuiet(size), r.checkRing(size))
}

func (r *runner) putWords(first, n int) error {
	cells, to, mask := r.cells, r.partner, r.cells.Len()-1
	for i := first; i < first+n; i++ {
		cells.At(i&mask).PutValue(to, uint64(i))
	}
	return nil
}

func (r *runner) putWordsQuiet(first, n int) error {
	cells, to, mask := r.cells, r.partner, r.cells.Len()-1
	for i := first; i < first+n; i++ {
		cells.At(i&mask).PutValue(to, uint64(i))
		if err := r.w.Quiet(r.ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) putBytes(size int) func(first, n int) error {
	return func(first, n int) error {
		area, to, mask, source := r.area, r.partner, result.Slots(size)-1, r.payload[:size]
		for i := first; i < first+n; i++ {
			stamp(source, i)
			at := (i & mask) * size
			area.Range(at, at+size).Put(to, source)
		}
		return nil
	}
}

func (r *runner) putBytesQuiet(size int) func(first, n int) error {
	put := r.putBytes(size)
	return func(first, n int) error {
		for i := first; i < first+n; i++ {
			if err := put(i, 1); err != nil {
				return err
			}
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
	fill(r.payload[:size])
	fill(r.area.Local()[:size])
	stream := r.inWindows(func(first, n int) error {
		source, target := r.payload[:size], r.area.Range(0, size)
		stamp(source, first)
		for range n {
			target.PutNB(r.partner, source)
		}
		return nil
	})
	t := r.oneSided(stream, func(done int) error {
		if r.w.PE() != r.partner {
			return nil
		}
		return checkPayload(r.area.Local()[:size], done-result.Window)
	})
	t.step = result.Window
	return t
}

func (r *runner) fillRing(size int) {
	fill(r.payload[:size])
	for slot := range result.Slots(size) {
		fill(r.area.Local()[slot*size : (slot+1)*size])
	}
}

// checkCells checks the ring of cells of the partner.
func (r *runner) checkCells(done int) error {
	if r.w.PE() != r.partner {
		return nil
	}
	for slot, cell := range r.cells.Local() {
		if slot < done && cell.Value != uint64(lastIn(slot, r.cells.Len(), done)) {
			return checkWord(cell.Value, lastIn(slot, r.cells.Len(), done))
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
			if err := checkPayload(r.area.Local()[slot*size:(slot+1)*size], lastIn(slot, slots, done)); err != nil {
				return err
			}
		}
		return nil
	}
}

// errGot reports a value that came back wrong.
var errGot = errors.New("a value that came back is wrong")

// getTask: each slot holds its own number, and what comes back is compared with it.
func getTask(r *runner, size int) task {
	var wrong uint64
	verify := func(int) error {
		if wrong != 0 {
			return errGot
		}
		return nil
	}
	if size == 8 {
		for i := range r.cells.Local() {
			r.cells.Local()[i].Value = uint64(i)
		}
		return r.oneSided(r.getWords(&wrong), verify)
	}
	slots := result.Slots(size)
	r.fillRing(size)
	for slot := range slots {
		stamp(r.area.Local()[slot*size:(slot+1)*size], slot)
	}
	return r.oneSided(r.getBytes(size, &wrong), func(done int) error {
		if err := verify(done); err != nil || r.w.PE() != 0 {
			return err
		}
		return checkPayload(r.payload[:size], (done-1)&(slots-1))
	})
}

func (r *runner) getWords(wrong *uint64) func(first, n int) error {
	return func(first, n int) error {
		cells, from, mask := r.cells, r.partner, r.cells.Len()-1
		var bits uint64
		for i := first; i < first+n; i++ {
			bits |= cells.At(i&mask).GetValue(from) ^ uint64(i&mask)
		}
		*wrong |= bits
		return nil
	}
}

func (r *runner) getBytes(size int, wrong *uint64) func(first, n int) error {
	return func(first, n int) error {
		area, from, mask, dst := r.area, r.partner, result.Slots(size)-1, r.payload[:size]
		var bits byte
		for i := first; i < first+n; i++ {
			at := (i & mask) * size
			area.Range(at, at+size).Get(from, dst)
			bits |= dst[0] ^ byte(i&mask)
		}
		*wrong |= uint64(bits)
		return nil
	}
}
