package main

// One PE's part of the grid, and one iteration on it.
//
// An iteration adds, to each point that has all its neighbours, their weighted sum; and then 1 to every
// point that is summed. A PE needs the two outermost rows or columns of each neighbour for that. Each neighbour puts
// them, with a signal, into a buffer that no other PE writes. There are two such buffers, for even and
// odd iterations, and nothing else protects them: a PE that has a neighbour's edge of one iteration knows
// that the neighbour has used the edges of the iteration before.

import (
	"context"
	"math"

	"github.com/gopgas/gopgas/pgas"
)

const (
	radius = 2
	flops  = 2*(4*radius+1) + 1 // of a point, as the Parallel Research Kernels count them
)

// The weights of the neighbours at distance 1 and 2 to the east and south; to the west and north they are
// negative.
const (
	near = 1.0 / (2 * 1 * radius)
	far  = 1.0 / (2 * 2 * radius)
)

type side int

const (
	north side = iota
	south
	west
	east
	sides
)

func (s side) opposite() side { return s ^ 1 }

const noPE = -1

type grid struct {
	w            *pgas.World
	order        int
	across, down int // PEs in a row and in a column
	left, top    int // of this part, in the whole
	width        int
	height       int
	stride       int        // from row to row: the width and a margin on both sides
	neighbour    [sides]int // a PE, or noPE

	in, out []float64 // the part with its margin
	outbox  []float64 // an edge that is being put

	edgeMost int               // elements of the longest edge of any part
	edges    pgas.Sym[float64] // of even and of odd iterations, from each side; written by the neighbour on that side
	news     EdgesSym          // the same
}

// cut arranges PEs as nearly in a square as their number allows.
func cut(npes int) (across, down int) {
	for down = int(math.Sqrt(float64(npes))); npes%down != 0; down-- {
	}
	return npes / down, down
}

// newGrid makes a grid whose points have the sum of their coordinates. It is collective.
func newGrid(ctx context.Context, w *pgas.World, order int) (*grid, error) {
	g := &grid{w: w, order: order}
	g.place()
	points := g.stride * (g.height + 2*radius)
	g.in, g.out = make([]float64, points), make([]float64, points)
	for y := range g.height {
		row := g.row(g.in, 0, y, g.width)
		for x := range row {
			row[x] = float64(g.left + x + g.top + y)
		}
	}
	g.edgeMost = radius * (order/min(g.across, g.down) + 1)
	g.outbox = make([]float64, g.edgeMost)
	var err error
	if g.edges, err = pgas.AllocRaw[float64](ctx, w, 2*int(sides)*g.edgeMost); err != nil {
		return nil, err
	}
	g.news, err = AllocEdges(ctx, w, 2)
	return g, err
}

// place computes this PE's part of the grid, and its neighbours.
func (g *grid) place() {
	g.across, g.down = cut(g.w.NPEs())
	me := g.w.PE()
	x, y := me%g.across, me/g.across
	g.left, g.top = g.order*x/g.across, g.order*y/g.down
	g.width, g.height = g.order*(x+1)/g.across-g.left, g.order*(y+1)/g.down-g.top
	g.stride = g.width + 2*radius
	g.neighbour = [sides]int{north: me - g.across, south: me + g.across, west: me - 1, east: me + 1}
	for s, none := range [sides]bool{north: y == 0, south: y == g.down-1, west: x == 0, east: x == g.across-1} {
		if none {
			g.neighbour[s] = noPE
		}
	}
}

// row returns n points of in or out from (x, y) on. The margin has coordinates below 0 and beyond the width.
func (g *grid) row(of []float64, x, y, n int) []float64 {
	at := (y+radius)*g.stride + x + radius
	return of[at : at+n]
}

// iterate applies the stencil once. Iterations are numbered from 1. It is collective.
func (g *grid) iterate(ctx context.Context, iteration uint64) error {
	for s := range sides {
		if g.neighbour[s] != noPE {
			g.give(s, iteration)
		}
	}
	for s := range sides {
		if g.neighbour[s] != noPE {
			if err := g.take(ctx, s, iteration); err != nil {
				return err
			}
		}
	}
	g.apply()
	return nil
}

// A strip is the rows or columns that a PE puts to its neighbour on one side, or gets from it.
type strip struct{ x, y, width, height int }

func (g *grid) given(s side) strip {
	return [sides]strip{
		north: {0, 0, g.width, radius},
		south: {0, g.height - radius, g.width, radius},
		west:  {0, 0, radius, g.height},
		east:  {g.width - radius, 0, radius, g.height},
	}[s]
}

func (g *grid) taken(s side) strip {
	return [sides]strip{
		north: {0, -radius, g.width, radius},
		south: {0, g.height, g.width, radius},
		west:  {-radius, 0, radius, g.height},
		east:  {g.width, 0, radius, g.height},
	}[s]
}

// give puts the edge on this side to the neighbour.
func (g *grid) give(s side, iteration uint64) {
	t := g.given(s)
	edge := g.outbox[:t.width*t.height]
	for y := range t.height {
		copy(edge[y*t.width:], g.row(g.in, t.x, t.y+y, t.width))
	}
	arrived := g.news.At(int(iteration % 2)).Arrived(int(s.opposite()))
	g.edge(s.opposite(), iteration).PutSignal(g.neighbour[s], edge, arrived, iteration)
}

