package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// shared is what the PEs of a body share: 0 where it begins.
var shared int

// outcomes explores body, which notes what it has seen, and returns what was seen in runs that ended, one
// entry for each combination of what the PEs noted.
func outcomes(t *testing.T, cfg sim.Config, npes int, body func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	notes := make([]string, npes)
	ended := 0
	_, err := sim.Explore(t.Context(), cfg, npes, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 4)
		if err != nil {
			return err
		}
		ended, shared = 0, 0
		sim.Start(ctx)
		if err := body(ctx, w, words, func(v ...int64) { notes[w.PE()] = fmt.Sprint(v) }); err != nil {
			return err
		}
		if ended++; ended == npes {
			seen[strings.Join(notes, " ")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// TestEveryOrder: two fetch-adds of two PEs come in any of six orders; of puts that no fence orders, any may
// be seen without any other; a fence leaves one order; and so on. The reduction leaves all outcomes.
func TestEveryOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		npes int
		body func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error
		want int
	}{
		{"fetch-adds", 2, func(_ context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			a := pgas.AtomicOf(words, 0)
			note(a.FetchAdd(0, 1), a.FetchAdd(0, 1))
			return nil
		}, 6},
		{"fetch-adds of three", 3, func(_ context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			note(pgas.AtomicOf(words, 0).FetchAdd(1, 1))
			return nil
		}, 6},
		{"puts", 2, func(_ context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			if w.PE() == 0 {
				words.At(0).Put(1, 1)
				words.At(1).Put(1, 1)
			} else {
				var v [2]int64
				words.Range(0, 2).Get(1, v[:])
				note(v[:]...)
			}
			return nil
		}, 4},
		{"puts and a fence", 2, func(_ context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			if w.PE() == 0 {
				words.At(0).Put(1, 1)
				w.Fence()
				words.At(1).Put(1, 1)
			} else {
				var v [2]int64
				words.Range(0, 2).Get(1, v[:])
				note(v[:]...)
			}
			return nil
		}, 3},
		{"a put with signal", 2, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			if w.PE() == 0 {
				words.Range(0, 1).PutSignal(1, []int64{1}, pgas.FieldSignal(words.At(0), 8), 1)
			} else {
				var v [2]int64
				words.Range(0, 2).Get(1, v[:])
				note(v[:]...)
			}
			return nil
		}, 3},
		{"a wait that ends before or after its word changes again", 2, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			word := pgas.AtomicOf(words, 0)
			if w.PE() == 0 {
				v, err := word.WaitUntil(ctx, pgas.GE, 1)
				note(v)
				return err
			}
			word.Swap(0, 1)
			word.Swap(0, 2)
			return nil
		}, 2},
		{"a deadline", 2, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			word := pgas.AtomicOf(words, 0)
			if w.PE() == 0 {
				soon, cancel := w.WithTimeout(ctx, time.Second)
				defer cancel()
				v, err := word.WaitUntil(soon, pgas.GE, 1)
				note(v, word.Swap(1, 1))
				if errors.Is(err, context.DeadlineExceeded) {
					err = nil
				}
				return err
			}
			note(word.Swap(1, 2))
			word.Swap(0, 1)
			return nil
		}, 3},
		{"a non-blocking fetch", 2, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			word := pgas.AtomicOf(words, 0)
			if w.PE() == 0 {
				var v int64
				word.FetchNB(1, &v)
				err := w.Quiet(ctx)
				note(v)
				return err
			}
			word.Swap(1, 1)
			return nil
		}, 2},
		{"a variable that PEs share", 2, func(ctx context.Context, w *pgas.World, words pgas.Sym[int64], note func(v ...int64)) error {
			w.Yield()
			sim.Shares(ctx)
			shared++
			note(int64(shared))
			return nil
		}, 2},
	} {
		for _, reduce := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/reduce=%t", c.name, reduce), func(t *testing.T) {
				if seen := outcomes(t, sim.Config{Reduce: reduce}, c.npes, c.body); len(seen) != c.want {
					t.Errorf("%d outcomes, want %d: %v", len(seen), c.want, seen)
				}
			})
		}
	}
}

// TestReadsTwice: a PE that reads twice and finds the same is explored beyond that.
func TestReadsTwice(t *testing.T) {
	bug := errors.New("got there")
	_, err := sim.Explore(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		word := pgas.AtomicOf(words, 0)
		sim.Start(ctx)
		if w.PE() == 0 {
			word.FetchAdd(0, 1)
			return nil
		}
		var looks [3]int64
		for i := range looks {
			looks[i] = word.Fetch(0)
		}
		if looks == [3]int64{0, 0, 1} {
			return bug
		}
		return nil
	})
	if !errors.Is(err, bug) {
		t.Fatalf("the exploration ended with %v", err)
	}
}

// TestLivelock: polling for what will never be is no deadlock, and is reported all the same.
func TestLivelock(t *testing.T) {
	_, err := sim.Explore(t.Context(), sim.Config{}, 2, func(ctx context.Context, w *pgas.World) error {
		words, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		word := pgas.AtomicOf(words, 0)
		sim.Start(ctx)
		if w.PE() == 0 {
			for !word.Test(pgas.EQ, 2) {
			}
			return nil
		}
		word.FetchAdd(0, 1)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "livelock") {
		t.Fatalf("the exploration ended with %v", err)
	}
}

// TestNoStart: an exploration needs to be told where it begins.
func TestNoStart(t *testing.T) {
	if _, err := sim.Explore(t.Context(), sim.Config{}, 2, counter); err == nil || !strings.Contains(err.Error(), "sim.Start") {
		t.Fatalf("the exploration ended with %v", err)
	}
}

// TestEndedExploration: an exploration ends with its context.
func TestEndedExploration(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	e, err := sim.Explore(ctx, sim.Config{}, 3, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 0 {
			if runs++; runs == 5 {
				cancel()
			}
		}
		sim.Start(ctx)
		for range 4 {
			w.Fence()
			w.Yield()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || e.Runs != 5 {
		t.Fatalf("the exploration ended with %v after %d runs", err, e.Runs)
	}
}
