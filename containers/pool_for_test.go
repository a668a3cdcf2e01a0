package containers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// inPieces walks a tree in runs of some time, of which the first have none, and a Run at the end.
func inPieces(ctx context.Context, w *pgas.World, fan int, each, task time.Duration, capacity int) error {
	p, err := containers.NewWorkPool[node](ctx, w, capacity)
	if err != nil {
		return err
	}
	p.Add(node{Hash: uint64(w.PE())})
	var nodes int64
	var sum uint64
	visit := func(ctx context.Context, n node, add func(node)) error {
		nodes++
		sum += n.Hash
		n.children(fan, add)
		if task > 0 {
			return w.Sleep(ctx, task)
		}
		return nil
	}
	if _, err := p.RunFor(ctx, 0, visit); err != nil { // members run tasks until they learn of the end
		return err
	}
	runs := 0
	for left := 1; left > 0 && runs < 5; runs++ {
		if left, err = p.RunFor(ctx, each, visit); err != nil {
			return err
		}
		all, err := pgas.MaxValue(ctx, w.Team(), left)
		if err != nil || all != left {
			return fmt.Errorf("%d tasks are left, and to another member %d, %w", left, all, err)
		}
	}
	if err := p.Run(ctx, visit); err != nil {
		return err
	}
	if left, err := p.RunFor(ctx, time.Hour, visit); err != nil || left != 0 {
		return fmt.Errorf("after the end: %d tasks are left, %w", left, err)
	}
	return walked(ctx, w, nodes, sum, fan, w.NPEs())
}

// TestRunFor: what a run leaves, the next ones do, each task once.
func TestRunFor(t *testing.T) {
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		return inPieces(ctx, w, 20, 2*time.Millisecond, 100*time.Microsecond, 64)
	})
}

// TestRunForAdversaries is TestRunFor with delays of an adversary, and with deques that overflow.
func TestRunForAdversaries(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 15
	}
	for _, capacity := range []int{2, 64} {
		err := sim.Seeds(t.Context(), sim.Config{}, 4, seeds, func(ctx context.Context, w *pgas.World) error {
			return inPieces(ctx, w, 6, 40*time.Microsecond, time.Microsecond, capacity)
		})
		if err != nil {
			t.Fatalf("capacity %d: %v", capacity, err)
		}
	}
}

// TestRunForFails: the error of a task ends the run on all members, whether or not the time is over.
func TestRunForFails(t *testing.T) {
	errTask := errors.New("the task fails")
	for _, d := range []time.Duration{0, time.Microsecond, time.Hour} {
		err := sim.Seeds(t.Context(), sim.Config{}, 3, 30, func(ctx context.Context, w *pgas.World) error {
			p, err := containers.NewWorkPool[int](ctx, w, 8)
			if err != nil {
				return err
			}
			p.Add(w.PE())
			ran := false
			_, err = p.RunFor(ctx, d, func(ctx context.Context, task int, _ func(int)) error {
				if task == 1 {
					ran = true
					return errTask
				}
				return w.Sleep(ctx, 10*time.Microsecond)
			})
			failed, e := pgas.MaxValue(ctx, w.Team(), map[bool]int{true: w.PE() + 1}[ran])
			if e != nil {
				return e
			}
			other, isOther := errors.AsType[*containers.TaskError](err)
			switch {
			case failed == 0 && err != nil, ran && err != errTask:
				return fmt.Errorf("after %v: %w", d, err)
			case failed > 0 && !ran && (!isOther || other.PE != failed-1 || other.Text != errTask.Error()):
				return fmt.Errorf("after %v member %d has failed: %w", d, failed-1, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
