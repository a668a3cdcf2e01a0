package coherent_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/coherent"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// savedArray restores an array of n elements on so many PEs, and saves it. Each PE writes elements of other PEs' shares
// before both, without a fence. In job number job all elements have been written by the jobs before.
func savedArray[T any](t *testing.T, store ckpt.Store, pes, n, job int, of func(int) T, same func(x, y T) bool) error {
	return pgastest.Goroutines(t.Context(), pes, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		r, err := open(ctx, w)
		if err != nil {
			return err
		}
		a, err := coherent.New[T](ctx, w, r, n)
		if err != nil {
			return err
		}
		b, err := coherent.New[int32](ctx, w, r, 50) // another one in the region
		if err != nil {
			return err
		}
		set := ckpt.New(w, ckpt.In(store))
		set.Add("a", a)
		set.Add("b", b)
		for i := w.PE(); i < n; i += pes {
			a.Set(i, of(-i)) // what is restored takes its place
		}
		_, ok, err := set.Restore(ctx)
		if err != nil || ok != (job > 0) {
			return fmt.Errorf("restored: %t, %w", ok, err)
		}
		for i, v := range a.All() {
			if job > 0 && !same(v, of(i+job-1)) {
				return fmt.Errorf("PE %d: element %d is %v, want %v", w.PE(), i, v, of(i+job-1))
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		for i := w.PE(); i < n; i += pes {
			a.Set(i, of(i+job))
		}
		for i := w.PE(); i < 50; i += pes {
			b.Set(i, b.At(i)+1)
		}
		if err := set.Save(ctx); err != nil {
			return err
		}
		for i := range 50 {
			if b.At(i) != int32(job+1) {
				return fmt.Errorf("element %d of b is %d, want %d", i, b.At(i), job+1)
			}
		}
		for i := range n {
			if !same(a.At(i), of(i+job)) {
				return fmt.Errorf("after Save element %d is %v", i, a.At(i))
			}
		}
		return r.Close(ctx)
	})
}

func samePair(x, y pair) bool { return x == y }

// TestSaved: an array is restored on other numbers of PEs, with what PEs had written to their copies before the Save,
// and can be written to.
func TestSaved(t *testing.T) {
	for _, n := range []int{700, 2, 0} {
		store := ckpt.Dir(t.TempDir())
		for job, pes := range []int{1, 3, 2, 4, 1, 3} {
			if err := savedArray(t, store, pes, n, job, pairOf, samePair); err != nil {
				t.Fatalf("%d elements, job %d on %d PEs: %v", n, job, pes, err)
			}
		}
	}
}

// TestNotRestored: an array of another length or type is refused.
func TestNotRestored(t *testing.T) {
	for want, run := range map[string]func(store ckpt.Store) error{
		"it has 701 elements, and was saved with 700": func(s ckpt.Store) error {
			return savedArray(t, s, 3, 701, 1, pairOf, samePair)
		},
		"were saved as another type, of 24 bytes": func(s ckpt.Store) error {
			return savedArray(t, s, 2, 700, 1, func(i int) int64 { return int64(i) }, func(x, y int64) bool { return x == y })
		},
	} {
		store := ckpt.Dir(t.TempDir())
		if err := savedArray(t, store, 2, 700, 0, pairOf, samePair); err != nil {
			t.Fatal(err)
		}
		if err := run(store); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want one line with %q", err, want)
		}
	}
}

// TestSavedOnAllKinds: on every kind of PE what was written is saved, and restored into another array.
func TestSavedOnAllKinds(t *testing.T) {
	const n = 700
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		var path []byte
		if w.PE() == 0 {
			dir, err := os.MkdirTemp("", "saved")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			path = []byte(dir)
		}
		path, err := pgas.BroadcastSlice(ctx, w.Team(), path, 0)
		if err != nil {
			return err
		}
		r, err := open(ctx, w)
		if err != nil {
			return err
		}
		for round := range 2 {
			a, err := coherent.New[pair](ctx, w, r, n)
			if err != nil {
				return err
			}
			set := ckpt.New(w, ckpt.In(ckpt.Dir(string(path))))
			set.Add("a", a)
			if _, _, err := set.Restore(ctx); err != nil {
				return err
			}
			for i := w.PE(); i < n && round == 0; i += w.NPEs() {
				a.Set(i, pairOf(i))
			}
			for i := 0; i < n && round == 1; i++ { // in the first round others are writing
				if v := a.At(i); v != pairOf(i) {
					return fmt.Errorf("element %d is %v", i, v)
				}
			}
			if err := set.Save(ctx); err != nil {
				return err
			}
			if _, err := set.Wait(ctx); err != nil { // the Set of the next round restores it
				return err
			}
		}
		return r.Close(ctx)
	})
}
