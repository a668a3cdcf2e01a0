// Package main has bodies that keep symmetric state outside of themselves, and others that do not.
package main

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

type solver struct {
	w     *pgas.World
	grid  *containers.Array[float64]
	steps int
}

var (
	world  *pgas.World
	cells  design.CellSym
	counts pgas.Sym[int64]
	grids  []*containers.Array[float64]
	byName = map[string]*containers.Counter{}
	set    *ckpt.Set
	guard  locks.Lock
	any1   any
	app    = &solver{}
	whole  solver
	total  int64
	steps  = 10
	local  []float64
)

func main() {
	around, last := (*pgas.World)(nil), 0
	s := &solver{steps: steps}
	pgas.Main(func(ctx context.Context, w *pgas.World) (err error) {
		around = w // want `\*pgas.World is kept outside the body: when the job goes on after a failure the body runs again, in another World, and this one is dead; keep it in the body, and pass it on`
		last = w.PE()
		inside := w
		func() { inside = nil }()
		keep(inside)
		return solve(ctx, w)
	})
	pgas.Main(s.run)
	fmt.Println(around, last)
}

func solve(ctx context.Context, w *pgas.World) (err error) {
	world = w                                                 // want `\*pgas.World is kept outside`
	if cells, err = design.AllocCell(ctx, w, 1); err != nil { // want `design.CellSym is kept outside`
		return err
	}
	counts, err = pgas.Alloc[int64](ctx, w, 8) // want `pgas.Sym\[int64\] is kept outside`
	if err != nil {
		return err
	}
	mine, err := containers.NewArray[float64](ctx, w, 8)
	if err != nil {
		return err
	}
	grids = append(grids, mine) // want `\[\]\*containers.Array\[float64\] is kept outside`
	counter, err := containers.NewCounter(ctx, w)
	if err != nil {
		return err
	}
	byName["found"] = counter // want `\*containers.Counter is kept outside`
	set = ckpt.New(w)         // want `\*ckpt.Set is kept outside`
	any1 = mine               // want `\*containers.Array\[float64\] is kept outside`
	app.grid = mine           // want `\*containers.Array\[float64\] is kept outside`
	app.setup(w)
	whole = solver{w: w, steps: 1} // want `main.solver is kept outside`
	whole = solver{steps: 2}
	world, app.grid = nil, nil
	total += counts.At(0).Get(0)
	local = append(local, mine.Local()...)
	return use(ctx, &solver{w: w})
}

func (s *solver) setup(w *pgas.World) {
	s.w = w // want `\*pgas.World is kept outside`
}

func (s *solver) run(ctx context.Context, w *pgas.World) (err error) {
	s.steps++
	s.grid, err = containers.NewArray[float64](ctx, w, 8) // want `\*containers.Array\[float64\] is kept outside`
	return err
}

// use is given a solver of the body.
func use(ctx context.Context, s *solver) (err error) {
	s.grid, err = containers.NewArray[float64](ctx, s.w, 8)
	return err
}

func keep(w *pgas.World) {
	world = w // want `\*pgas.World is kept outside`
}

func locked(_ context.Context, _ *pgas.World, l locks.Lock) error {
	guard = l // want `locks.Lock is kept outside`
	inner := map[string]locks.Lock{}
	inner["a"] = l
	return nil
}
