package ckpt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	store := &memory{refuse: "c000002-"}
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		step := 1
		set := ckpt.New(w, ckpt.In(store))
		set.Add("step", ckpt.Shared(&step))
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		for step = 1; step <= 4; step++ {
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

// broken is an item that PE 1 cannot save, if it fails, and cannot restore, if it is lost.
type broken struct {
	w     *pgas.World
	fails bool
	lost  bool
}

func (b broken) Checkpoint() ckpt.Parts {
	return ckpt.Parts{
		Kind: "broken",
		Save: func(context.Context) ([]ckpt.Section, error) {
			if b.fails && b.w.PE() == 1 {
				return nil, errors.New("it is broken")
			}
			return nil, nil
		},
		Restore: func(context.Context, *ckpt.Saved) error {
			if b.lost && b.w.PE() == 1 {
				return errors.New("it is lost")
			}
			return nil
		},
	}
}

// TestItemLost: if one PE cannot restore an item, all PEs get its error, and none is blamed but that PE.
func TestItemLost(t *testing.T) {
	store := &memory{}
	for _, lost := range []bool{false, true} {
		err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			set := ckpt.New(w, ckpt.In(store))
			set.Add("it", broken{w: w, lost: lost})
			_, _, err := set.Restore(ctx)
			if !lost {
				return errors.Join(err, set.Save(ctx))
			}
			want := `item "it": it is lost`
			if w.PE() != 1 {
				want = "PE 1: " + want
			}
			if want = "Set.Restore: cut c000001-t0001: " + want; err == nil || err.Error() != want {
				return fmt.Errorf("the error is %w, not %s", err, want)
			}
			return nil
		})
		must(t, err)
	}
}

// TestItemFails: if one PE cannot save an item, all PEs get its error, and nothing is saved.
func TestItemFails(t *testing.T) {
	store := &memory{}
	err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set := ckpt.New(w, ckpt.In(store))
		set.Add("it", broken{w: w, fails: true})
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

// TestOneByteChanges: a Save after which one byte has changed since the Save before, wherever it is.
func TestOneByteChanges(t *testing.T) {
	store, want := &memory{}, make([]byte, 150<<10)
	for _, at := range []int{0, 1000, 64<<10 - 1, 100 << 10, len(want) - 1} {
		err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			s, err := pgas.Alloc[byte](ctx, w, len(want))
			if err != nil {
				return err
			}
			set := ckpt.New(w, ckpt.In(store))
			set.Add("s", ckpt.Sym(s))
			if _, _, err := set.Restore(ctx); err != nil {
				return err
			}
			if !bytes.Equal(s.Local(), want) {
				return fmt.Errorf("before byte %d changes, others have: they are not restored", at)
			}
			if err := set.Save(ctx); err != nil {
				return err
			}
			s.Local()[at]++
			want[at]++
			return set.Save(ctx)
		})
		must(t, err)
	}
}

// BenchmarkSave is the time for which a Save blocks, beside a copy of the same bytes by all PEs, and how long it takes
// until the cut is in a directory, beside plain files of the same bytes that are written and flushed. Before each Save
// all bytes are changed, or the last byte of each chunk, or that of 1 % of the chunks. Times are medians. Those of Save
// and of the copy end when the last PE returns: after that, goroutines that write the cut have the CPUs.
func BenchmarkSave(b *testing.B) {
	for _, test := range []struct {
		name        string
		step, first int // which bytes change
	}{{"all", 1, 0}, {"last", 64 << 10, 64<<10 - 1}, {"1%", 100 * 64 << 10, 64<<10 - 1}} {
		b.Run(test.name, func(b *testing.B) {
			cutsIn, files := ckpt.Dir(b.TempDir()), b.TempDir()
			err := pgastest.Goroutines(b.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				return benchSave(ctx, b, w, cutsIn, files, test.step, test.first)
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// benchSave saves 32 MiB of each PE, and reports the times of PE 0.
func benchSave(ctx context.Context, b *testing.B, w *pgas.World, cutsIn ckpt.Store, files string, step, first int) error {
	const n = 32 << 20
	s, err := pgas.Alloc[byte](ctx, w, n)
	if err != nil {
		return err
	}
	set := ckpt.New(w, ckpt.In(cutsIn))
	set.Add("s", ckpt.Sym(s))
	if _, _, err := set.Restore(ctx); err != nil {
		return err
	}
	live, plain := s.Local(), make([]byte, n)
	var began time.Duration
	var times [4][]float64   // of the PE that takes longest, in seconds
	for i := range b.N + 2 { // the first two touch all memory
		for at := first; at < n; at += step {
			live[at] = byte(i + 1)
		}
		for k, do := range []func() error{
			func() error { copy(plain, live); return nil },
			func() error { return set.Save(ctx) },
			func() error { _, err := set.Wait(ctx); return err },
			func() error { return writePlain(filepath.Join(files, fmt.Sprint(w.PE(), i%2)), live) },
		} {
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if k != 2 { // a cut is made from the beginning of its Save to the end of its Wait
				began = w.Now()
			}
			if err := do(); err != nil {
				return err
			}
			took, err := pgas.Gather(ctx, w.Team(), []float64{(w.Now() - began).Seconds()}, 0)
			if err != nil {
				return err
			}
			if i > 1 && w.PE() == 0 {
				times[k] = append(times[k], max(took[0][0], took[1][0]))
			}
		}
	}
	if w.PE() == 0 {
		var medians [4]float64
		for k, name := range []string{"ms/copy", "ms/Save", "ms/cut", "ms/plain"} {
			slices.Sort(times[k])
			medians[k] = times[k][b.N/2]
			b.ReportMetric(1e3*medians[k], name)
		}
		b.ReportMetric(medians[1]/medians[0], "Save/copy")
		b.ReportMetric(medians[3]/medians[2], "plain/disk")
	}
	return nil
}

// writePlain writes a file and flushes it.
func writePlain(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
