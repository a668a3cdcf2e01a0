package dsmbench

// Figure 1 of the paper: three ways in which a writer's changes reach a block that another PE has changed, too.
//
//	merge    the writer gets the block, and merges its own bytes into it: the home moves to the writer
//	packed   the writer packs what differs from its twin and puts it to the home, which unpacks it and answers
//	puts     the writer puts each run that differs to the home
//
// The first is the figure, each of the others once beside it.

import (
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
)

// changedPercents are the parts of a block that the writer has changed.
var changedPercents = []int{1, 10, 50, 100}

// A merger is one PE with a block and the ways to merge it.
type merger struct {
	m       *meter
	block   pgas.Sym[byte] // the block at its home
	moved   pgas.Sym[uint64]
	packed  pgas.Sym[byte] // a diff on its way: pairs of position and length, and bytes
	signals pgas.Sym[pgas.Signal]
	own     []byte // the copy of the writer
	twin    []byte
	latest  []byte
	diff    []byte
	sent    uint64
	served  uint64
}

// mergeAtWriter measures all ways for each part.
func mergeAtWriter(m *meter, block int) error {
	// for its counts, all zero
	r, err := dsm.Open(m.ctx, m.w, dsm.Options{Bytes: uint64(block), Block: block, Mode: dsm.Soft})
	if err != nil {
		return err
	}
	for _, percent := range changedPercents {
		for _, way := range []string{"packed", "puts"} {
			if err := mergeTrial(m, r, block, percent, way); err != nil {
				return err
			}
		}
	}
	return r.Close(m.ctx)
}

// mergeTrial measures merging at the writer beside another way.
func mergeTrial(m *meter, r *dsm.Region, block, percent int, way string) error {
	x, free, err := newMerger(m, block, percent)
	if err != nil {
		return err
	}
	beside := x.putRuns
	if way == "packed" {
		beside = x.sendPacked
	}
	t := trial{
		what: fmt.Sprintf("%d %%, %s", percent, way), block: block, region: r, ops: 1, alone: true,
		operate: x.getAndMerge, beside: beside,
		after: func(int) error { return x.serveRound(way == "packed") },
		check: func(int) error { return x.check() },
	}
	if err := m.measure(t); err != nil {
		return err
	}
	return free()
}

// newMerger allocates what the ways need. Runs of eight bytes are changed, evenly spread. It is collective, and so is
// free.
func newMerger(m *meter, block, percent int) (x *merger, free func() error, err error) {
	x = &merger{m: m, own: make([]byte, block), twin: make([]byte, block), latest: make([]byte, block)}
	if x.block, err = pgas.Alloc[byte](m.ctx, m.w, block); err != nil {
		return nil, nil, err
	}
	if x.moved, err = pgas.Alloc[uint64](m.ctx, m.w, 1); err != nil {
		return nil, nil, err
	}
	if x.packed, err = pgas.Alloc[byte](m.ctx, m.w, 3*block+8); err != nil {
		return nil, nil, err
	}
	if x.signals, err = pgas.Alloc[pgas.Signal](m.ctx, m.w, 2); err != nil {
		return nil, nil, err
	}
	words := block / 8
	for i := range words {
		if (i+1)*percent/100 > i*percent/100 {
			for k := range 8 {
				x.own[8*i+k] = byte(1 + i%200)
			}
		}
	}
	return x, func() error {
		for _, f := range []func() error{
			func() error { return x.block.Free(m.ctx) }, func() error { return x.moved.Free(m.ctx) },
			func() error { return x.packed.Free(m.ctx) }, func() error { return x.signals.Free(m.ctx) },
		} {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}, m.w.Barrier(m.ctx)
}

// getAndMerge gets the block, writes the own bytes over it, and tells the home that it has moved.
func (x *merger) getAndMerge(int) error {
	x.block.All().Get(x.m.partner, x.latest)
	own, twin, latest := x.own, x.twin, x.latest
	for i := 0; i+8 <= len(own); i += 8 {
		if o, t := binary.LittleEndian.Uint64(own[i:]), binary.LittleEndian.Uint64(twin[i:]); o != t {
			mergeWord(own[i:i+8], twin[i:i+8], latest[i:i+8])
		}
	}
	pgas.AtomicOf(x.moved, 0).Swap(x.m.partner, 1)
	return nil
}

// mergeWord writes those bytes of own that differ from twin over latest.
func mergeWord(own, twin, latest []byte) {
	for k := range own {
		if own[k] != twin[k] {
			latest[k] = own[k]
		}
	}
}

// runs calls f for each run of words that differ.
func (x *merger) runs(f func(lo, hi int)) {
	for i := 0; i < len(x.own); {
		if binary.LittleEndian.Uint64(x.own[i:]) == binary.LittleEndian.Uint64(x.twin[i:]) {
			i += 8
			continue
		}
		lo := i
		for i < len(x.own) && binary.LittleEndian.Uint64(x.own[i:]) != binary.LittleEndian.Uint64(x.twin[i:]) {
			i += 8
		}
		f(lo, i)
	}
}

// putRuns puts each run to the home.
func (x *merger) putRuns(int) error {
	x.runs(func(lo, hi int) { x.block.Range(lo, hi).PutNB(x.m.partner, x.own[lo:hi]) })
	return x.m.w.Quiet(x.m.ctx)
}

// sendPacked packs what differs, puts it to the home and waits until that has unpacked it.
func (x *merger) sendPacked(int) error {
	x.diff = append(x.diff[:0], make([]byte, 8)...)
	x.runs(func(lo, hi int) {
		x.diff = binary.LittleEndian.AppendUint32(x.diff, uint32(lo))
		x.diff = binary.LittleEndian.AppendUint32(x.diff, uint32(hi-lo))
		x.diff = append(x.diff, x.own[lo:hi]...)
	})
	binary.LittleEndian.PutUint64(x.diff, uint64(len(x.diff)))
	x.sent++
	x.packed.Range(0, len(x.diff)).PutSignal(x.m.partner, x.diff, pgas.SignalOf(x.signals, 0), x.sent)
	_, err := pgas.SignalOf(x.signals, 1).WaitUntil(x.m.ctx, pgas.GE, x.sent)
	return err
}

// serveRound unpacks one diff, on the home.
func (x *merger) serveRound(packed bool) error {
	if !packed || !x.m.last {
		return nil
	}
	x.served++
	if _, err := pgas.SignalOf(x.signals, 0).WaitUntil(x.m.ctx, pgas.GE, x.served); err != nil {
		return err
	}
	diff, to := x.packed.Local(), x.block.Local()
	n := binary.LittleEndian.Uint64(diff)
	for at := uint64(8); at < n; {
		lo, length := uint64(binary.LittleEndian.Uint32(diff[at:])), uint64(binary.LittleEndian.Uint32(diff[at+4:]))
		copy(to[lo:lo+length], diff[at+8:at+8+length])
		at += 8 + length
	}
	pgas.SignalOf(x.signals, 1).Set(0, x.served)
	return nil
}

// check compares the home's block, and what was merged at the writer, with the writer's.
func (x *merger) check() error {
	if err := x.m.w.Barrier(x.m.ctx); err != nil {
		return err
	}
	if x.m.first {
		home := make([]byte, len(x.own))
		x.block.All().Get(x.m.partner, home)
		for i := range home {
			if home[i] != x.own[i] || x.latest[i] != x.own[i] {
				return fmt.Errorf("byte %d is %d at the home and %d after merging, instead of %d", i, home[i], x.latest[i], x.own[i])
			}
		}
	}
	return x.m.w.Barrier(x.m.ctx)
}
