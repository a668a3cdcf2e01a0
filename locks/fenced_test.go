package locks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestFenced: a resource takes what the holders of a lock write, and would refuse every earlier holder from then on,
// also those of an earlier term.
func TestFenced(t *testing.T) {
	const turns = 20
	pgastest.Run(t, 4, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
		if err != nil {
			return err
		}
		memory, err := pgas.Alloc[uint64](ctx, w, 1)
		if err != nil {
			return err
		}
		newest := memory.At(0) // that the resource has seen
		for term := uint64(1); term <= 3; term++ {
			f, err := locks.NewFenced(ctx, w, l, term)
			if err != nil {
				return err
			}
			for range turns {
				token, err := f.Lock(ctx)
				if err != nil {
					return err
				}
				before := newest.Get(0)
				newest.Put(0, token)
				f.Unlock()
				if token <= before || token>>40 != term {
					return fmt.Errorf("term %d: token %#x, after %#x", term, token, before)
				}
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if got, want := newest.Get(0), term<<40|uint64(w.NPEs()*turns); got != want {
				return fmt.Errorf("the newest token is %#x, and not %#x", got, want)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestFencedBounds: a term that has no room in a token.
func TestFencedBounds(t *testing.T) {
	pgastest.Run(t, 1, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocSpin(ctx, w, locks.SpinOptions{})
		if err != nil {
			return err
		}
		for term, wrong := range map[uint64]bool{0: true, 1: false, 1<<24 - 1: false, 1 << 24: true} {
			f, err := fencedOf(ctx, w, l, term)
			if wrong == (err == nil) {
				t.Errorf("term %d: the error is %v", term, err)
			}
			if err != nil {
				continue
			}
			if token, err := f.Lock(ctx); err != nil || token>>40 != term {
				t.Errorf("term %d is not in the token %#x: %v", term, token, err)
			}
			f.Unlock()
		}
		return nil
	})
}

// fencedOf returns the misuse of NewFenced as an error.
func fencedOf(ctx context.Context, w *pgas.World, l locks.Lock, term uint64) (f *locks.Fenced, err error) {
	defer func() {
		if x, is := recover().(*pgas.UsageError); is {
			err = x
		}
	}()
	return locks.NewFenced(ctx, w, l, term)
}
