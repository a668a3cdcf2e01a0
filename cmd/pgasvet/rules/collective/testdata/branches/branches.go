// Package branches has collectives that only some PEs call, and others that all call.
package branches

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
)

func onOnePE(ctx context.Context, w *pgas.World) error {
	if w.PE() == 0 {
		fmt.Println("ready")
		return w.Barrier(ctx) // want `World.Barrier is collective, but by the PE number in the condition of line 17 not all PEs call it`
	}
	return nil
}

func matching(ctx context.Context, w *pgas.World) error {
	if w.PE() == 0 {
		fmt.Println("ready")
		return w.Barrier(ctx)
	}
	return w.Barrier(ctx)
}

func otherKinds(ctx context.Context, w *pgas.World, s pgas.Slice[int64]) error {
	if w.PE() == 0 {
		return w.Barrier(ctx) // want `World.Barrier is collective, but by the PE number in the condition of line 33 other PEs call pgas.SumReduce instead`
	}
	return pgas.SumReduce(ctx, w.Team(), s, s)
}

func early(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil || w.PE() != 0 {
		return err
	}
	fmt.Println("done")
	return w.Sync(ctx) // want `World.Sync is collective, but by the PE number in the condition of line 40`
}

func errorsEndTheJob(ctx context.Context, w *pgas.World) error {
	if w.PE() == 0 {
		if err := check(); err != nil {
			return fmt.Errorf("checking: %w", err)
		}
		if w.NPEs() < 2 {
			return errors.New("too few")
		}
		if len(os.Args) > 5 {
			panic("arguments")
		}
	}
	if w.PE() > 100 {
		os.Exit(2)
	}
	return w.Barrier(ctx)
}

func check() error { return nil }

func errorsWithDefers(ctx context.Context, w *pgas.World, got int) error {
	defer fmt.Println("done")
	for range 10 {
		if got != w.PE() {
			return fmt.Errorf("got %d", got)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func variables(ctx context.Context, w *pgas.World) error {
	me := w.PE()
	first := me%2 == 0
	if !first {
		if err := w.Barrier(ctx); err != nil { // want `World.Barrier is collective`
			return err
		}
	}
	body := func() error {
		if first {
			return w.Quiet(ctx)
		}
		return w.Sync(ctx) // want `World.Sync is collective`
	}
	return body()
}

func loops(ctx context.Context, w *pgas.World) error {
	for range w.PE() {
		if err := w.Barrier(ctx); err != nil { // want `World.Barrier is collective`
			return err
		}
	}
	for pe := range w.NPEs() {
		if pe == w.PE() {
			fmt.Println("my turn")
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func sameLoops(ctx context.Context, w *pgas.World, n int) error {
	if w.PE() == 0 {
		for range n {
			fmt.Println("round")
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	for range n {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func lead(ctx context.Context, w *pgas.World, c design.CellRef) error {
	c.PutSum(1, 5)
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return w.Sync(ctx)
}

func follow(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return w.Sync(ctx)
}

func helpers(ctx context.Context, w *pgas.World, c design.CellRef) error {
	if w.PE() == 0 {
		return lead(ctx, w, c)
	}
	return follow(ctx, w)
}

func oneHelper(ctx context.Context, w *pgas.World, c design.CellRef) error {
	if w.PE() == 0 {
		if err := lead(ctx, w, c); err != nil { // want `World.Barrier is collective`
			return err
		}
	}
	return nil
}

func allocations(ctx context.Context, w *pgas.World) (cells design.CellSym, err error) {
	if w.PE() == 0 {
		if cells, err = design.AllocCell(ctx, w, 1); err != nil { // want `design.AllocCell is collective`
			return cells, err
		}
	}
	if w.PE() != 1 {
		return cells, cells.Free(ctx) // want `CellSym.Free is collective`
	}
	return cells, nil
}

func otherPackages(ctx context.Context, w *pgas.World, r *dsm.Region) error {
	if w.PE() == 0 {
		if err := r.Barrier(ctx); err != nil { // want `Region.Barrier is collective`
			return err
		}
	}
	if w.PE() == 1 {
		_, err := locks.AllocDMCS(ctx, w, locks.DMCSOptions{}) // want `locks.AllocDMCS is collective`
		return err
	}
	return nil
}

// The PEs of a team are often those of a branch.
func teams(ctx context.Context, w *pgas.World, half *pgas.Team) error {
	if w.PE() < w.NPEs()/2 {
		if err := half.Barrier(ctx); err != nil {
			return err
		}
	}
	if w.PE() == 0 {
		if err := w.Team().Barrier(ctx); err != nil { // want `Team.Barrier is collective`
			return err
		}
	}
	if half.PE() == 0 {
		return half.Sync(ctx) // want `Team.Sync is collective`
	}
	return nil
}

type solver struct {
	w  *pgas.World
	me int
}

func newSolver(w *pgas.World) *solver { return &solver{w: w, me: w.PE()} }

func (s *solver) isRoot() bool { return s.w.PE() == 0 }

func (s *solver) solve(ctx context.Context) error {
	if s.me == 0 {
		if err := s.w.Barrier(ctx); err != nil { // want `World.Barrier is collective`
			return err
		}
	}
	if s.isRoot() {
		return s.w.Sync(ctx) // want `World.Sync is collective`
	}
	return nil
}

func listed(ctx context.Context, w *pgas.World, c design.CellRef) error {
	switch w.PE() {
	case 0:
		c.PutSum(1, 5)
		return w.Barrier(ctx)
	case 1:
		return w.Barrier(ctx)
	}
	return nil
}

func notByPE(ctx context.Context, w *pgas.World, verbose bool) error {
	if verbose || w.NPEs() > 2 {
		return w.Barrier(ctx)
	}
	return nil
}

func meant(ctx context.Context, w *pgas.World) error {
	if w.PE() == 0 {
		return w.Barrier(ctx) //pgasvet:ok the others are in their last Barrier
	}
	return nil
}
