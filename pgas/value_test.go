package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// wide is a value of more bytes than an arrival record holds.
type wide struct {
	n     int64
	words [200]int64
}

// tryValues reduces values of several types and sizes on t, many times in a row: a
// result must not show in the next call.
func tryValues(ctx context.Context, t *pgas.Team, rounds int) error {
	npes := t.NPEs()
	for round := range rounds {
		me := int64(t.PE() + round)
		want := int64(0)
		for pe := range npes {
			want += int64(pe + round)
		}
		sum, err1 := pgas.SumValue(ctx, t, me)
		least, err2 := pgas.MinValue(ctx, t, int8(t.PE()+3))
		most, err3 := pgas.MaxValue(ctx, t, float32(me))
		all, err4 := pgas.Reduce1(ctx, t, [3]uint16{1 << t.PE(), uint16(round), 1}, func(a, b [3]uint16) [3]uint16 {
			return [3]uint16{a[0] | b[0], max(a[1], b[1]), a[2] + b[2]}
		})
		big := wide{n: me}
		big.words[199] = me
		far, err5 := pgas.Reduce1(ctx, t, big, func(a, b wide) wide {
			a.n += b.n
			a.words[199] = max(a.words[199], b.words[199])
			return a
		})
		none, err6 := pgas.Reduce1(ctx, t, struct{}{}, func(a, b struct{}) struct{} { return a })
		if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
			return err
		}
		if sum != want || least != 3 || most != float32(npes-1+round) || all != [3]uint16{1<<npes - 1, uint16(round), uint16(npes)} ||
			far.n != want || far.words[199] != int64(npes-1+round) || none != struct{}{} {
			return fmt.Errorf("PE %d of %d, round %d: sum %d (want %d), least %d, most %v, all %v, wide %d %d", t.PE(), npes, round,
				sum, want, least, most, all, far.n, far.words[199])
		}
	}
	return nil
}

// TestValues: on the team of the job and on a part of it, in reverse order.
func TestValues(t *testing.T) {
	for _, npes := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("%d PEs", npes), func(t *testing.T) {
			pgastest.RunAll(t, npes, func(ctx context.Context, w *pgas.World) error {
				if err := tryValues(ctx, w.Team(), 40); err != nil {
					return err
				}
				odd, err := w.Team().SplitStrided(ctx, npes-1, -2, (npes+1)/2)
				if err != nil || odd == nil {
					return err
				}
				return errors.Join(tryValues(ctx, odd, 3), odd.Destroy(ctx))
			})
		})
	}
}

// TestValuesBesideOthers: values and reductions of symmetric memory take turns.
func TestValuesBesideOthers(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 300)
		if err != nil {
			return err
		}
		for round := range int64(20) {
			for i := range words.Local() {
				words.Local()[i] = round
			}
			one, err1 := pgas.SumValue(ctx, w.Team(), round)
			err2 := pgas.SumReduce(ctx, w.Team(), words.All(), words.All())
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if one != 3*round || words.Local()[299] != 3*round {
				return fmt.Errorf("round %d: %d and %d", round, one, words.Local()[299])
			}
		}
		return nil
	})
}

// TestValueMismatch: another operator, another type and another collective are found.
func TestValueMismatch(t *testing.T) {
	first := func(a, b int64) int64 { return a }
	for name, call := range map[string]func(ctx context.Context, w *pgas.World) error{
		"operator": func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.MaxValue(ctx, w.Team(), int64(1))
			return err
		},
		"size": func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.SumValue(ctx, w.Team(), int32(1))
			return err
		},
		"function": func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.Reduce1(ctx, w.Team(), int64(1), first)
			return err
		},
		"large": func(ctx context.Context, w *pgas.World) error {
			_, err := pgas.Reduce1(ctx, w.Team(), wide{}, func(a, b wide) wide { return a })
			return err
		},
		"barrier": func(ctx context.Context, w *pgas.World) error { return w.Barrier(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			err := pgastest.Goroutines(ctx, 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				if w.PE() == 1 {
					return call(ctx, w)
				}
				_, err := pgas.SumValue(ctx, w.Team(), int64(1)) //pgasvet:ok tests the mismatch
				return err
			})
			if _, ok := errors.AsType[*pgas.MismatchError](err); !ok {
				t.Fatalf("got %v, want a MismatchError", err)
			}
		})
	}
}

// TestValueMisuse: types with pointers, no function, no team.
func TestValueMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		for name, call := range map[string]func(){
			"a string":    func() { pgas.Reduce1(ctx, w.Team(), "a", func(a, b string) string { return a }) },
			"no function": func() { pgas.Reduce1[int](ctx, w.Team(), 1, nil) },
			"no team":     func() { pgas.SumValue[int](ctx, nil, 1) },
			"a zero team": func() { pgas.MaxValue(ctx, new(pgas.Team), 1) },
		} {
			if misuseIn(w, call) == nil {
				return fmt.Errorf("%s: no *UsageError", name)
			}
		}
		return nil
	})
}

// TestValueDoesNotAllocate: a value needs neither symmetric memory nor Go's heap.
func TestValueDoesNotAllocate(t *testing.T) {
	withoutRaces(t)
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		before := w.HeapUsage()
		n := testing.AllocsPerRun(100, func() {
			if _, err := pgas.SumValue(ctx, w.Team(), 1); err != nil {
				panic(err)
			}
		})
		if n != 0 || w.HeapUsage() != before {
			return fmt.Errorf("%v allocations each, and the symmetric heap is %+v, was %+v", n, w.HeapUsage(), before)
		}
		return nil
	})
}

// BenchmarkOneValue: the sum of a number of each of two PEs, as a value and as programs did it by hand: with an
// allocation for the one sum, and with one that is kept for many.
func BenchmarkOneValue(b *testing.B) {
	value := func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error {
		_, err := pgas.SumValue(ctx, w.Team(), int64(1))
		return err
	}
	kept := func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error {
		words.Local()[0] = 1
		return pgas.SumReduce(ctx, w.Team(), words.All(), words.All())
	}
	once := func(ctx context.Context, w *pgas.World, _ pgas.Sym[int64]) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		return errors.Join(kept(ctx, w, words), words.Free(ctx))
	}
	for _, form := range []struct {
		name string
		sum  func(ctx context.Context, w *pgas.World, words pgas.Sym[int64]) error
	}{{"value", value}, {"kept", kept}, {"allocated", once}} {
		b.Run(form.name, func(b *testing.B) {
			err := pgastest.Goroutines(b.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				words, err := pgas.Alloc[int64](ctx, w, 1)
				for i := 0; i < b.N && err == nil; i++ {
					err = form.sum(ctx, w, words)
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
