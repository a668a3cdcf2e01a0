package arena_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/arena"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// content is what a record of n bytes with the given number holds.
func content(number uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(number>>(i%8*8)) ^ byte(i)
	}
	return b
}

// lengths are those of records: empty, around the edges of a granule and of the length in a handle, and longer.
var lengths = []int{0, 1, 7, 8, 9, 24, 25, 100, 129, 1000, 4094, 4095, 4096, 9000}

// A stored is a record of the test, and what it must hold.
type stored struct {
	h    arena.Bytes
	want []byte
}

// churn stores and frees records in the parts of all PEs, at random, and compares all that are alive now and then. The
// others do the same meanwhile.
func churn(ctx context.Context, w *pgas.World, a *arena.Arena, seed uint64, steps int) error {
	rng := rand.New(rand.NewPCG(seed, uint64(w.PE())))
	var alive []stored
	for step := range steps {
		if len(alive) > 20 || len(alive) > 0 && rng.IntN(3) == 0 {
			i := rng.IntN(len(alive))
			if err := check(a, alive[i]); err != nil {
				return err
			}
			arena.Free(a, alive[i].h)
			alive = slices.Delete(alive, i, i+1)
			continue
		}
		want := content(rng.Uint64(), lengths[rng.IntN(len(lengths))])
		pe := rng.IntN(w.NPEs())
		h, err := arena.Store(a, pe, want)
		if err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		if h.PE() != pe || h.IsZero() {
			return fmt.Errorf("step %d: stored on PE %d: %v", step, pe, h)
		}
		alive = append(alive, stored{h, want})
	}
	if err := w.Quiet(ctx); err != nil {
		return err
	}
	for _, s := range alive {
		if err := check(a, s); err != nil {
			return err
		}
		arena.Free(a, s.h)
	}
	return nil
}

// check compares a record.
func check(a *arena.Arena, s stored) error {
	if got := arena.Load(a, s.h); !bytes.Equal(got, s.want) {
		return fmt.Errorf("%v holds %d bytes %.20q, want %d bytes %.20q", s.h, len(got), got, len(s.want), s.want)
	}
	if got := arena.Append(a, []byte("ab"), s.h); !bytes.Equal(got, append([]byte("ab"), s.want...)) || arena.Len(a, s.h) != len(s.want) {
		return fmt.Errorf("%v appended: %.20q", s.h, got)
	}
	return nil
}

// TestChurn: what PEs store in each other's parts at once is theirs alone, and what they free is used again: all that
// they store together would not fit.
func TestChurn(t *testing.T) {
	for _, npes := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d PEs", npes), func(t *testing.T) {
			pgastest.RunAll(t, npes, func(ctx context.Context, w *pgas.World) error {
				a, err := arena.New(ctx, w, 1<<20)
				if err != nil {
					return err
				}
				for round := range uint64(2) {
					if err := churn(ctx, w, a, round, 300); err != nil {
						return err
					}
					if err := a.Reset(ctx); err != nil {
						return err
					}
				}
				return a.Close(ctx)
			})
		})
	}
}

// TestGoroutinesChurn: the goroutines of one PE, too.
func TestGoroutinesChurn(t *testing.T) {
	pgastest.Run(t, 2, func(ctx context.Context, w *pgas.World) error {
		a, err := arena.New(ctx, w, 2<<20)
		if err != nil {
			return err
		}
		errs := make(chan error)
		for g := range uint64(4) {
			go func() { errs <- churn(ctx, w, a, g, 200) }()
		}
		for range 4 {
			err = errors.Join(err, <-errs)
		}
		return errors.Join(err, w.Barrier(ctx))
	})
}

// TestHandlesTravel: a handle in symmetric memory, exchanged by an atomic, leads every PE to a record of any other.
func TestHandlesTravel(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		a, err1 := arena.New(ctx, w, 1<<16)
		names, err2 := pgas.Alloc[arena.Bytes](ctx, w, 2)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		home, next := w.PE(), (w.PE()+1)%w.NPEs()
		h, err := a.StoreString(next, fmt.Sprintf("PE %d's", home))
		if err != nil {
			return err
		}
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		if was := pgas.AtomicOf(names, 0).CompareSwap(next, 0, h); !was.IsZero() {
			return fmt.Errorf("PE %d has %v already", next, was)
		}
		names.At(1).Put(home, h)
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for pe := range w.NPEs() {
			for i, want := range []int{(pe + w.NPEs() - 1) % w.NPEs(), pe} {
				h := pgas.AtomicOf(names, i).Fetch(pe)
				if got := a.LoadString(h); got != fmt.Sprintf("PE %d's", want) {
					return fmt.Errorf("handle %d of PE %d leads to %q, want that of PE %d", i, pe, got, want)
				}
			}
		}
		return w.Barrier(ctx)
	})
}

// A point is a record of several fields.
type point struct {
	x, y float64
	name [3]byte
}

// TestTypedRecords: slices and values of structs, and their ranges of symmetric memory.
func TestTypedRecords(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		a, err := arena.New(ctx, w, 1<<16)
		if err != nil {
			return err
		}
		other := 1 - w.PE()
		points := []point{{1, 2, [3]byte{'a'}}, {3, 4, [3]byte{'b'}}, {5, 6, [3]byte{'c'}}}
		many, err1 := arena.Store(a, other, points)
		one, err2 := arena.StoreValue(a, w.PE(), points[1])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if got := arena.Load(a, many); !slices.Equal(got, points) {
			return fmt.Errorf("loaded %v", got)
		}
		if got := arena.LoadValue(a, one); got != points[1] {
			return fmt.Errorf("loaded %v", got)
		}
		pe, s := arena.Slice(a, many)
		s.At(2).Put(pe, points[0])
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		if got := arena.Load(a, many)[2]; got != points[0] || pe != other {
			return fmt.Errorf("the last point on PE %d is %v", pe, got)
		}
		return w.Barrier(ctx)
	})
}