// take waits for the edge of the neighbour on this side, and copies it into the margin.
func (g *grid) take(ctx context.Context, s side, iteration uint64) error {
	if _, err := g.news.At(int(iteration%2)).Arrived(int(s)).WaitUntil(ctx, pgas.GE, iteration); err != nil {
		return err
	}
	t, edge := g.taken(s), g.edge(s, iteration).Local()
	for y := range t.height {
		copy(g.row(g.in, t.x, t.y+y, t.width), edge[y*t.width:])
	}
	return nil
}

// edge returns the buffer for the edge of the neighbour on one side.
func (g *grid) edge(s side, iteration uint64) pgas.Slice[float64] {
	at := (int(iteration%2)*int(sides) + int(s)) * g.edgeMost
	return g.edges.Range(at, at+g.edgeMost)
}

// inner returns the points of this part that have all their neighbours in the whole grid.
func (g *grid) inner() (x0, x1, y0, y1 int) {
	return max(0, radius-g.left), min(g.width, g.order-radius-g.left),
		max(0, radius-g.top), min(g.height, g.order-radius-g.top)
}

// apply adds to each inner point the weighted sum of its neighbours, and then 1 to every point. It adds 1 to a row as
// soon as no row is left that needs it as a neighbour: the row is still in the cache then.
func (g *grid) apply() {
	x0, x1, y0, y1 := g.inner()
	next := 0 // the first row that nothing was added to
	for y := y0; y < y1 && x0 < x1; {
		y += g.applyRows(x0, x1-x0, y, y1-y)
		for ; next < y-radius; next++ {
			increment(g.row(g.in, 0, next, g.width))
		}
	}
	for ; next < g.height; next++ {
		increment(g.row(g.in, 0, next, g.width))
	}
}

// applyRows applies the stencil to n points from (x, y) on, and to those in the row below unless it is one row that is
// left, and returns how many rows it did. Two rows share most of their neighbours: that helps the compiler's scalar
// code, which is bound by its loads, and not vectors, which memory cannot keep up with.
func (g *grid) applyRows(x, n, y, left int) int {
	in := func(y int) []float64 { return g.row(g.in, x, y, n) }
	row := func(y int) []float64 { return g.row(g.in, x-radius, y, n+2*radius) }
	if left == 1 || hasVectors() {
		oneRow(g.row(g.out, x, y, n), row(y), in(y-2), in(y-1), in(y+1), in(y+2))
		return 1
	}
	twoRows(g.row(g.out, x, y, n), g.row(g.out, x, y+1, n), row(y), row(y+1), in(y-2), in(y-1), in(y+2), in(y+3))
	return 2
}

// oneRow applies the stencil to one row. It begins and ends radius points earlier and later than the others.
func oneRow(to, row, north2, north1, south1, south2 []float64) {
	n := oneRowVectors(to, row, north2, north1, south1, south2)
	oneRowEach(to[n:], row[n:], north2[n:], north1[n:], south1[n:], south2[n:])
}

// oneRowEach does it by a loop in Go.
func oneRowEach(to, row, north2, north1, south1, south2 []float64) {
	n := len(to)
	west2, west1, east1, east2 := row[:n], row[1:][:n], row[3:][:n], row[4:][:n]
	north2, north1, south1, south2 = north2[:n], north1[:n], south1[:n], south2[:n]
	for x := range to {
		to[x] += near*((east1[x]-west1[x])+(south1[x]-north1[x])) + far*((east2[x]-west2[x])+(south2[x]-north2[x]))
	}
}

// twoRows does the same for two rows. Five points of each are kept in registers while x goes east.
func twoRows(to, toNext, row, next, north2, north1, south2, south3 []float64) {
	n := len(to)
	w2, w1, c, e1 := row[0], row[1], row[2], row[3]
	nw2, nw1, nc, ne1 := next[0], next[1], next[2], next[3]
	row, next, toNext = row[4:][:n], next[4:][:n], toNext[:n]
	north2, north1, south2, south3 = north2[:n], north1[:n], south2[:n], south3[:n]
	for x := range to {
		e2, ne2 := row[x], next[x]
		above, below := north1[x], south2[x]
		to[x] += near*((e1-w1)+(nc-above)) + far*((e2-w2)+(below-north2[x]))
		toNext[x] += near*((ne1-nw1)+(below-c)) + far*((ne2-nw2)+(south3[x]-above))
		w2, w1, c, e1 = w1, c, e1, e2
		nw2, nw1, nc, ne1 = nw1, nc, ne1, ne2
	}
}

// increment adds 1 to each point of a row.
func increment(row []float64) {
	incrementEach(row[incrementVectors(row):])
}

// incrementEach does it by loops in Go.
func incrementEach(row []float64) {
	for ; len(row) >= 4; row = row[4:] {
		four := (*[4]float64)(row)
		four[0]++
		four[1]++
		four[2]++
		four[3]++
	}
	for x := range row {
		row[x]++
	}
}

// norm returns the mean of the magnitudes of the inner points. It is collective.
func (g *grid) norm(ctx context.Context) (float64, error) {
	x0, x1, y0, y1 := g.inner()
	mine := 0.0
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			mine += math.Abs(g.out[(y+radius)*g.stride+x+radius])
		}
	}
	total, err := pgas.SumValue(ctx, g.w.Team(), mine)
	inner := float64(g.order - 2*radius)
	return total / (inner * inner), err
}
