package main

// The two matrices and one iteration on them.
//
// Each PE has as many columns of A and B as the others, so the block that it has for another PE has as many rows as
// columns. It gives away the block in strips, of up to tile of the target's columns each. A strip is packed,
// transposed, into a buffer on the target that no other PE writes, and a signal counts strips. On the same host the PE
// packs it there; for another host it packs it in a buffer of its own, and puts it with the signal. It sends all strips
// before it receives the first, so PEs wait little for each other.
//
// There are two such buffers, for even and odd iterations, and nothing else protects them: a PE that has a
// peer's last strip of one iteration knows that the peer has consumed the strips of the one before.
//
// A strip is a row of tiles, each contiguous. So packing and unpacking walk along columns of A and B, and only a tile,
// which fits the second cache, is written across, a cache line at a time.

import (
	"context"
	"math"

	"github.com/gopgas/gopgas/pgas"
)

// tile is the greatest number of rows and columns of a tile: 128 KiB.
const tile = 128

type matrices struct {
	w      *pgas.World
	order  int
	width  int // columns of each PE
	strips int // of a block

	a, b   []float64 // this PE's columns, one after the other
	outbox []float64 // a strip that is being put

	inbox pgas.Sym[float64] // a block from each PE, for even and then for odd iterations; written by that PE
	slots SlotSym           // of each PE
}

// newMatrices makes A[row, column] = order·column + row, and B = 0. It is collective.
func newMatrices(ctx context.Context, w *pgas.World, order int) (*matrices, error) {
	width := order / w.NPEs()
	m := &matrices{
		w: w, order: order, width: width, strips: (width + tile - 1) / tile,
		a: make([]float64, order*width), b: make([]float64, order*width),
		outbox: make([]float64, tile*width),
	}
	for c := range width {
		for r := range order {
			m.a[c*order+r] = m.initial(r, w.PE()*width+c)
		}
	}
	var err error
	if m.inbox, err = pgas.AllocRaw[float64](ctx, w, 2*w.NPEs()*width*width); err != nil {
		return nil, err
	}
	m.slots, err = AllocSlot(ctx, w, w.NPEs())
	return m, err
}

func (m *matrices) initial(row, column int) float64 { return float64(m.order*column + row) }

// iterate adds the transpose of A to B, and 1 to A. Iterations are numbered from 1. It is collective.
func (m *matrices) iterate(ctx context.Context, iteration int) error {
	me, npes := m.w.PE(), m.w.NPEs()
	for phase := 1; phase < npes; phase++ {
		m.send((me+phase)%npes, iteration)
	}
	m.keep()
	for phase := 1; phase < npes; phase++ {
		if err := m.receive(ctx, (me+npes-phase)%npes, iteration); err != nil {
			return err
		}
	}
	return nil
}

// send gives another PE this PE's block for it.
func (m *matrices) send(to, iteration int) {
	place := m.place(m.w.PE(), iteration)
	arrived := m.slots.At(m.w.PE()).Arrived(iteration % 2)
	if there := place.Ptr(to); there != nil {
		m.packInPlace(there, arrived, to)
		return
	}
	for first := 0; first < m.width; first += tile {
		columns := min(tile, m.width-first)
		strip := m.outbox[:columns*m.width]
		m.pack(strip, to*m.width+first, columns, false)
		place.Range(first*m.width, (first+columns)*m.width).PutSignalAdd(to, strip, arrived, 1)
	}
}

// packInPlace packs the block for a PE of this host where that PE expects it, which saves the copy of a put.
func (m *matrices) packInPlace(there []float64, arrived pgas.SignalRef, to int) {
	for first := 0; first < m.width; first += tile {
		columns := min(tile, m.width-first)
		m.pack(there[first*m.width:(first+columns)*m.width], to*m.width+first, columns, true)
		m.w.Fence()
		arrived.Add(to, 1)
	}
}

// receive adds the block that another PE has put.
func (m *matrices) receive(ctx context.Context, from, iteration int) error {
	place := m.place(from, iteration).Local()
	arrived := m.slots.At(from).Arrived(iteration % 2)
	before := (iteration - 1) / 2 * m.strips
	for s := range m.strips {
		if _, err := arrived.WaitUntil(ctx, pgas.GE, uint64(before+s+1)); err != nil {
			return err
		}
		first := s * tile
		columns := min(tile, m.width-first)
		m.unpack(place[first*m.width:(first+columns)*m.width], first, columns, from*m.width)
	}
	return nil
}

