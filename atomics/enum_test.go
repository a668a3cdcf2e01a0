package atomics_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopgas/gopgas/atomics"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

type (
	state int32
	color uint8
	level int16
)

// values is what views of values without arithmetic have.
type values[E any] interface {
	Load(pe int) E
	Store(pe int, v E)
	Swap(pe int, v E) E
	CompareAndSwap(pe int, old, v E) bool
	WaitUntil(ctx context.Context, v E) error
}

// variable is the twin of a view: a Go variable.
type variable[E comparable] struct{ v E }

func (x *variable[E]) Swap(v E) (old E) {
	old, x.v = x.v, v
	return old
}

func (x *variable[E]) CompareAndSwap(old, v E) bool {
	if x.v != old {
		return false
	}
	x.v = v
	return true
}

// exchange does the same to word, which is on another PE and this PE's alone, and to a Go variable. Its neighbours are
// those of other PEs.
func exchange[E comparable](w *pgas.World, word values[E], all []E) error {
	rng := rand.New(rand.NewPCG(uint64(len(all)), uint64(w.PE())))
	var twin variable[E]
	pe := (w.PE() + 1) % w.NPEs()
	for step := range 200 {
		v, old := all[rng.IntN(len(all))], all[rng.IntN(len(all))]
		switch rng.IntN(3) {
		case 0:
			word.Store(pe, v)
			twin.v = v
		case 1:
			if got, want := word.Swap(pe, v), twin.Swap(v); got != want {
				return fmt.Errorf("step %d: %T: swapped out %v, want %v", step, word, got, want)
			}
		case 2:
			if got, want := word.CompareAndSwap(pe, old, v), twin.CompareAndSwap(old, v); got != want {
				return fmt.Errorf("step %d: %T: compare-and-swap of %v for %v: %t, want %t", step, word, old, v, got, want)
			}
		}
		if got := word.Load(pe); got != twin.v {
			return fmt.Errorf("step %d: %T holds %v, want %v", step, word, got, twin.v)
		}
	}
	return nil
}

// TestEnums: views of enumerations and truth values do what variables do, whatever their neighbours are.
func TestEnums(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		states, err1 := pgas.Alloc[state](ctx, w, 3)
		colors, err2 := pgas.Alloc[color](ctx, w, 3)
		levels, err3 := pgas.Alloc[level](ctx, w, 3)
		flags, err4 := pgas.Alloc[bool](ctx, w, 3)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
		i := w.PE()
		err := errors.Join(
			exchange[state](w, atomics.EnumOf(states, i), []state{-1, 0, 1}),
			exchange[color](w, atomics.SmallOf(colors, i), []color{0, 1, 200}),
			exchange[level](w, atomics.SmallOf(levels, i).On(w.Context()), []level{-300, 0, 1}),
			exchange[bool](w, atomics.SmallOf(flags, i), []bool{true, false}))
		return errors.Join(err, w.Barrier(ctx))
	})
}

// TestEnumWaits: a wait for a value ends with it.
func TestEnumWaits(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		states, err1 := pgas.Alloc[state](ctx, w, 1)
		colors, err2 := pgas.Alloc[color](ctx, w, 2)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		other := 1 - w.PE()
		atomics.EnumOf(states, 0).On(w.Context()).Store(other, 2)
		atomics.SmallOf(colors, 0).Store(other, 3)
		atomics.SmallOf(colors, 1).Store(other, 4)
		return errors.Join(atomics.EnumOf(states, 0).WaitUntil(ctx, 2), atomics.SmallOf(colors, 1).WaitUntil(ctx, 4),
			atomics.SmallOf(colors, 0).WaitUntil(ctx, 3))
	})
}

// A task of PE 0 that one of all PEs takes.
func ExampleEnum() {
	const (
		free state = iota
		taken
	)
	err := pgastest.Goroutines(context.Background(), 4, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		tasks, err := pgas.Alloc[state](ctx, w, 1)
		if err != nil {
			return err
		}
		task := atomics.EnumOf(tasks, 0)
		n := 0
		if task.CompareAndSwap(0, free, taken) {
			n++
		}
		all, err := pgas.SumValue(ctx, w.Team(), n)
		if err == nil && w.PE() == 0 {
			fmt.Println(all, "PE has taken it")
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 1 PE has taken it
}
