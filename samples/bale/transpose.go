package main

// Transpose of a sparse matrix: each operation moves an element to the PE that has the row of its column.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// An element belongs to the row at place at of its receiver, and to a column.
type element struct{ at, column uint32 }

func transpose(ctx context.Context, w *pgas.World, o options) (run, error) {
	rows := 1 << o.logarithm
	a := newMatrix(w, rows, o.degree, func(int) int { return rows })
	nonzeros, err := a.nonzeros(ctx, w)
	if err != nil {
		return run{}, err
	}
	var arrived []element
	elements, err := containers.NewMailbox(ctx, w, func(_ int, items []element) error {
		arrived = append(arrived, items...)
		return nil
	})
	if err != nil {
		return run{}, err
	}
	var t *matrix
	return run{
		ops:   nonzeros,
		bytes: 8,
		work: func(ctx context.Context) error {
			if err := a.scatter(ctx, w, elements); err != nil {
				return err
			}
			t = assemble(a.rows, a.len(), arrived)
			return nil
		},
		check: func(ctx context.Context) error { return checkTranspose(ctx, w, a, t) },
	}, nil
}

// scatter sends each element to the PE that has the row of its column.
func (m *matrix) scatter(ctx context.Context, w *pgas.World, elements *containers.Mailbox[element]) error {
	npes := uint32(w.NPEs())
	for at := range m.len() {
		row := uint32(at)*npes + uint32(w.PE())
		for _, column := range m.row(at) {
			if err := elements.Send(ctx, int(column%npes), element{column / npes, row}); err != nil {
				return err
			}
		}
	}
	return elements.Flush(ctx)
}

// assemble makes a matrix of elements in any order. Its rows are not sorted.
func assemble(rows, mine int, elements []element) *matrix {
	t := &matrix{rows: rows, starts: make([]uint32, mine+1), columns: make([]uint32, len(elements))}
	for _, e := range elements {
		t.starts[e.at+1]++
	}
	for at := range mine {
		t.starts[at+1] += t.starts[at]
	}
	next := slices.Clone(t.starts)
	for _, e := range elements {
		t.columns[next[e.at]] = e.column
		next[e.at]++
	}
	return t
}

// checkTranspose compares the elements of a matrix with those of its transpose, by their number and a sum of hashes.
func checkTranspose(ctx context.Context, w *pgas.World, a, t *matrix) error {
	of, err := pgas.SumValue(ctx, w.Team(), a.hash(w, false)-t.hash(w, true))
	if err != nil {
		return err
	}
	lost, err := pgas.SumValue(ctx, w.Team(), len(a.columns)-len(t.columns))
	if err != nil {
		return err
	}
	wrong := max(lost, -lost)
	if of != 0 && w.PE() == 0 {
		wrong++
	}
	return allRight(ctx, w, wrong, "elements of the transpose")
}

// hash adds hashes of this PE's elements, of rows and columns or the other way round.
func (m *matrix) hash(w *pgas.World, transposed bool) (sum uint64) {
	for at := range m.len() {
		row := uint64(at*w.NPEs() + w.PE())
		for _, column := range m.row(at) {
			if transposed {
				sum += draw(uint64(column), row)
			} else {
				sum += draw(row, uint64(column))
			}
		}
	}
	return sum
}