// keep does what send and receive do, with the block of this PE for itself.
func (m *matrices) keep() {
	for first := 0; first < m.width; first += tile {
		columns := min(tile, m.width-first)
		strip := m.outbox[:columns*m.width]
		m.pack(strip, m.w.PE()*m.width+first, columns, false)
		m.unpack(strip, first, columns, m.w.PE()*m.width)
	}
}

// place returns where a PE's block of an iteration is put.
func (m *matrices) place(from, iteration int) pgas.Slice[float64] {
	size := m.width * m.width
	at := (iteration%2*m.w.NPEs() + from) * size
	return m.inbox.Range(at, at+size)
}

// pack copies rows first … first+rows-1 of A to strip, transposed, and adds 1 to them. stream says that this PE will
// not read the strip, which then need not go through its caches.
func (m *matrices) pack(strip []float64, first, rows int, stream bool) {
	for c0 := 0; c0 < m.width; c0 += tile {
		columns := min(tile, m.width-c0)
		to := strip[c0*rows : (c0+columns)*rows]
		c := 0
		for ; c+lanes <= columns; c += lanes {
			lanesAcross(to[c:], columns, m.a[(c0+c)*m.order+first:], m.order, rows, stream)
		}
		for ; c < columns; c++ {
			across(to[c:], columns, m.a[(c0+c)*m.order+first:][:rows])
		}
	}
}

// across writes from to every stride-th element of to, and adds 1 to each element of from.
func across(to []float64, stride int, from []float64) {
	for i, x := range from {
		to[i*stride] = x
		from[i] = x + 1
	}
}

// lanes are columns that are written across together: a cache line, with one check of bounds.
const lanes = 8

// lanesAcross does what across does, for the first elements of as many columns of from, which lie side by side in to.
func lanesAcross(to []float64, stride int, from []float64, order, rows int, stream bool) {
	if done := lanesAcrossVectors(to, stride, from, order, rows, stream); done < rows {
		lanesAcrossEach(to[done*stride:], stride, from[done:], order, rows-done)
	}
}

// lanesAcrossEach does it by a loop in Go.
func lanesAcrossEach(to []float64, stride int, from []float64, order, rows int) {
	a, b, c, d := from[:rows], from[order:][:rows], from[2*order:][:rows], from[3*order:][:rows]
	e, f, g, h := from[4*order:][:rows], from[5*order:][:rows], from[6*order:][:rows], from[7*order:][:rows]
	for i := range a {
		line := (*[lanes]float64)(to[i*stride:])
		w, x, y, z := a[i], b[i], c[i], d[i]
		line[0], line[1], line[2], line[3] = w, x, y, z
		a[i], b[i], c[i], d[i] = w+1, x+1, y+1, z+1
		w, x, y, z = e[i], f[i], g[i], h[i]
		line[4], line[5], line[6], line[7] = w, x, y, z
		e[i], f[i], g[i], h[i] = w+1, x+1, y+1, z+1
	}
}

// unpack adds a strip to so many columns of B, in the rows that begin at first.
func (m *matrices) unpack(strip []float64, c0, columns, first int) {
	for c := range columns {
		at := (c0+c)*m.order + first
		column := m.b[at : at+m.width]
		for r0 := 0; r0 < m.width; r0 += tile {
			rows := min(tile, m.width-r0)
			from := r0*columns + c*rows
			add(column[r0:r0+rows], strip[from:from+rows])
		}
	}
}

// add adds from to to, which is as long.
func add(to, from []float64) {
	done := addVectors(to, from)
	addEach(to[done:], from[done:])
}

// addEach does it by loops in Go.
func addEach(to, from []float64) {
	for len(to) >= 4 && len(from) >= 4 {
		t, f := (*[4]float64)(to), (*[4]float64)(from)
		t[0] += f[0]
		t[1] += f[1]
		t[2] += f[2]
		t[3] += f[3]
		to, from = to[4:], from[4:]
	}
	for i := range to {
		to[i] += from[i]
	}
}

// error returns the sum of the errors of all elements of B after that many iterations. It is collective.
func (m *matrices) error(ctx context.Context, iterations int) (float64, error) {
	wrong, added := 0.0, float64(iterations)*float64(iterations-1)/2
	for c := range m.width {
		for r := range m.order {
			want := m.initial(m.w.PE()*m.width+c, r)*float64(iterations) + added
			wrong += math.Abs(m.b[c*m.order+r] - want)
		}
	}
	return pgas.SumValue(ctx, m.w.Team(), wrong)
}
