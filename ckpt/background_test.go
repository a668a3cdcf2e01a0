package ckpt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestCloseWaits: a job that ends after a Save has its cut, though it has not waited for it.
func TestCloseWaits(t *testing.T) {
	for range 20 {
		store := &memory{}
		err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			var j job
			set, err := j.set(ctx, w, store, true)
			if err != nil {
				return err
			}
			if _, _, err := set.Restore(ctx); err != nil {
				return err
			}
			j.make(w, 1)
			short, cancel := context.WithCancel(ctx)
			defer cancel() // the cut is written nevertheless
			return set.Save(short)
		})
		must(t, err)
		must(t, run(t, 3, store, true, 1, 3, 0))
	}
}

// TestNextSave: the next Save returns the error of a cut that could not be written, and the one after it saves.
func TestNextSave(t *testing.T) {
	store := &memory{}
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		step := 1
		set := ckpt.New(w, ckpt.In(store))
		set.Add("step", ckpt.Shared(&step))
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		for step = 1; step <= 4; step++ {
			if step == 2 && w.PE() == 0 {
				store.mu.Lock()
				store.failAt = store.calls + 1
				store.mu.Unlock()
			}
			err := set.Save(ctx)
			if step == 2 {
				cut, wait := set.Wait(ctx)
				if err == nil && wait == nil || cut.Version != 1 {
					return fmt.Errorf("step %d: %v, %w, %w", step, cut, err, wait)
				}
				continue
			}
			if err != nil {
				return fmt.Errorf("step %d: %w", step, err)
			}
			if step == 3 {
				continue // the next Save waits
			}
			if cut, err := set.Wait(ctx); err != nil || cut.Version != uint64(step) {
				return fmt.Errorf("step %d: %v, %w", step, cut, err)
			}
		}
		return nil
	})
	must(t, err)
}

// broken is an item that PE 1 cannot save.
type broken struct{ w *pgas.World }

func (b broken) Checkpoint() ckpt.Parts {
	return ckpt.Parts{
		Kind: "broken",
		Save: func(context.Context) ([]ckpt.Section, error) {
			if b.w.PE() == 1 {
				return nil, errors.New("it is broken")
			}
			return nil, nil
		},
		Restore: func(context.Context, *ckpt.Saved) error { return nil },
	}
}

// TestItemFails: all PEs get the error of the one whose item cannot be saved, and nothing is saved.
func TestItemFails(t *testing.T) {
	store := &memory{}
	err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set := ckpt.New(w, ckpt.In(store))
		set.Add("it", broken{w})
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		if err := set.Save(ctx); err == nil || !strings.Contains(err.Error(), `item "it": it is broken`) {
			return fmt.Errorf("the error is %w", err)
		}
		cut, err := set.Wait(ctx)
		if cut != (ckpt.Cut{}) {
			return fmt.Errorf("%v is saved", cut)
		}
		return err
	})
	must(t, err)
	if names, _ := store.List(t.Context(), "c"); len(names) > 0 {
		t.Errorf("%q is saved", names)
	}
}

// BenchmarkSave is the time that a Save blocks, beside a copy of the same bytes by all PEs, for all bytes changed and
// for 1 % of the pieces.
func BenchmarkSave(b *testing.B) {
	const n = 4 << 20 // words of a PE
	for _, changed := range []int{100, 1} {
		b.Run(fmt.Sprintf("%d%%", changed), func(b *testing.B) {
			err := pgastest.Goroutines(b.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				return benchSave(ctx, b, w, n, changed)
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// benchSave reports the times on PE 0.
func benchSave(ctx context.Context, b *testing.B, w *pgas.World, n, changed int) error {
	s, err := pgas.Alloc[uint64](ctx, w, n)
	if err != nil {
		return err
	}
	set := ckpt.New(w, ckpt.In(ckpt.Dir(b.TempDir())))
	set.Add("s", ckpt.Sym(s))
	if _, _, err := set.Restore(ctx); err != nil {
		return err
	}
	live, plain := s.Local(), make([]uint64, n)
	var save, move, disk float64
	for i := range b.N + 1 { // the first touches the memory
		for at := 0; at < n; at += 8192 * 100 / changed {
			live[at] = uint64(i + 1)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		began := w.Now()
		copy(plain, live)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		copied := w.Now()
		if err := set.Save(ctx); err != nil {
			return err
		}
		saved := w.Now()
		if _, err := set.Wait(ctx); err != nil {
			return err
		}
		if i > 0 {
			move += (copied - began).Seconds()
			save += (saved - copied).Seconds()
			disk += (w.Now() - saved).Seconds()
		}
	}
	if w.PE() == 0 {
		b.ReportMetric(1e3*save/float64(b.N), "ms/Save")
		b.ReportMetric(1e3*move/float64(b.N), "ms/copy")
		b.ReportMetric(1e3*disk/float64(b.N), "ms/disk")
		b.ReportMetric(save/move, "Save/copy")
	}
	return nil
}
