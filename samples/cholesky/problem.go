package main

// The matrix, and whether its factor is right. Only PE 0 knows: it reads or makes the matrix, factors it
// by itself with gonum, sends the PEs their tiles, and gets those of the factor back.

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/versions"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// input is the values of the flags, and on PE 0 the problem made from them.
type input struct {
	order  int // 0: as the number of PEs has it
	each   int // tiles of a PE
	side   int // of a tile
	matrix string
	write  string
	flop   costs
	eager  int // floats of the longest message that is sent without asking

	*problem // with that of the last number of PEs
}

// orderFor returns the order of the matrix that so many PEs factor by default: the least whose lower triangle
// has the wanted number of tiles for each PE.
func (in *input) orderFor(npes int) int {
	if in.order != 0 {
		return in.order
	}
	rows := 1
	for rows*(rows+1)/2 < in.each*npes {
		rows++
	}
	return rows * in.side
}

// prepare makes the problem for so many PEs. The error is one line.
func (in *input) prepare(npes int) error {
	if in.matrix != "" {
		if in.problem != nil {
			return nil
		}
		matrix, err := readFile(in.matrix)
		if err != nil {
			return err
		}
		if in.problem, err = pose(matrix); err != nil {
			return fmt.Errorf("%s: %w", in.matrix, err)
		}
		return nil
	}
	order := in.orderFor(npes)
	if in.problem != nil && in.problem.order == order {
		return nil
	}
	matrix := laplacian(order)
	if in.write != "" {
		if err := matrix.writeFile(in.write); err != nil {
			return err
		}
	}
	var err error
	in.problem, err = pose(matrix)
	return err
}

// problem is a matrix and its factor. Both are order by order, with zeros above the diagonal.
type problem struct {
	order     int
	a, l      []float64
	norm      float64 // Frobenius, of the matrix
	condition float64
	residual  float64 // the worst there was, relative to norm
	off       float64 // the worst there was: from l, relative to it
}

// pose factors a matrix by gonum.
func pose(matrix *sparse) (*problem, error) {
	n := matrix.order
	p := &problem{order: n, a: make([]float64, n*n), l: make([]float64, n*n)}
	for _, e := range matrix.entries {
		if e.row == e.column && e.value <= 0 {
			return nil, fmt.Errorf("row %d of the diagonal is %v: the matrix is not positive definite, so it has no Cholesky factor", e.row+1, e.value)
		}
		p.a[e.row*n+e.column] = e.value
	}
	p.norm = frobenius(p.a, n)
	copy(p.l, p.a)
	norm := lapack64.Lansy(lapack.MaxColumnSum, lower(p.a, n), make([]float64, n))
	if _, ok := lapack64.Potrf(lower(p.l, n)); !ok {
		return nil, errors.New("the matrix is not positive definite, so it has no Cholesky factor")
	}
	p.condition = 1 / lapack64.Pocon(lower(p.l, n), norm, make([]float64, 3*n), make([]int, n))
	return p, nil
}

// frobenius returns the norm of the symmetric matrix with that lower triangle.
func frobenius(lower []float64, n int) float64 {
	sum := 0.0
	for i := range n {
		row := lower[i*n : i*n+i+1]
		for _, x := range row[:i] {
			sum += 2 * x * x
		}
		sum += row[i] * row[i]
	}
	return math.Sqrt(sum)
}

// cut copies tile (m, n) of a full lower triangle. Beyond the matrix there are ones on the diagonal, which change
// nothing else.
func (p *problem) cut(tile []float64, side, m, n int) {
	clear(tile)
	for i := range side {
		row := m*side + i
		if row >= p.order {
			if m == n {
				tile[i*side+i] = 1
			}
			continue
		}
		first := n * side
		copy(tile[i*side:(i+1)*side], p.a[row*p.order+first:row*p.order+min(first+side, p.order)])
	}
}

// paste copies what is below the diagonal of tile (m, n) to its place in a full lower triangle.
func (p *problem) paste(to, tile []float64, side, m, n int) {
	for i := range side {
		row, first := m*side+i, n*side
		if row < p.order {
			copy(to[row*p.order+first:row*p.order+min(first+side, row+1)], tile[i*side:])
		}
	}
}

// The allowed rounding error, in units of rounding for each row.
const slack = 10

const epsilon = 0x1p-52

// check compares l with the matrix and with the factor by gonum.
func (p *problem) check(l []float64) error {
	n := p.order
	rest := make([]float64, n*n)
	copy(rest, p.a)
	blas64.Syrk(blas.NoTrans, -1, general(l, n), 1, lower(rest, n))
	residual := frobenius(rest, n) / p.norm
	largest, off := 0.0, 0.0
	for i, want := range p.l {
		largest, off = max(largest, math.Abs(want)), max(off, math.Abs(l[i]-want))
	}
	off /= largest
	p.residual, p.off = max(p.residual, residual), max(p.off, off)
	rounding := slack * epsilon * float64(n)
	switch {
	case !(residual <= rounding): // not a number is not less
		return fmt.Errorf("the factor is wrong: ‖A - LLᵀ‖ is %.2g of ‖A‖, and rounding explains %.2g", residual, rounding)
	case !(off <= rounding*p.condition):
		return fmt.Errorf("the factor is off by %.2g from gonum's, and rounding explains %.2g", off, rounding*p.condition)
	}
	return nil
}

// open makes a factorization on a PE. It is collective.
func open(ctx context.Context, r *versions.Run, in *input, makeWay func(context.Context, *factor) (way, error)) (versions.Version, error) {
	order, err := agree(ctx, r, in)
	if err != nil {
		return nil, err
	}
	f, err := newFactor(ctx, r, in, order)
	if err != nil {
		return nil, err
	}
	f.way, err = makeWay(ctx, f)
	return f, err
}

// agree sends the order of the problem to all PEs.
func agree(ctx context.Context, r *versions.Run, in *input) (order int, err error) {
	orders, err := pgas.Alloc[int64](ctx, r.World, 1)
	if err != nil {
		return 0, err
	}
	if r.PE() == 0 {
		if err := in.prepare(r.NPEs()); err != nil {
			return 0, err
		}
		orders.Local()[0] = int64(in.problem.order)
	}
	if err := pgas.Broadcast(ctx, r.Team(), orders.All(), orders.All(), 0); err != nil {
		return 0, err
	}
	order = int(orders.Local()[0])
	return order, orders.Free(ctx)
}

// distribute sends each PE its tiles of the matrix. It is collective.
func (f *factor) distribute(ctx context.Context) error {
	f.reset()
	if f.PE() == 0 {
		tile := make([]float64, f.side*f.side)
		f.each(func(number, m, n int) {
			f.in.cut(tile, f.side, m, n)
			f.place(number).Put(f.owner(number), tile)
		})
	}
	return f.Barrier(ctx)
}

// verify checks the factor. PE 0 gets the tiles of all others, which must not change them meanwhile.
func (f *factor) verify() error {
	if f.PE() != 0 {
		return nil
	}
	l, tile := make([]float64, f.order*f.order), make([]float64, f.side*f.side)
	f.each(func(number, m, n int) {
		f.place(number).Get(f.owner(number), tile)
		f.in.paste(l, tile, f.side, m, n)
	})
	return f.in.check(l)
}
