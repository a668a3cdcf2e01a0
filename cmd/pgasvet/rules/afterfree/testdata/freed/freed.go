// Package freed has uses of symmetric memory after it was freed, and before.
package freed

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/pgas"
)

func references(ctx context.Context, w *pgas.World, cells design.CellSym) error {
	c := cells.At(0)
	mine := c.Local()
	c.PutSum(0, 1)
	if err := cells.Free(ctx); err != nil {
		c.PutSum(0, 1)
		return err
	}
	c.PutSum(0, 1)        // want `use of symmetric memory after CellSym.Free in line 16: .*; free it after its last use`
	fmt.Println(mine.Sum) // want `use of symmetric memory after CellSym.Free`
	mine.Sum = 5          // want `use of symmetric memory after CellSym.Free`
	fmt.Println(cells.Len())
	cells.At(1) // want `use of symmetric memory after CellSym.Free`
	return nil
}

func plain(ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[int64](ctx, w, 8)
	if err != nil {
		return err
	}
	r, words := s.Range(0, 4), s.Local()
	if err := s.Free(ctx); err != nil {
		return err
	}
	r.Put(0, words[1:2])                                        // want `use of symmetric memory after Sym.Free`
	words[3]++                                                  // want `use of symmetric memory after Sym.Free`
	if err := pgas.SumReduce(ctx, w.Team(), r, r); err != nil { // want `use of symmetric memory after Sym.Free`
		return err
	}
	if s, err = pgas.Alloc[int64](ctx, w, 8); err != nil {
		return err
	}
	s.Local()[0] = 1
	return s.Free(ctx)
}

func grown(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) (pgas.Sym[int64], error) {
	old := s.At(0)
	larger, err := s.Realloc(ctx, 100)
	if err != nil {
		old.Put(0, 1)
		return s, err
	}
	old.Put(0, 1) // want `use of symmetric memory after Sym.Realloc`
	larger.At(0).Put(0, 1)
	return larger, nil
}

func inALoop(ctx context.Context, w *pgas.World) error {
	for range 3 {
		cells, err := design.AllocCell(ctx, w, 1)
		if err != nil {
			return err
		}
		cells.At(0).PutSum(0, 1)
		if err := cells.Free(ctx); err != nil {
			return err
		}
	}
	return nil
}

type holder struct{ cells design.CellSym }

func (h *holder) field(ctx context.Context, w *pgas.World) error {
	if err := h.cells.Free(ctx); err != nil {
		return err
	}
	h.cells.At(0) // want `use of symmetric memory after CellSym.Free`
	var err error
	h.cells, err = design.AllocCell(ctx, w, 1)
	h.cells.At(0).PutSum(0, 1)
	return err
}

func (h *holder) renewed(ctx context.Context, w *pgas.World) error {
	if err := h.cells.Free(ctx); err != nil {
		return err
	}
	if err := h.renew(ctx, w); err != nil {
		return err
	}
	h.cells.At(0).PutSum(0, 1)
	return nil
}

func (h *holder) renew(ctx context.Context, w *pgas.World) (err error) {
	h.cells, err = design.AllocCell(ctx, w, 1)
	return err
}

func onOnePathOnly(ctx context.Context, cells design.CellSym, done bool) error {
	if done {
		if err := cells.Free(ctx); err != nil {
			return err
		}
	}
	if !done {
		cells.At(0).PutSum(0, 1)
	}
	return nil
}
