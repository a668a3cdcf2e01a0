package dsmbench

// The programs of the paper, as their OpenMP versions in C divide them (cNPB, a translation of NPB 2.3): which arrays
// are shared, which loops are divided by what, and where barriers are. What the paper does not say, and is chosen here:
// arrays are written first by the PE that uses them, and the times of phases relate as guessed.

import (
	"time"
)

var cgD = cg("cg", "CG class D: 1.5 million rows, blocks of 256 KiB", 1_500_000, 21, 100, 256<<10, 4096, seconds(11619.82))

var programs = []*program{
	cgD,
	asMENPS(cgD, "cg-menps", cgP, cgQ, cgR, cgZ),
	cg("cg-c", "CG class C: 150,000 rows, blocks of 32 KiB", 150_000, 15, 75, 32<<10, 128, seconds(365.13)),
	bt,
	ep("ep", "EP class D: nothing is shared but the sums", seconds(4778.36)),
	ep("ep-c", "EP class C", seconds(301.03)),
	ft,
	is,
}

const (
	cgP       = iota // the direction
	cgQ              // the product of the matrix with it
	cgR              // the residual
	cgZ              // the solution
	cgValues         // the values of the matrix
	cgColumns        // the columns of these values
)

// cg is the method of conjugate gradients. A step is one product of the matrix with p, of which there are 26 an
// iteration. Its three barriers follow the product, the two vectors that advance, and the new direction.
func cg(name, doc string, rows, perRow, iterations, block int64, notices int, sequential time.Duration) *program {
	entries := rows * (perRow + 1) * (perRow + 1) // at most
	return &program{
		name: name, doc: doc, sequential: sequential, steps: int(26 * iterations), block: block, notices: notices, grain: block / 8,
		arrays: []int64{8 * rows, 8 * rows, 8 * rows, 8 * rows, 8 * entries, 4 * entries},
		prepare: func(k *worker) error {
			k.changeOwn(cgP, cgQ, cgR, cgZ, cgValues, cgColumns)
			return k.barrier()
		},
		step: func(k *worker) error {
			k.readOwn(cgValues, cgColumns)
			k.read(cgP, 0, k.p.arrays[cgP])
			if err := k.compute(0.96); err != nil {
				return err
			}
			k.changeOwn(cgQ)
			k.sum()
			if err := k.barrier(); err != nil {
				return err
			}
			k.readOwn(cgP, cgQ)
			k.changeOwn(cgZ, cgR)
			k.sum()
			if err := k.compute(0.03); err != nil {
				return err
			}
			if err := k.barrier(); err != nil {
				return err
			}
			k.readOwn(cgR)
			k.changeOwn(cgP)
			if err := k.compute(0.01); err != nil {
				return err
			}
			return k.barrier()
		},
	}
}

// ep computes by itself, and each worker adds its sums in a critical section.
func ep(name, doc string, sequential time.Duration) *program {
	return &program{
		name: name, doc: doc, sequential: sequential, steps: 1, block: 32 << 10, notices: 1024, grain: 256, arrays: []int64{32 << 10},
		prepare: func(k *worker) error { return k.barrier() },
		step: func(k *worker) error {
			if err := k.compute(1); err != nil {
				return err
			}
			for range workersOfPE {
				if err := k.locked(func() { k.change(0, 0, 256) }); err != nil {
					return err
				}
			}
			return k.barrier()
		},
	}
}

// ft is class C: the evolution of a grid of 512³ complex numbers, by planes; transforms along z, by rows of all planes;
// and transforms along y and x, by planes.
var ft = &program{
	name: "ft", doc: "FT class C: 512³ points, blocks of 1 MiB", sequential: seconds(357.55), steps: 20,
	block: 1 << 20, notices: 128, grain: 16 << 10, arrays: []int64{16 << 27, 16 << 27},
	prepare: func(k *worker) error {
		k.changeOwn(0, 1)
		return k.barrier()
	},
	step: func(k *worker) error {
		const side = 512
		k.readOwn(0)
		k.changeOwn(1)
		if err := k.compute(0.2); err != nil {
			return err
		}
		if err := k.barrier(); err != nil {
			return err
		}
		k.changeRows(side, side, 1)
		if err := k.compute(0.3); err != nil {
			return err
		}
		if err := k.barrier(); err != nil {
			return err
		}
		k.changeOwn(1)
		if err := k.compute(0.5); err != nil {
			return err
		}
		return k.barrier()
	},
}

// is is class C: each PE counts its part of 2^27 keys by itself and adds the counts of 2^23 values to those of all, in
// a critical section.
var is = &program{
	name: "is", doc: "IS class C: 2^27 keys, blocks of 1 MiB", sequential: seconds(12.30), steps: 10,
	block: 1 << 20, notices: 1024, grain: 16 << 10, arrays: []int64{4 << 27, 4 << 23},
	prepare: func(k *worker) error {
		k.changeOwn(0, 1)
		return k.barrier()
	},
	step: func(k *worker) error {
		k.changeOwn(1) // cleared
		if err := k.barrier(); err != nil {
			return err
		}
		k.readOwn(0)
		if err := k.compute(0.9); err != nil {
			return err
		}
		if err := k.locked(func() { k.change(1, 0, k.p.arrays[1]) }); err != nil {
			return err
		}
		if err := k.compute(0.1); err != nil {
			return err
		}
		return k.barrier()
	},
}
