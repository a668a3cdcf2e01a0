package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// options are the flags.
type options struct {
	queens, depth int
	round         time.Duration
	verify        bool
}

// board is a board with a queen in each of its first rows: a task. It says which squares of the next row are attacked,
// a bit each.
type board struct {
	Columns, Left, Right uint32 // straight down, and along both diagonals
}

// rows returns how many rows have a queen.
func (b board) rows() int { return bits.OnesCount32(b.Columns) }

// free returns the squares of the next row, of n, that are not attacked.
func (b board) free(n int) uint32 { return (1<<n - 1) &^ (b.Columns | b.Left | b.Right) }

// place returns the board with a queen on a square of the next row.
func (b board) place(square uint32) board {
	return board{b.Columns | square, (b.Left | square) << 1, (b.Right | square) >> 1}
}

// each calls f for the boards that have one queen more.
func (b board) each(n int, f func(board)) {
	for free := b.free(n); free != 0; free &= free - 1 {
		f(b.place(free & -free))
	}
}

// solutions returns in how many ways the rows that are left can be filled.
func (b board) solutions(n int) (sum int64) {
	if b.rows() == n {
		return 1
	}
	for free := b.free(n); free != 0; free &= free - 1 {
		sum += b.place(free & -free).solutions(n)
	}
	return sum
}

// isTask reports whether the solutions of a board are counted in one task. Otherwise the boards with one queen more are
// tasks.
func (o options) isTask(b board) bool { return b.rows() >= min(o.depth, o.queens) }

// counts is what a search has found.
type counts struct{ solutions, tasks int64 }

// alone does, in order, what b and all tasks that follow from it do.
func (o options) alone(b board) counts {
	if o.isTask(b) {
		return counts{b.solutions(o.queens), 1}
	}
	c := counts{tasks: 1}
	b.each(o.queens, func(next board) {
		more := o.alone(next)
		c.solutions += more.solutions
		c.tasks += more.tasks
	})
	return c
}

// problem is what a cut belongs to.
type problem struct{ Queens, Depth int }

// search runs the tasks that are left, and returns the counts of all PEs. The tasks and what has been counted are saved
// at the same moments. So each task is counted once, however often it has run.
func (o options) search(ctx context.Context, w *pgas.World) (counts, error) {
	pool, err := containers.NewWorkPool[board](ctx, w, 1<<12)
	solutions, err2 := containers.NewCounter(ctx, w)
	tasks, err3 := containers.NewCounter(ctx, w)
	if err := errors.Join(err, err2, err3); err != nil {
		return counts{}, err
	}
	of := problem{o.queens, o.depth}
	set := ckpt.New(w)
	set.Add("pool", pool)
	set.Add("solutions", solutions)
	set.Add("tasks", tasks)
	set.Add("problem", ckpt.Shared(&of))
	cut, ok, err := set.Restore(ctx)
	if err == nil && (of != problem{o.queens, o.depth}) {
		err = fmt.Errorf("cut %v is of -queens %d -depth %d: give these, or another directory", cut, of.Queens, of.Depth)
	}
	if err != nil {
		return counts{}, err
	}
	switch {
	case ok && w.PE() == 0:
		fmt.Println("goes on from cut", cut)
	case !ok && w.PE() == 0:
		pool.Add(board{})
	}
	for left := 1; left > 0; {
		left, err = pool.RunFor(ctx, o.round, func(_ context.Context, b board, add func(board)) error {
			tasks.Add(1)
			if o.isTask(b) {
				solutions.Add(b.solutions(o.queens))
			} else {
				b.each(o.queens, add)
			}
			return nil
		})
		if err == nil {
			err = set.Save(ctx)
		}
		if err != nil {
			return counts{}, err
		}
	}
	return total(ctx, solutions, tasks)
}

// total returns what all PEs have counted.
func total(ctx context.Context, solutions, tasks *containers.Counter) (c counts, err error) {
	if c.solutions, err = solutions.SumAll(ctx); err != nil {
		return c, err
	}
	c.tasks, err = tasks.SumAll(ctx)
	return c, err
}
