package coherent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gopgas/gopgas/coherent"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestArrayMisuse: calls that cannot be right panic with one clear line.
func TestArrayMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		r, err := open(ctx, w)
		if err != nil {
			return err
		}
		a, err := coherent.New[int](ctx, w, r, 10)
		if err != nil {
			return err
		}
		short, err := containers.NewArray[int](ctx, w, 9)
		if err != nil {
			return err
		}
		var none *coherent.Array[int]
		var zero coherent.Array[int]
		var nilctx context.Context
		add := func(x, y int) int { return x + y }
		for name, call := range map[string]func(){
			"no context":           func() { coherent.New[int](nilctx, w, r, 1) },
			"no World":             func() { coherent.New[int](ctx, nil, r, 1) },
			"no region":            func() { coherent.New[int](ctx, w, nil, 1) },
			"zero region":          func() { coherent.New[int](ctx, w, new(dsm.Region), 1) },
			"pointers":             func() { coherent.New[*int](ctx, w, r, 1) },
			"negative length":      func() { coherent.New[int](ctx, w, r, -1) },
			"Len of nil":           func() { none.Len() },
			"Local of zero":        func() { zero.Local() },
			"At beyond":            func() { a.At(10) },
			"Set before":           func() { a.Set(-1, 0) },
			"Owner beyond":         func() { a.Owner(10) },
			"Index of no PE":       func() { a.Index(1, 0) },
			"Index beyond":         func() { a.Index(0, 10) },
			"GetRange beyond":      func() { a.GetRange(9, make([]int, 2)) },
			"PutRange before":      func() { a.PutRange(-1, nil) },
			"Reduce by nothing":    func() { a.Reduce(ctx, nil) },
			"Reduce, no context":   func() { a.Reduce(nilctx, add) },
			"CopyFrom a short one": func() { a.CopyFrom(ctx, short) },
			"CopyTo nothing":       func() { a.CopyTo(ctx, nil) },
		} {
			mustPanic(t, name, call)
		}
		return r.Close(ctx)
	})
}

func mustPanic(t *testing.T, name string, call func()) {
	defer func() {
		err, _ := recover().(error)
		var usage *pgas.UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%s: panicked with %v, not with *pgas.UsageError", name, err)
		}
	}()
	call()
}
