package main

// Triangle counting: of a graph, which is the lower triangle of its adjacency matrix, each operation asks for an edge i
// to j how many vertices k both have edges to, i > j > k.
//
// Row j is read by loads if its PE is on this host. If it is on another, each k of row i below j travels there, and the
// PE of row j looks whether it has that k.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// A wedge asks whether the row at place at of its receiver has a column.
type wedge struct{ at, column uint32 }

// graph is this PE's rows, and those of the PEs of its host.
type graph struct {
	*matrix
	near   []*matrix // nil for PEs of other hosts
	wedges *containers.Mailbox[wedge]
	count  int
}

func triangles(ctx context.Context, w *pgas.World, o options) (run, error) {
	vertices := 1 << o.logarithm
	drawn := newMatrix(w, vertices, o.degree, func(row int) int { return row })
	edges, err := drawn.nonzeros(ctx, w)
	if err != nil {
		return run{}, err
	}
	g, err := publish(ctx, w, drawn)
	if err != nil {
		return run{}, err
	}
	g.wedges, err = containers.NewMailbox(ctx, w, func(_ int, items []wedge) error {
		for _, wd := range items {
			if _, found := slices.BinarySearch(g.row(int(wd.at)), wd.column); found {
				g.count++
			}
		}
		return nil
	})
	if err != nil {
		return run{}, err
	}
	total := 0
	return run{
		ops:   edges,
		bytes: 4 * o.degree,
		work: func(ctx context.Context) error {
			if err := g.countAll(ctx, w); err != nil {
				return err
			}
			total, err = pgas.SumValue(ctx, w.Team(), g.count)
			return err
		},
		check: func(ctx context.Context) error { return checkTriangles(ctx, w, o, total) },
	}, nil
}

// publish puts the rows into symmetric memory, where the PEs of this host read them.
func publish(ctx context.Context, w *pgas.World, m *matrix) (*graph, error) {
	most, err := pgas.MaxValue(ctx, w.Team(), len(m.columns))
	if err != nil {
		return nil, err
	}
	columns, err := pgas.Alloc[uint32](ctx, w, most+1)
	if err != nil {
		return nil, err
	}
	starts, err := pgas.Alloc[uint32](ctx, w, (m.rows+w.NPEs()-1)/w.NPEs()+1)
	if err != nil {
		return nil, err
	}
	copy(columns.Local(), m.columns)
	copy(starts.Local(), m.starts)
	g := &graph{matrix: m, near: make([]*matrix, w.NPEs())}
	for pe := range g.near {
		if s := starts.Ptr(pe); s != nil {
			g.near[pe] = &matrix{rows: m.rows, starts: s, columns: columns.Ptr(pe)}
		}
	}
	return g, w.Barrier(ctx)
}

// countAll counts the triangles of which this PE has the row of the highest vertex, and those that others ask about.
func (g *graph) countAll(ctx context.Context, w *pgas.World) error {
	npes := uint32(w.NPEs())
	for at := range g.len() {
		row := g.row(at)
		for n, j := range row {
			pe, place := int(j%npes), j/npes
			if near := g.near[pe]; near != nil {
				g.count += common(row[:n], near.row(int(place)))
				continue
			}
			for _, k := range row[:n] {
				if err := g.wedges.Send(ctx, pe, wedge{place, k}); err != nil {
					return err
				}
			}
		}
	}
	return g.wedges.Flush(ctx)
}

// common returns how many numbers are in both rows, which ascend.
func common(a, b []uint32) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x < y:
			a = a[1:]
		case y < x:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// checkTriangles counts again: each PE draws the rows that it needs by itself.
func checkTriangles(ctx context.Context, w *pgas.World, o options, total int) error {
	again := 0
	for i := w.PE(); i < 1<<o.logarithm; i += w.NPEs() {
		row := drawRow(i, o.degree, i)
		for n, j := range row {
			again += common(row[:n], drawRow(int(j), o.degree, int(j)))
		}
	}
	want, err := pgas.SumValue(ctx, w.Team(), again)
	if err != nil {
		return err
	}
	wrong := 0
	if w.PE() == 0 {
		wrong = max(total-want, want-total)
	}
	return allRight(ctx, w, wrong, "triangles")
}
