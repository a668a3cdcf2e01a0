// Command cholesky factors a symmetric positive definite matrix by tasks on tiles, by messages, by one-sided
// access and by notified access: "Notified Access" (Belli, Hoefler, IPDPS 2015), section VI.C.
//
//	pgasrun -n 4 ./samples/cholesky -order 1024
//	go run ./samples/cholesky -sim
//
// layout.go cuts the matrix into tiles, tasks.go does the tasks, ways.go has what differs between the versions, and
// problem.go the matrix and the check of its factor.
//
//ci:computes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/versions"
)

const help = `cholesky factors a symmetric positive definite matrix A = LLᵀ, and compares the ways in which a tile of
the factor can get to the PEs that need it.

usage: pgasrun [pgasrun's flags] ./samples/cholesky [flags]
       cholesky -sim [flags]

  pgasrun -n 4 ./samples/cholesky -order 1024             a matrix of that order, on this host
  pgasrun -n 4 ./samples/cholesky -matrix bcsstk14.mtx    one in a file in Matrix Market form
  pgasrun -n 1 ./samples/cholesky -order 900 -write a.mtx write what is factored
  cholesky -sim -pes 32,64,128                            a tile of 8 KiB for each PE of a Cray XC30 that is
                                                          simulated

The matrix is cut into tiles, which are dealt to the PEs. Each is made by tasks of LAPACK and BLAS (DPOTRF,
DTRSM, DSYRK, DGEMM), done when their operands are here, and broadcast along a binary tree of the PEs that need
it. Without -order and -matrix it is a Laplacian on a grid, which grows with the number of PEs.

The factor is compared with the matrix and with the factor that gonum computes on one PE. In the simulator a
task takes what -flop says; on real PEs, what it takes.

`

// measured is what BenchmarkTask shows with tiles of 32 by 32 on one core of an AMD EPYC.
var measured = costs{ofPOTRF: 0.3, ofTRSM: 0.45, ofSYRK: 0.22, ofGEMM: 0.17}

// With its header, a message of up to 8 KiB is sent at once by Open MPI on this network (btl_eager_limit of its
// uGNI transport). A tile of 32 by 32 numbers is 8 KiB without.
const eager = 8<<10/8 - 2

const mostSide, mostEach, mostEager = 1 << 10, 1 << 16, 1 << 20

func (in *input) flags(fs *flag.FlagSet) {
	fs.IntVar(&in.order, "order", 0, "`rows` of the matrix (default: as -each has it)")
	fs.IntVar(&in.each, "each", 1, "`tiles` of each PE, or a few more, where no order is given")
	fs.IntVar(&in.side, "tile", 32, "`rows` of a tile")
	fs.StringVar(&in.matrix, "matrix", "", "factor the matrix in `file`")
	fs.StringVar(&in.write, "write", "", "write the matrix to `file`")
	fs.IntVar(&in.eager, "eager", eager, "longest message, in `numbers` of 8 bytes, that does not ask its receiver first")
	in.flop = measured
	fs.Var(&in.flop, "flop", "with -sim: `nanoseconds` that a floating-point operation takes, or those of DPOTRF, DTRSM, DSYRK and DGEMM")
}

func (in *input) checkFlags(npes int) error {
	switch {
	case in.order < 0 || in.order > mostOrder:
		return fmt.Errorf("-order %d: give a number from 1 to %d", in.order, mostOrder)
	case in.side < 1 || in.side > mostSide:
		return fmt.Errorf("-tile %d: give a number from 1 to %d", in.side, mostSide)
	case in.each < 1 || in.each > mostEach:
		return fmt.Errorf("-each %d: give a number from 1 to %d", in.each, mostEach)
	case in.eager < 1 || in.eager > mostEager:
		return fmt.Errorf("-eager %d: give a number from 1 to %d", in.eager, mostEager)
	case in.matrix != "" && in.order != 0:
		return errors.New("-matrix and -order: the file says what the order is")
	case in.matrix != "" && in.write != "":
		return errors.New("-matrix and -write: there is no need to write what has been read")
	case in.write != "" && in.order == 0:
		return errors.New("-write without -order: say which matrix")
	case in.orderFor(npes) > mostOrder:
		return fmt.Errorf("-each %d: %d PEs would factor a matrix of order %d, and %d is the most", in.each, npes, in.orderFor(npes), mostOrder)
	}
	return nil
}

func (in *input) about(int) string {
	rows := (in.problem.order + in.side - 1) / in.side
	return fmt.Sprintf("order %d, %d x %d tiles of %d x %d, ‖A - LLᵀ‖ ≤ %.1e ‖A‖, %.1e from gonum's,",
		in.problem.order, rows, rows, in.side, in.side, in.residual, in.off)
}

// work returns the operations of a factorization.
func (in *input) work(int) float64 { return math.Pow(float64(in.problem.order), 3) / 3 }

func program(in *input) *versions.Program {
	return &versions.Program{
		Name:    "cholesky",
		Help:    help,
		Flags:   in.flags,
		Check:   in.checkFlags,
		Prepare: in.prepare,
		About:   in.about,
		Modes:   modes(in),
		PEs:     "32,64,128,256",
		Bytes:   func(int) int { return 8 * in.side * in.side },
		Work:    in.work,
		Unit:    "Gflop/s",
	}
}

func main() { versions.Main(program(&input{})) }

// Round factors the matrix once.
func (f *factor) Round(ctx context.Context) (time.Duration, error) {
	if err := f.distribute(ctx); err != nil {
		return 0, err
	}
	start, err := f.Start(ctx)
	if err != nil {
		return 0, err
	}
	if err := f.factorize(ctx); err != nil {
		return 0, err
	}
	took, err := f.Slowest(ctx, f.Now()-start)
	if err != nil {
		return 0, err
	}
	return took, f.verify()
}

func (f *factor) Close(ctx context.Context) error {
	if err := f.way.close(ctx); err != nil {
		return err
	}
	return f.tiles.Free(ctx)
}
