package main

// Random permutation: each PE throws its darts at a board of twice as many places, again and again until each has hit a
// free one. The darts in the order of their places are the permutation.
//
// A dart travels to the PE that has its place, which keeps it if the place is free, and throws it on otherwise.

import (
	"context"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// A dart is numbered from 1 on, and has been thrown some times.
type dart struct{ number, thrown, place uint32 }

// board is the places of all PEs.
type board struct {
	places int // of all PEs
	mine   []uint32
	npes   int
	darts  *containers.Mailbox[dart]
}

func permutation(ctx context.Context, w *pgas.World, o options) (run, error) {
	n := 1 << o.logarithm
	b := &board{places: 2 * n, npes: w.NPEs(), mine: make([]uint32, (2*n+w.NPEs()-1)/w.NPEs())}
	result, err := containers.NewArray[uint32](ctx, w, n)
	if err != nil {
		return run{}, err
	}
	b.darts, err = containers.NewMailbox(ctx, w, func(_ int, darts []dart) error { return b.land(ctx, darts) })
	if err != nil {
		return run{}, err
	}
	return run{
		ops:   n,
		bytes: 4,
		work: func(ctx context.Context) error {
			lo, hi := w.Team().Share(n)
			for k := lo; k < hi; k++ {
				if err := b.throw(ctx, dart{number: uint32(k + 1)}); err != nil {
					return err
				}
			}
			if err := b.darts.Flush(ctx); err != nil {
				return err
			}
			return b.collect(ctx, w, result)
		},
		check: func(ctx context.Context) error { return checkPermutation(ctx, w, result) },
	}, nil
}

// throw sends a dart to a random place.
func (b *board) throw(ctx context.Context, d dart) error {
	place := below(uint64(d.number), uint64(d.thrown), b.places)
	d.thrown++
	d.place = uint32(place / b.npes)
	return b.darts.Send(ctx, place%b.npes, d)
}

// land keeps the darts whose places are free, and throws the others again.
func (b *board) land(ctx context.Context, darts []dart) error {
	for _, d := range darts {
		if b.mine[d.place] == 0 {
			b.mine[d.place] = d.number
		} else if err := b.throw(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// collect writes the darts of all PEs to the result: this PE's places are one piece of it.
func (b *board) collect(ctx context.Context, w *pgas.World, result *containers.Array[uint32]) error {
	var hit []uint32
	for _, number := range b.mine {
		if number != 0 {
			hit = append(hit, number-1)
		}
	}
	counts, err := pgas.AllGather(ctx, w.Team(), []int{len(hit)})
	if err != nil {
		return err
	}
	lo := 0
	for _, count := range counts[:w.PE()] {
		lo += count[0]
	}
	result.PutRange(lo, hit)
	return w.Barrier(ctx)
}

// checkPermutation counts how often each number comes.
func checkPermutation(ctx context.Context, w *pgas.World, result *containers.Array[uint32]) error {
	seen, err := containers.NewArray[int64](ctx, w, result.Len())
	if err != nil {
		return err
	}
	var numbers []int
	wrong := 0
	for _, number := range result.LocalAll() {
		if int(*number) >= result.Len() {
			wrong++
			continue
		}
		numbers = append(numbers, int(*number))
	}
	if err := containers.Count(ctx, seen, numbers); err != nil {
		return err
	}
	for _, times := range seen.LocalAll() {
		if *times != 1 {
			wrong++
		}
	}
	return allRight(ctx, w, wrong, "numbers of the permutation")
}
