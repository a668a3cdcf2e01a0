package ckpt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestSaveCompletes: what a PE has put by any context before a Save is in the cut of its target, however late it comes
// otherwise, and what a PE puts after the Save is not.
func TestSaveCompletes(t *testing.T) {
	seeds := 100
	if testing.Short() {
		seeds = 10
	}
	store := &memory{}
	err := sim.Seeds(t.Context(), sim.Config{}, 3, seeds, func(ctx context.Context, w *pgas.World) error {
		const n = 40
		live, err := pgas.Alloc[int](ctx, w, n)
		if err != nil {
			return err
		}
		saved, err := pgas.Alloc[int](ctx, w, n)
		if err != nil {
			return err
		}
		private, err := w.NewContext()
		if err != nil {
			return err
		}
		set := ckpt.New(w, ckpt.In(store))
		set.Add("memory", ckpt.Sym(live))
		if _, _, err := set.Restore(ctx); err != nil && !strings.Contains(err.Error(), "can be taken") {
			return err
		}
		clear(live.Local())
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		right := (w.PE() + 1) % w.NPEs()
		put := func(v int) {
			for i := range n {
				at := live.At(i)
				if i%2 == 1 {
					at = at.On(private)
				}
				at.Put(right, v+i)
			}
		}
		put(1000)
		if err := set.Save(ctx); err != nil {
			return err
		}
		put(2000)
		if cut, err := set.Wait(ctx); err != nil || cut.Version == 0 {
			return fmt.Errorf("%v, %w", cut, err)
		}
		again := ckpt.New(w, ckpt.In(store))
		again.Add("memory", ckpt.Sym(saved))
		if _, ok, err := again.Restore(ctx); err != nil || !ok {
			return fmt.Errorf("restored: %t, %w", ok, err)
		}
		for i, v := range saved.Local() {
			if v != 1000+i {
				return fmt.Errorf("word %d of the cut is %d", i, v)
			}
		}
		return w.Barrier(ctx)
	})
	must(t, err)
}

// TestSaveRefuses: a Save with a lock held, or with a notification that nobody has waited for, panics and says so.
func TestSaveRefuses(t *testing.T) {
	for want, disturb := range map[string]func(ctx context.Context, w *pgas.World) error{
		"holds": func(ctx context.Context, w *pgas.World) error {
			s, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
			if err == nil && w.PE() == 1 {
				err = pgas.LockOf(s, 0).Lock(ctx)
			}
			return err
		},
		"from PE 1 with tag 7": func(ctx context.Context, w *pgas.World) error {
			s, err := pgas.Alloc[int](ctx, w, 1)
			if err == nil && w.PE() == 1 {
				v := 3
				s.At(0).PutNotify(0, &v, 7)
			}
			return err
		},
	} {
		store := &memory{}
		err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			set := ckpt.New(w, ckpt.In(store))
			if _, _, err := set.Restore(ctx); err != nil {
				return err
			}
			if err := disturb(ctx, w); err != nil {
				return err
			}
			return set.Save(ctx)
		})
		if usage, ok := errors.AsType[*pgas.UsageError](err); !ok || usage.Op != "Set.Save" || !strings.Contains(usage.Msg, want) {
			t.Errorf("%s: %v", want, err)
		}
		if list, _ := store.List(t.Context(), "c"); len(list) > 0 {
			t.Errorf("%s: %v is saved", want, list)
		}
	}
}

// TestSaveAfterFailedRestore: a job that goes on after Restore has failed saves nothing, which would take the place of
// the cuts that are there.
func TestSaveAfterFailedRestore(t *testing.T) {
	store := &memory{}
	must(t, run(t, 2, store, true, 0, 0, 2))
	err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set := ckpt.New(w, ckpt.In(store))
		if _, _, err := set.Restore(ctx); err == nil {
			return errors.New("other items are restored")
		}
		return set.Save(ctx)
	})
	if usage, ok := errors.AsType[*pgas.UsageError](err); !ok || !strings.Contains(usage.Msg, "Restore has returned an error") {
		t.Errorf("%v", err)
	}
	must(t, run(t, 2, store, true, 2, 2, 0))
}

// TestSaveIfDue: a cut is saved when the time has come by the clock of PE 0, and no other clock.
func TestSaveIfDue(t *testing.T) {
	store := &memory{}
	_, err := sim.Run(t.Context(), sim.Config{}, 3, func(ctx context.Context, w *pgas.World) error {
		set := ckpt.New(w, ckpt.In(store), ckpt.Every(time.Second))
		if w.PE() != 0 {
			set = ckpt.New(w, ckpt.In(store), ckpt.Every(0))
		}
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		for round, want := range []bool{false, false, true, false, true} {
			if want {
				if err := w.Sleep(ctx, time.Second); err != nil {
					return err
				}
			}
			if saved, err := set.SaveIfDue(ctx); saved != want || err != nil {
				return fmt.Errorf("round %d: saved %t, %w", round, saved, err)
			}
		}
		return nil
	})
	must(t, err)
}

// TestTwoJobs: of two jobs with one Store, the one that has begun last goes on.
func TestTwoJobs(t *testing.T) {
	store := &memory{}
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		var sets []*ckpt.Set
		step := 5
		for range 2 { // two Sets of one job are as good as two jobs
			set := ckpt.New(w, ckpt.In(store))
			set.Add("step", ckpt.Shared(&step))
			if _, _, err := set.Restore(ctx); err != nil {
				return err
			}
			sets = append(sets, set)
		}
		if err := sets[0].Save(ctx); err != nil {
			return err
		}
		if err := sets[0].Save(ctx); err == nil || !strings.Contains(err.Error(), "another job has begun") {
			return fmt.Errorf("the job that has begun before: %w", err)
		}
		return sets[1].Save(ctx)
	})
	must(t, err)
	if names, err := store.List(t.Context(), "c"); err != nil || len(names) != 3 || names[0] != "c000001-t0002.json" {
		t.Errorf("the second job has saved %v, %v", names, err)
	}
}
