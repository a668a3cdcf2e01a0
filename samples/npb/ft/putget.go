package main

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// exchange is what a PE sends to the others and gets from them. All that one PE has for another is one block.
type exchange struct {
	*work
	w             *pgas.World
	send, receive pgas.Sym[complex128]
	sums          pgas.Sym[complex128] // of plane z after step t, at z*steps+t
}

// exchanged solves the equation in PEs that exchange their parts.
func exchanged(ctx context.Context, w *pgas.World, s benchmark.Setup) (benchmark.Result, error) {
	c := classOf(s.Class)
	e := &exchange{w: w}
	zlo, zhi := w.Team().Share(c.nz)
	ylo, yhi := w.Team().Share(c.ny)
	e.work = newWork(c, zlo, zhi, ylo, yhi)
	if err := e.alloc(ctx); err != nil {
		return benchmark.Result{}, err
	}
	if err := e.forward(ctx); err != nil { // not timed: it touches all memory
		return benchmark.Result{}, err
	}
	start := time.Now()
	if err := e.solve(ctx); err != nil {
		return benchmark.Result{}, err
	}
	return c.result(e.sums.Local()[steps*c.nz:], time.Since(start)), nil
}

// alloc allocates the symmetric memory, which is as large on all PEs as the largest part needs.
func (e *exchange) alloc(ctx context.Context) (err error) {
	npes := e.w.NPEs()
	most := max((e.nz+npes-1)/npes*e.plane(), (e.ny+npes-1)/npes*e.column())
	if e.send, err = pgas.Alloc[complex128](ctx, e.w, most); err != nil {
		return err
	}
	if e.receive, err = pgas.Alloc[complex128](ctx, e.w, most); err != nil {
		return err
	}
	e.sums, err = pgas.Alloc[complex128](ctx, e.w, 2*steps*e.nz)
	return err
}

// solve transforms the initial values and makes all steps. It ends with all checksums in the second half of sums.
func (e *exchange) solve(ctx context.Context) error {
	if err := e.forward(ctx); err != nil {
		return err
	}
	for t := range steps {
		if err := e.backward(ctx); err != nil {
			return err
		}
		e.sum(e.sums.Local(), t)
	}
	own := e.sums.Range(0, steps*(e.zhi-e.zlo))
	_, err := pgas.Collect(ctx, e.w.Team(), e.sums.Range(steps*e.nz, 2*steps*e.nz), own)
	return err
}

// forward transforms the initial values: planes, which are exchanged, and then columns.
func (e *exchange) forward(ctx context.Context) error {
	plane := make([]complex128, e.plane())
	columns, planes := e.blocks()
	for z := e.zlo; z < e.zhi; z++ {
		e.start(plane, z)
		for pe := range columns.Counts {
			lo, hi := e.w.Team().ShareOf(pe, e.ny)
			rows := plane[lo*e.nx : hi*e.nx]
			copy(e.send.Local()[columns.Displs[pe]+(z-e.zlo)*len(rows):], rows)
		}
	}
	if err := e.allToAll(ctx, planes, columns); err != nil {
		return err
	}
	for z := range e.nz { // those of PE 0 come first: receive is in the order of z
		rows := (e.yhi - e.ylo) * e.nx
		e.take(e.receive.Local()[z*rows:(z+1)*rows], z)
	}
	e.finish()
	return nil
}

// backward makes a step: columns, which are exchanged, and then planes.
func (e *exchange) backward(ctx context.Context) error {
	column := make([]complex128, e.column())
	columns, planes := e.blocks()
	for y := e.ylo; y < e.yhi; y++ {
		e.advance(column, y)
		for pe := range planes.Counts {
			lo, hi := e.w.Team().ShareOf(pe, e.nz)
			rows := column[lo*e.nx : hi*e.nx]
			copy(e.send.Local()[planes.Displs[pe]+(y-e.ylo)*len(rows):], rows)
		}
	}
	if err := e.allToAll(ctx, columns, planes); err != nil {
		return err
	}
	for y := range e.ny { // those of PE 0 come first: receive is in the order of y
		rows := (e.zhi - e.zlo) * e.nx
		e.put(e.receive.Local()[y*rows:(y+1)*rows], y)
	}
	return nil
}

// blocks returns, for each PE, the block of rows that lie in this PE's planes and in that PE's columns, and the block
// of those that lie in this PE's columns and in that PE's planes.
func (e *exchange) blocks() (columns, planes pgas.Blocks) {
	for pe := range e.w.NPEs() {
		ylo, yhi := e.w.Team().ShareOf(pe, e.ny)
		zlo, zhi := e.w.Team().ShareOf(pe, e.nz)
		columns.Displs = append(columns.Displs, (e.zhi-e.zlo)*ylo*e.nx)
		columns.Counts = append(columns.Counts, (e.zhi-e.zlo)*(yhi-ylo)*e.nx)
		planes.Displs = append(planes.Displs, (e.yhi-e.ylo)*zlo*e.nx)
		planes.Counts = append(planes.Counts, (e.yhi-e.ylo)*(zhi-zlo)*e.nx)
	}
	return columns, planes
}

// allToAll exchanges the blocks of send.
func (e *exchange) allToAll(ctx context.Context, to, from pgas.Blocks) error {
	n := e.send.Len()
	return pgas.AllToAllV(ctx, e.w.Team(), e.receive.Range(0, n), to, e.send.Range(0, n), from)
}
