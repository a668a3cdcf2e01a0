package main

// The factorization as tasks, on one PE.
//
// The tile in row m and column n of the factor is made by n+1 tasks, one after the other: for each column k
// left of it, subtract the product of tiles (m, k) and (n, k) (DGEMM; DSYRK on the diagonal), and then divide
// by the tile (n, n) (DTRSM; DPOTRF on the diagonal). That is the left-looking variant: only the owner of a tile
// changes it. A task is ready when the PE has its operands. Of the ready tasks, the one whose tile
// has the least number is done first, because the most other tasks depend on it.
//
// A PE checks for arrived tiles between two tasks, and waits for one when no task is ready.
// It forwards an arrived tile first. The factor is complete when the PE has made all its own tiles, and the PE is done
// when it has received all tiles that it is to get.

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/versions"
)

// A work is a tile of this PE and its progress.
type work struct {
	number, m, n int
	done         int  // tasks
	queued       bool // its next task is ready
}

// factor is a PE that takes part in factorizations.
type factor struct {
	*versions.Run
	layout
	in    *input
	tiles pgas.Sym[float64]
	way   way

	mine  []*work
	users [][]*work // by row or column: tiles of this PE that need the operands in it
	at    []place   // by number
	here  []bool    // by number: this PE has the tile of the factor
	due   int       // tiles of other PEs that this PE is to get

	ready []*work // tiles with a ready task, the least number last
	open  int     // own tiles that are not made
	got   int     // tiles that have arrived

	pes   []int // of audience
	marks []bool
}

type place struct{ m, n int }

// A way moves tiles from one PE to others.
type way interface {
	// give puts tile number of this PE's memory into the same place on other PEs, and tells them.
	give(ctx context.Context, number int, pes []int) error
	// next returns the number of a tile that has arrived. If there is none it waits, or returns false.
	next(ctx context.Context, wait bool) (number int, ok bool, err error)
	// finish is called when this PE has nothing more to send, and has received all its tiles.
	finish(ctx context.Context) error
	close(ctx context.Context) error
}

// newFactor makes a PE's part of a factorization of that order. It is collective.
func newFactor(ctx context.Context, r *versions.Run, in *input, order int) (*factor, error) {
	f := &factor{Run: r, layout: newLayout(order, in.side, r.NPEs()), in: in}
	f.users = make([][]*work, f.rows)
	f.here, f.at = make([]bool, f.layout.tiles()), make([]place, f.layout.tiles())
	f.marks = make([]bool, f.npes)
	f.each(func(number, m, n int) {
		f.at[number] = place{m, n}
		f.pes = f.audience(f.pes[:0], f.marks, m, n)
		switch me := r.PE(); {
		case f.owner(number) == me:
			w := &work{number: number, m: m, n: n}
			f.mine = append(f.mine, w)
			f.users[m] = append(f.users[m], w)
			if m != n {
				f.users[n] = append(f.users[n], w)
			}
		case slices.Contains(f.pes, me):
			f.due++
		}
	})
	var err error
	f.tiles, err = pgas.AllocRaw[float64](ctx, r.World, f.layout.tiles()*f.side*f.side)
	return f, err
}

// place returns where a tile is, on each PE.
func (f *factor) place(number int) pgas.Slice[float64] {
	size := f.side * f.side
	return f.tiles.Range(number*size, (number+1)*size)
}

func (f *factor) tile(m, n int) []float64 { return f.place(f.number(m, n)).Local() }

// reset prepares for another factorization.
func (f *factor) reset() {
	clear(f.here)
	f.ready, f.open, f.got = f.ready[:0], len(f.mine), 0
	for _, w := range f.mine {
		w.done, w.queued = 0, false
		f.enqueue(w)
	}
}

// factorize turns the tiles of the matrix into those of its factor. It is collective, but no barrier.
func (f *factor) factorize(ctx context.Context) error {
	for f.open > 0 || f.got < f.due {
		number, come, err := f.way.next(ctx, len(f.ready) == 0)
		switch {
		case err != nil:
			return err
		case come:
			f.got++
			err = f.made(ctx, number)
		default:
			w := f.ready[len(f.ready)-1]
			f.ready = f.ready[:len(f.ready)-1]
			w.queued = false
			err = f.do(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	return f.way.finish(ctx)
}

// made forwards a tile, and enqueues the tasks that have waited for it.
func (f *factor) made(ctx context.Context, number int) error {
	f.here[number] = true
	at := f.at[number]
	f.pes = f.audience(f.pes[:0], f.marks, at.m, at.n)
	if to := children(f.pes, slices.Index(f.pes, f.PE())); len(to) > 0 {
		if err := f.way.give(ctx, number, to); err != nil {
			return fmt.Errorf("giving tile %d, %d to PEs %v: %w", at.m, at.n, to, err)
		}
	}
	for _, w := range f.users[at.m] {
		f.enqueue(w)
	}
	return nil
}

// enqueue marks the next task of w as ready, if it is.
func (f *factor) enqueue(w *work) {
	if w.queued || !f.can(w) {
		return
	}
	w.queued = true
	i, _ := slices.BinarySearchFunc(f.ready, w.number, func(r *work, number int) int { return number - r.number })
	f.ready = slices.Insert(f.ready, i, w)
}

// can reports whether this PE has the operands of the next task of w.
func (f *factor) can(w *work) bool {
	switch k := w.done; {
	case k > w.n: // it is made
		return false
	case k == w.n:
		return w.m == w.n || f.here[f.number(w.n, w.n)]
	default:
		return f.here[f.number(w.m, k)] && f.here[f.number(w.n, k)]
	}
}

// do does the next task of w.
func (f *factor) do(ctx context.Context, w *work) error {
	kind, err := f.compute(w)
	if err != nil {
		return err
	}
	if err := f.Charge(ctx, f.in.flop.takes(kind, f.side)); err != nil {
		return err
	}
	if w.done++; w.done <= w.n {
		f.enqueue(w)
		return nil
	}
	f.open--
	return f.made(ctx, w.number)
}

func (f *factor) compute(w *work) (kind, error) {
	tile := f.place(w.number).Local()
	switch k := w.done; {
	case k < w.n && w.m == w.n:
		syrk(tile, f.tile(w.m, k), f.side)
		return ofSYRK, nil
	case k < w.n:
		gemm(tile, f.tile(w.m, k), f.tile(w.n, k), f.side)
		return ofGEMM, nil
	case w.m == w.n:
		return ofPOTRF, potrf(tile, f.side)
	default:
		trsm(tile, f.tile(w.n, w.n), f.side)
		return ofTRSM, nil
	}
}
