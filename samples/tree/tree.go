package main

// The tree and a reduction along it. PE i has the children arity·i+1 … arity·i+arity, as far as there are so
// many PEs, so PE 0 is the root. A PE with children waits until it has the numbers of all of them, adds them
// to its own, and sends the sums to its parent. Numbers are whole, so sums are exact in any order.

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/versions"
)

const root = 0

// node is a PE's place in the tree.
type node struct {
	pe       int
	parent   int
	nth      int // child of its parent, from 0
	first    int // child
	children int
	depth    int // of this node; the root has 0
	levels   int // between the root and the deepest node
}

// place returns the node of a PE.
func place(pe, npes, arity int) node {
	n := node{pe: pe, parent: (pe - 1) / arity, nth: (pe - 1) % arity, first: arity*pe + 1}
	n.children = max(0, min(arity, npes-n.first))
	n.depth, n.levels = depth(pe, arity), depth(npes-1, arity)
	return n
}

func depth(pe, arity int) (d int) {
	for ; pe != root; pe = (pe - 1) / arity {
		d++
	}
	return d
}

// tree is a PE that takes part in reductions.
type tree struct {
	*versions.Run
	node
	o     *options
	way   way
	sums  []float64             // of this PE and all below it
	inbox pgas.Sym[float64]     // of the children, one after the other
	told  pgas.Sym[pgas.Signal] // the number of the reduction that the root has told this PE to begin
	turn  int                   // the number of the reduction
}

// A way moves numbers from children to their parent.
type way interface {
	// collect returns when the numbers of all children are in the inbox. There is at least one child.
	collect(ctx context.Context) error
	// deliver sends numbers to the parent. They may be changed when it returns.
	deliver(ctx context.Context, numbers []float64) error
	// end is called on every PE at the end of a reduction.
	end(ctx context.Context) error
	close(ctx context.Context) error
}

// open makes a tree with the way that makeWay returns. It is collective.
func open(ctx context.Context, r *versions.Run, o *options, makeWay func(context.Context, *tree) (way, error)) (*tree, error) {
	t := &tree{Run: r, node: place(r.PE(), r.NPEs(), o.arity), o: o, sums: make([]float64, o.numbers)}
	var err error
	if t.inbox, err = pgas.AllocRaw[float64](ctx, r.World, o.arity*o.numbers); err != nil {
		return nil, err
	}
	if t.told, err = pgas.Alloc[pgas.Signal](ctx, r.World, 1); err != nil {
		return nil, err
	}
	t.way, err = makeWay(ctx, t)
	return t, err
}

// from returns where the numbers of a child arrive.
func (t *tree) from(child int) pgas.Slice[float64] {
	return t.inbox.Range(child*t.o.numbers, (child+1)*t.o.numbers)
}

// Round does some reductions and returns the time of one. All PEs enter a barrier between two of them, so an inbox is
// not written before it has been read.
func (t *tree) Round(ctx context.Context) (took time.Duration, err error) {
	for range t.o.reductions {
		t.turn++
		for i := range t.sums {
			t.sums[i] = number(t.pe, t.turn, i)
		}
		start, err := t.begin(ctx)
		if err != nil {
			return 0, err
		}
		if err := t.reduce(ctx); err != nil {
			return 0, err
		}
		took += t.Now() - start
		if err := t.check(); err != nil {
			return 0, err
		}
	}
	return took / time.Duration(t.o.reductions), nil
}

// begin returns when this PE is to begin, with the time of the beginning. In the simulator all PEs begin at once.
// Clocks of real PEs do not agree, and a barrier may release a child so early that its numbers arrive before the parent
// has left the barrier: so on real PEs the time is that of the root, which begins when it tells the others to.
func (t *tree) begin(ctx context.Context) (time.Duration, error) {
	start, err := t.Start(ctx)
	if err != nil || t.Simulated {
		return start, err
	}
	told := pgas.SignalOf(t.told, 0)
	if t.pe != root {
		_, err := told.WaitUntil(ctx, pgas.GE, uint64(t.turn))
		return start, err
	}
	start = t.Now()
	for pe := range t.NPEs() {
		if pe != root {
			told.Set(pe, uint64(t.turn))
		}
	}
	return start, nil
}

// reduce computes the sums of all PEs at the root.
func (t *tree) reduce(ctx context.Context) error {
	if t.children > 0 {
		if err := t.way.collect(ctx); err != nil {
			return err
		}
		for child := range t.children {
			add(t.sums, t.from(child).Local())
		}
		if err := t.Charge(ctx, takes(t.children*t.o.numbers, t.o.element)); err != nil {
			return err
		}
	}
	if t.pe != root {
		if err := t.way.deliver(ctx, t.sums); err != nil {
			return err
		}
	}
	return t.way.end(ctx)
}

func add(to, numbers []float64) {
	for i, x := range numbers[:len(to)] {
		to[i] += x
	}
}

// number returns the i-th number of a PE in a reduction.
func number(pe, turn, i int) float64 { return float64((pe*31 + turn*17 + i*7) % 1009) }

// check compares the root's sums with those of a loop over all numbers.
func (t *tree) check() error {
	if t.pe != root {
		return nil
	}
	for i, got := range t.sums {
		want := 0.0
		for pe := range t.NPEs() {
			want += number(pe, t.turn, i)
		}
		if got != want {
			return fmt.Errorf("reduction %d: sum %d is %v, not %v", t.turn, i, got, want)
		}
	}
	return nil
}

func (t *tree) Close(ctx context.Context) error {
	if err := t.way.close(ctx); err != nil {
		return err
	}
	if err := t.told.Free(ctx); err != nil {
		return err
	}
	return t.inbox.Free(ctx)
}
