package dsmbench

// BT class A: 64³ points. The planes of i divide most loops, so that a PE writes the same blocks again and again, with
// a barrier behind each loop. The solution along x, and the scaling before it, are divided by j: there each PE has some
// rows of every plane. The block matrices of all points are shared arrays, three times as long as a plane's part of a
// block is.

const (
	btU     = iota // the solution, 5 numbers a point
	btRHS          // the right-hand side
	btForce        // the forcing term, which is read only
	btParts        // six numbers a point that are computed from the solution
	btF            // Jacobians, 25 numbers a point
	btN
	btLHS // three blocks of 25 numbers a point
)

const (
	btSide   = 64
	btPoints = btSide * btSide * btSide
)

var bt = &program{
	name: "bt", doc: "BT class A: 64³ points, blocks of 128 KiB", sequential: seconds(88.06), steps: 200,
	block: 128 << 10, notices: 1024, grain: 1 << 10,
	arrays: []int64{40 * btPoints, 40 * btPoints, 40 * btPoints, 48 * btPoints, 200 * btPoints, 200 * btPoints, 600 * btPoints},
	prepare: func(k *worker) error {
		k.changeOwn(btU, btRHS, btForce, btParts, btF, btN, btLHS)
		return k.barrier()
	},
	step: func(k *worker) error {
		for _, phase := range []func(*worker) error{btRight, btSolveX, btSolve, btSolve} {
			if err := phase(k); err != nil {
				return err
			}
		}
		k.readOwn(btRHS)
		k.changeOwn(btU)
		if err := k.compute(0.02); err != nil {
			return err
		}
		return k.barrier()
	},
}

// btRight computes the right-hand side: the parts, the forcing term, and fluxes and dissipation in three directions.
func btRight(k *worker) error {
	k.readOwn(btU)
	k.changeOwn(btParts)
	if err := k.barrier(); err != nil {
		return err
	}
	const loops = 6
	lo, hi := k.share(btSide)
	for i := range loops {
		for _, a := range []int{btU, btParts} {
			plane := k.p.arrays[a] / btSide
			k.read(a, (lo-2)*plane, (hi+2)*plane)
		}
		if i == 0 {
			k.readOwn(btForce)
		}
		k.changeOwn(btRHS)
		if err := k.compute(0.2 / loops); err != nil {
			return err
		}
		if err := k.barrier(); err != nil {
			return err
		}
	}
	k.changeRows(btSide, btSide, btRHS) // scaled by the time step
	return k.barrier()
}

// btSolveX solves along x, divided by j: matrices; elimination; and back substitution.
func btSolveX(k *worker) error {
	k.readRows(btSide, btSide, btU)
	k.changeRows(btSide, btSide, btF, btN, btLHS)
	if err := k.computeAndMeet(0.13); err != nil {
		return err
	}
	k.changeRows(btSide, btSide, btLHS, btRHS)
	if err := k.computeAndMeet(0.10); err != nil {
		return err
	}
	k.changeRows(btSide, btSide, btRHS)
	return k.computeAndMeet(0.03)
}

// btSolve solves along y or z, divided by i: Jacobians; matrices; elimination; and back substitution.
func btSolve(k *worker) error {
	for _, arrays := range [][]int{{btF, btN}, {btLHS}, {btLHS, btRHS}, {btRHS}} {
		k.readOwn(btU)
		k.changeOwn(arrays...)
		if err := k.computeAndMeet(0.26 / 4); err != nil {
			return err
		}
	}
	return nil
}

func (k *worker) computeAndMeet(part float64) error {
	if err := k.compute(part); err != nil {
		return err
	}
	return k.barrier()
}