// TestFull: a full part is an error that says so and what to do; other parts go on, and what is freed fits again.
func TestFull(t *testing.T) {
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		a, err := arena.New(ctx, w, 1600)
		if err != nil || w.PE() > 0 {
			return errors.Join(err, w.Barrier(ctx))
		}
		var all []arena.Bytes
		for {
			h, err := arena.Store(a, 1, make([]byte, 40)) // 48 bytes with the header
			var full *arena.FullError
			if errors.As(err, &full) {
				if len(all) != 33 || full.PE != 1 || full.Used != 33*48 || full.Max != 1600 || !strings.Contains(err.Error(), "give arena.New more") {
					return fmt.Errorf("full after %d records: %w", len(all), err)
				}
				break
			}
			if err != nil {
				return err
			}
			all = append(all, h)
		}
		if _, err := arena.Store(a, 0, make([]byte, 1600)); !errors.As(err, new(*arena.FullError)) {
			return fmt.Errorf("a record that is larger than the part: %v", err)
		}
		if _, err := arena.Store(a, 0, make([]byte, 500)); err != nil {
			return fmt.Errorf("on the other PE: %w", err)
		}
		arena.Free(a, all[7])
		again, err := arena.Store(a, 1, make([]byte, 20)) // no record of its size is free
		if err != nil {
			return fmt.Errorf("after Free: %w", err)
		}
		if again.PE() != 1 || a.Used(1) != 33*48 {
			return fmt.Errorf("%v, and %d bytes are used", again, a.Used(1))
		}
		return w.Barrier(ctx)
	})
}

// misuseOf returns the message of the *pgas.UsageError that call panics with.
func misuseOf(w *pgas.World, call func()) (message string) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(*pgas.UsageError); ok {
				message = err.Error()
				return
			}
			panic(p)
		}
	}()
	call()
	return "no misuse"
}

// TestMisuse: what is wrong with a handle is said. Short freed records are found with checking.
func TestMisuse(t *testing.T) {
	for _, checks := range []bool{false, true} {
		t.Run(fmt.Sprintf("check=%t", checks), func(t *testing.T) {
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			err := pgastest.Goroutines(ctx, 1, pgastest.Options{Check: checks}, func(ctx context.Context, w *pgas.World) error {
				a, err1 := arena.New(ctx, w, 1<<16)
				small, err2 := arena.New(ctx, w, 16)
				short, err3 := a.StoreString(0, "short")
				long, err4 := arena.Store(a, 0, make([]byte, 5000))
				old, err5 := arena.StoreValue(a, 0, 1)
				if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
					return err
				}
				arena.Free(a, short)
				arena.Free(a, long)
				var none context.Context
				wants := map[string]func(){
					"the zero Handle names no record":                   func() { arena.Load(a, arena.Bytes(0)) },
					"a handle of another arena (record of 4095 or more": func() { arena.Load(small, long) },
					"a handle of another arena":                         func() { arena.Load(a, arena.Bytes(1<<63)) },
					"a handle of a freed record":                        func() { arena.Free(a, short) },
					"pgas: arena.Load at arena/arena_test.go":           func() { arena.Load(a, long) },
					"a nil or zero Arena":                               func() { arena.Load(new(arena.Arena), short) },
					"pgas: arena.Reset at arena/arena_test.go":          func() { _ = (*arena.Arena)(nil).Reset(ctx) },
					"PE 1 is out of range: this job has PEs 0 to":       func() { arena.Store(a, 1, []byte{}) },
					"PE -1 is out of range":                             func() { a.StoreString(-1, "") },
					"string cannot go to another PE":                    func() { arena.Store(a, 0, []string{""}) },
					"give a number from 16":                             func() { arena.New(ctx, w, 0) },
					"the context.Context is nil":                        func() { arena.New(none, w, 16) },
					"a nil or zero World (it was":                       func() { arena.New(ctx, nil, 16) },
					"pgas: Barrier at arena/arena_test.go":              func() { a.Reset(none) },
					"pgas: Free at arena/arena_test.go":                 func() { a.Close(none) },
				}
				if checks {
					wants["LoadString: a handle of a freed record"] = func() { a.LoadString(short) }
				}
				for want, call := range wants {
					got := misuseOf(w, call)
					if !strings.Contains(got, strings.TrimPrefix(want, "LoadString: ")) || !strings.Contains(got, " at arena/arena_test.go:") {
						return fmt.Errorf("%q: want %q, and the line", got, want)
					}
				}
				for range 7 {
					if err := a.Reset(ctx); err != nil {
						return err
					}
					if got := misuseOf(w, func() { arena.LoadValue(a, old) }); !strings.Contains(got, "a handle from before Reset") {
						return fmt.Errorf("after Reset: %s", got)
					}
				}
				if err := a.Close(ctx); err != nil {
					return err
				}
				if got := misuseOf(w, func() { arena.Load(a, old) }); !strings.Contains(got, "the arena is closed") {
					return fmt.Errorf("after Close: %s", got)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestMismatch: PEs that ask for different arenas all get the same error.
func TestMismatch(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	err := pgastest.Goroutines(ctx, 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		_, err := arena.New(ctx, w, 1024*(w.PE()+1))
		return err
	})
	if !errors.As(err, new(*pgas.MismatchError)) {
		t.Fatalf("got %v, want a MismatchError", err)
	}
}
