package snippets

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

// wrong collective: a barrier of the root
func rootBarrier(ctx context.Context, w *pgas.World) error {
	if w.PE() == 0 {
		fmt.Println("here")
		return w.Barrier(ctx)
	}
	return nil
}

// wrong collective: an early return of all but the root
func earlyReturn(ctx context.Context, w *pgas.World) error {
	root := w.PE() == 0
	if !root {
		return nil
	}
	fmt.Println("root")
	return w.Barrier(ctx)
}

// right: an early return after the barrier
func lateReturn(ctx context.Context, w *pgas.World) error {
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() != 0 {
		return nil
	}
	fmt.Println("root")
	return nil
}

// wrong collective: as many barriers as the PE number
func numbered(ctx context.Context, w *pgas.World) error {
	for i := 0; i < w.PE(); i++ {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// right: PEs take turns
func turns(ctx context.Context, w *pgas.World) error {
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

// wrong collective: in turns, and the PE that has its turn goes on
func turnsContinue(ctx context.Context, w *pgas.World) error {
	for pe := range w.NPEs() {
		if pe == w.PE() {
			fmt.Println("my turn")
			continue
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wrong collective: a loop that PEs leave at different times
func turnsBreak(ctx context.Context, w *pgas.World) error {
	for step := range 100 {
		if step > w.PE() {
			break
		}
		if err := w.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wrong collective: different collectives by the PE number
func differ(ctx context.Context, w *pgas.World, v int) (int, error) {
	switch w.PE() {
	case 0:
		return pgas.SumValue(ctx, w.Team(), v)
	default:
		return pgas.MaxValue(ctx, w.Team(), v)
	}
}

// right: the same collective with other arguments
func sameCall(ctx context.Context, w *pgas.World, v int) (int, error) {
	if w.PE() == 0 {
		return pgas.SumValue(ctx, w.Team(), 0)
	}
	return pgas.SumValue(ctx, w.Team(), v)
}

// wrong collective: memory of the root alone
func rootAlloc(ctx context.Context, w *pgas.World) (s pgas.Sym[int64], err error) {
	if w.PE() == 0 {
		s, err = pgas.Alloc[int64](ctx, w, 100)
	}
	return s, err
}

func isLeader(w *pgas.World) bool { return w.PE() == 0 }

func meet(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) }

// wrong collective: behind two helpers
func helpers(ctx context.Context, w *pgas.World) error {
	if isLeader(w) {
		return meet(ctx, w)
	}
	return nil
}

// wrong collective: odd PEs only, in a loop
func odd(ctx context.Context, w *pgas.World) error {
	for range 10 {
		if w.PE()%2 == 1 {
			if err := w.Sync(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// right: two branches that together are all PEs
func twoBranches(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
	if w.PE() == 0 {
		s.At(0).Put(1, 1)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	if w.PE() == 1 {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		fmt.Println(s.Local()[0])
	}
	return nil
}

// right: root and not root
func rootAndNot(ctx context.Context, w *pgas.World, s pgas.Sym[int64]) error {
	root := w.PE() == 0
	if root {
		s.At(0).Put(1, 1)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	if !root {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		fmt.Println(s.Local()[0])
	}
	return nil
}

// right: equal and not equal
func equalAndNot(ctx context.Context, w *pgas.World) error {
	me := w.PE()
	if me == 0 {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	fmt.Println("between")
	if me != 0 {
		return w.Barrier(ctx)
	}
	return nil
}

// wrong collective: root and not root, and the second is another collective
func rootAndOther(ctx context.Context, w *pgas.World) error {
	root := w.PE() == 0
	if root {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	if !root {
		return w.Sync(ctx)
	}
	return nil
}

// wrong collective: the root calls two, the others one
func rootTwice(ctx context.Context, w *pgas.World) error {
	root := w.PE() == 0
	if root {
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	fmt.Println("between")
	return w.Barrier(ctx)
}

// right: a switch that lists the PEs
func listed(ctx context.Context, w *pgas.World) error {
	switch w.PE() {
	case 0:
		return w.Barrier(ctx)
	case 1:
		fmt.Println("one")
		return w.Barrier(ctx)
	}
	return errors.New("two PEs only")
}

// wrong collective: a closure of the root
func closureOfRoot(ctx context.Context, w *pgas.World) error {
	finish := func() error { return w.Barrier(ctx) }
	if w.PE() == 0 {
		return finish()
	}
	return nil
}

// wrong collective: the PE number comes as a parameter
func byParameter(ctx context.Context, w *pgas.World) error {
	return step(ctx, w, w.PE())
}

func step(ctx context.Context, w *pgas.World, me int) error {
	if me == 0 {
		return w.Barrier(ctx)
	}
	return nil
}

type solver struct {
	w    *pgas.World
	me   int
	root bool
}

func newSolver(w *pgas.World) *solver { return &solver{w: w, me: w.PE(), root: w.PE() == 0} }

// wrong collective: the PE number is in a field
func (s *solver) finish(ctx context.Context) error {
	if s.me > 0 {
		return s.w.Barrier(ctx)
	}
	return nil
}

// right: a field, and the same on both sides
func (s *solver) finishAll(ctx context.Context) error {
	if s.root {
		fmt.Println("done")
	}
	return s.w.Barrier(ctx)
}

// wrong collective: the last PE of a team does not come
func teamOfAll(ctx context.Context, w *pgas.World) error {
	t := w.Team()
	if t.PE() != t.NPEs()-1 {
		return t.Barrier(ctx)
	}
	return nil
}

// right: a collective of the team that this PE is in
func ownTeam(ctx context.Context, w *pgas.World) error {
	half, err := w.Team().SplitStrided(ctx, 0, 2, (w.NPEs()+1)/2)
	if err != nil {
		return err
	}
	if w.PE()%2 == 0 {
		return half.Barrier(ctx)
	}
	return nil
}

// right: only members have the team
func members(ctx context.Context, w *pgas.World) error {
	first, err := w.Team().SplitList(ctx, []int{0, 1})
	if err != nil {
		return err
	}
	if first.PE() >= 0 {
		if _, err := pgas.SumValue(ctx, first, 1); err != nil {
			return err
		}
	}
	return w.Barrier(ctx)
}

// right: an error ends the job
func rootFails(ctx context.Context, w *pgas.World, open func() error) error {
	if w.PE() == 0 {
		if err := open(); err != nil {
			return err
		}
	}
	return w.Barrier(ctx)
}

// wrong collective: the root gives up without an error
func rootGivesUp(ctx context.Context, w *pgas.World, open func() error) error {
	if w.PE() == 0 {
		if err := open(); err != nil {
			fmt.Println(err)
			return nil
		}
	}
	return w.Barrier(ctx)
}

// right: goto, but not past a collective
func jumps(ctx context.Context, w *pgas.World) error {
	if w.PE() != 0 {
		goto out
	}
	fmt.Println("root")
out:
	return w.Barrier(ctx)
}

// wrong collective: goto past a collective
func jumpsPast(ctx context.Context, w *pgas.World) error {
	if w.PE() != 0 {
		goto out
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
out:
	fmt.Println("out")
	return nil
}

// right: the number of PEs is the same everywhere
func manyPEs(ctx context.Context, w *pgas.World) error {
	if w.NPEs() > 1 {
		return w.Barrier(ctx)
	}
	return nil
}

// right: the result of a collective is the same everywhere
func untilDone(ctx context.Context, w *pgas.World, left int) error {
	for {
		if w.PE() == 0 {
			left--
		}
		all, err := pgas.MaxValue(ctx, w.Team(), left)
		if err != nil {
			return err
		}
		if all <= 0 {
			return nil
		}
	}
}

// wrong droppederror: a barrier as a statement
func dropped(ctx context.Context, w *pgas.World, c pgas.Ref[int64]) {
	c.Put(1, 1)
	w.Barrier(ctx)
	fmt.Println(*c.Local())
}

// wrong droppederror: the error of a wait
func droppedWait(ctx context.Context, sig pgas.SignalRef) uint64 {
	v, _ := sig.WaitUntil(ctx, pgas.GE, 1)
	return v
}

// wrong droppederror: the request of a reduction
func droppedRequest(ctx context.Context, w *pgas.World, dst, src pgas.Slice[int64]) {
	pgas.SumReduceNB(ctx, w.Team(), dst, src)
}

// right: the error is joined
func joined(ctx context.Context, w *pgas.World) (err error) {
	defer func() { err = errors.Join(err, w.Barrier(ctx)) }()
	return w.Quiet(ctx)
}

// wrong bodycontext: a wait that does not end with the job
func background(ctx context.Context, w *pgas.World) error {
	return w.Barrier(context.Background())
}

// right: a context of the body's
func ofBody(ctx context.Context, w *pgas.World) error {
	c, cancel := context.WithCancel(ctx)
	defer cancel()
	return w.Barrier(c)
}
