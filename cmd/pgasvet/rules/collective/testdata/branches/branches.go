// Package branches has collectives that only some PEs call, and others that all call.
package branches

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/arena"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/input"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/progress"
)

func onOnePE(ctx context.Context, w *pgas.World) error {
	if w.PE() == 0 {
		fmt.Println("ready")
		return w.Barrier(ctx) // want `World.Barrier is collective, but by the PE number in the condition of line 21 not all PEs call it`
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
		return w.Barrier(ctx) // want `World.Barrier is collective, but by the PE number in the condition of line 37 other PEs call pgas.SumReduce instead`
	}
	return pgas.SumReduce(ctx, w.Team(), s, s)
}

func early(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil || w.PE() != 0 {
		return err
	}
	fmt.Println("done")
	return w.Sync(ctx) // want `World.Sync is collective, but by the PE number in the condition of line 44`
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

func values(ctx context.Context, w *pgas.World, found []int32) error {
	if w.PE() == 0 {
		sum, err := pgas.SumValue(ctx, w.Team(), len(found)) // want `pgas.SumValue is collective`
		if err != nil {
			return err
		}
		fmt.Println(sum)
	}
	if w.PE() == 1 {
		lists, err := pgas.Gather(ctx, w.Team(), found, 0) // want `pgas.Gather is collective`
		if err != nil {
			return err
		}
		fmt.Println(len(lists))
	}
	if lo, hi := w.Team().Share(10); w.PE() == 2 { // a share is no collective
		fmt.Println(lo, hi)
	}
	if w.PE() == 3 {
		lines, err := input.ReadShare(ctx, w.Team(), "x", input.Lines) // want `input.ReadShare is collective`
		if err != nil {
			return err
		}
		return lines.Close()
	}
	if w.PE() == 4 {
		return input.WriteShare(ctx, w.Team(), "x", nil) // want `input.WriteShare is collective`
	}
	return nil
}

func showProgress(ctx context.Context, w *pgas.World) error {
	if w.PE() == 0 {
		p, err := progress.New(ctx, w, "rows", 10) // want `progress.New is collective`
		if err != nil {
			return err
		}
		p.Add(10)
		return p.End(ctx)
	}
	return nil
}

func container(ctx context.Context, w *pgas.World, half *pgas.Team) error {
	seen, err := containers.NewMap[int, int](ctx, w, containers.Capacity(100))
	if err != nil {
		return err
	}
	some, err := containers.NewMap[int, int](ctx, w, containers.Over(half))
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		if err := seen.Set(ctx, 1, 2); err != nil { // of one PE
			return err
		}
		n, err := seen.Len(ctx) // want `Map.Len is collective`
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
	if w.PE() < w.NPEs()/2 {
		if _, err := some.Len(ctx); err != nil { // of half
			return err
		}
	}
	if half.PE() == 0 {
		if _, err := some.Len(ctx); err != nil { // want `Map.Len is collective`
			return err
		}
	}
	if w.PE() == 0 {
		return some.Free(ctx) // want `Map.Free is collective`
	}
	return nil
}

// Of a container that was made elsewhere the members are not known, but all PEs make one and free it.
func given(ctx context.Context, w *pgas.World, a *containers.Array[int64], m *containers.Map[string, int]) error {
	if w.PE() == 0 {
		if err := containers.Sort(ctx, a); err != nil {
			return err
		}
		if err := m.OnlyFinds(ctx); err != nil {
			return err
		}
	}
	if w.PE() == 0 {
		q, err := containers.NewQueue[int](ctx, w, 8) // want `containers.NewQueue is collective`
		if err != nil {
			return err
		}
		fmt.Println(q)
	}
	return nil
}

func inClosure(ctx context.Context, w *pgas.World) error {
	a, err := containers.NewArray[int64](ctx, w, 100)
	if err != nil {
		return err
	}
	fill := func() error {
		if w.PE() == 0 {
			return containers.PrefixSums(ctx, a) // want `containers.PrefixSums is collective`
		}
		return nil
	}
	return fill()
}

func records(ctx context.Context, w *pgas.World) error {
	a, err := arena.New(ctx, w, 1<<20)
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		if err := a.Reset(ctx); err != nil { // want `Arena.Reset is collective`
			return err
		}
	}
	return a.Close(ctx)
}

func withoutAnError(ctx context.Context, w *pgas.World, open func() error) error {
	if w.PE() == 0 {
		if err := open(); err != nil {
			return nil
		}
	}
	return w.Barrier(ctx) // want `World.Barrier is collective, but by the PE number in the condition of line [0-9]+ some PEs may return without it, and the others wait for them: return an error, or call it first`
}
