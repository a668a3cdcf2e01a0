package snippets

import (
	"context"
	"sync/atomic"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// session is what a server keeps of its job.
type session struct {
	w     *pgas.World
	users *containers.Map[uint64, uint64]
	asked int
}

var (
	theCells   design.CellSym
	theSession session
	sessions   = map[string]*session{}
	theWorld   atomic.Pointer[pgas.World]
	theRows    []float64
	lastCut    ckpt.Cut
	onRequest  func(uint64) uint64
	theLocks   struct{ first, second pgas.LockRef }
)

// wrong outsidebody: an allocation in a variable of the package
func keepsCells(ctx context.Context, w *pgas.World) (err error) {
	theCells, err = design.AllocCell(ctx, w, 1)
	return err
}

// right: the allocation is the body's
func passesCells(ctx context.Context, w *pgas.World) error {
	cells, err := design.AllocCell(ctx, w, 1)
	if err != nil {
		return err
	}
	return sumCells(ctx, w, cells)
}

func sumCells(ctx context.Context, w *pgas.World, cells design.CellSym) error {
	cells.At(0).Local().Sum = 1
	return w.Barrier(ctx)
}

// wrong outsidebody: the World in a struct of the package
func keepsWorld(_ context.Context, w *pgas.World) error {
	theSession.w = w
	return nil
}

// wrong outsidebody: a map that a method puts into a struct of the package
func keepsMap(ctx context.Context, w *pgas.World) error {
	return theSession.open(ctx, w)
}

func (s *session) open(ctx context.Context, w *pgas.World) (err error) {
	s.users, err = containers.NewMap[uint64, uint64](ctx, w)
	return err
}

// right: the same struct, made by the body
func ownSession(ctx context.Context, w *pgas.World) error {
	s := &session{w: w}
	users, err := containers.NewMap[uint64, uint64](ctx, w)
	if err != nil {
		return err
	}
	s.users = users
	s.asked++
	return w.Barrier(ctx)
}

// wrong outsidebody: a session of the job in a table of the package
func keepsSession(_ context.Context, w *pgas.World) error {
	sessions["users"] = &session{w: w}
	return nil
}

// wrong outsidebody: locks in an unnamed struct
func keepsLocks(ctx context.Context, w *pgas.World) error {
	words, err := pgas.Alloc[pgas.Lock](ctx, w, 2)
	if err != nil {
		return err
	}
	theLocks.first = pgas.LockOf(words, 0)
	return nil
}

// wrong outsidebody: the World in an atomic variable, which the rule does not see
func keepsAtomically(_ context.Context, w *pgas.World) error {
	theWorld.Store(w)
	return nil
}

// wrong outsidebody: a function that has a map, which the rule does not see
func keepsFunction(ctx context.Context, w *pgas.World) error {
	users, err := containers.NewMap[uint64, uint64](ctx, w)
	if err != nil {
		return err
	}
	onRequest = func(key uint64) uint64 {
		return key + uint64(users.Home(key))
	}
	return nil
}

// right: plain values of the job, and the name of a cut
func keepsNumbers(ctx context.Context, w *pgas.World) error {
	step := 0
	set := ckpt.New(w)
	set.Add("step", ckpt.Shared(&step))
	cut, _, err := set.Restore(ctx)
	if err != nil {
		return err
	}
	lastCut, theSession.asked = cut, w.NPEs()
	theRows = append(theRows[:0], float64(step))
	return nil
}

// right: a variable of the package that is emptied
func forgets(_ context.Context, w *pgas.World) error {
	theSession = session{asked: w.PE()}
	theSession.users = nil
	return nil
}
