package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestNilContextIsMisuse: waits, quiets and locks say that their context.Context is nil.
func TestNilContextIsMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		words, err1 := pgas.Alloc[int64](ctx, w, 2)
		floats, err2 := pgas.Alloc[float64](ctx, w, 1)
		locks, err3 := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		var none context.Context
		set := pgas.AtomicsOf(words.All()).Until(pgas.EQ, 0)
		for name, call := range map[string]func(){
			"Alloc":           func() { pgas.Alloc[int64](none, w, 1) },
			"AllocAligned":    func() { pgas.AllocAligned[int64](none, w, 1, 8192) },
			"Quiet":           func() { w.Quiet(none) },
			"QuietLocal":      func() { w.Context().QuietLocal(none) },
			"WaitUntil":       func() { pgas.AtomicOf(words, 0).WaitUntil(none, pgas.EQ, 1) },
			"float WaitUntil": func() { pgas.AtomicFloatOf(floats, 0).WaitUntil(none, pgas.EQ, 1) },
			"WaitAll":         func() { set.WaitAll(none) },
			"WaitAny":         func() { set.WaitAny(none) },
			"WaitSome":        func() { set.WaitSome(none, nil) },
			"Lock":            func() { pgas.LockOf(locks, 0).Lock(none) },
		} {
			if misuseIn(w, call) == nil {
				return fmt.Errorf("%s with a nil context.Context: no *UsageError", name)
			}
		}
		return nil
	})
}
