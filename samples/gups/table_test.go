package main

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestGups(t *testing.T) {
	for _, c := range []struct {
		npes    int
		updates uint64
	}{{1, 1}, {2, 4096}, {3, 5000}, {5, 3 * ahead * 5}} {
		t.Run(fmt.Sprintf("%d PEs, %d updates", c.npes, c.updates), func(t *testing.T) {
			pgastest.Run(t, c.npes, func(ctx context.Context, w *pgas.World) error {
				return gups(ctx, w, options{logarithm: 10, updates: c.updates}, io.Discard)
			})
		})
	}
}

// Jumping ahead is stepping.
func TestStreamAt(t *testing.T) {
	x := uint64(1)
	for n := range uint64(500) {
		if got := streamAt(n); got != x {
			t.Fatalf("number %d is %#x, want %#x", n, got, x)
		}
		x = next(x)
	}
	if far := streamAt(1<<40 + 77); next(far) != streamAt(1<<40+78) || far == streamAt(77) {
		t.Errorf("number 2^40+77 is %#x", far)
	}
}

// Each word has one owner, and the owners have their words in order.
func TestOwner(t *testing.T) {
	for npes := 1; npes <= 17; npes++ {
		tb := &table{logarithm: 10, words: 1 << 10, buckets: make([]bucket, npes)}
		last := 0
		for i := range tb.words {
			owner := tb.owner(i)
			if owner < last || owner > last+1 || owner >= npes {
				t.Fatalf("%d PEs: word %d is PE %d's, the one before is PE %d's", npes, i, owner, last)
			}
			if first := (uint64(owner)*tb.words + uint64(npes) - 1) / uint64(npes); (owner > last || i == 0) != (i == first) {
				t.Fatalf("%d PEs: PE %d begins with word %d, and has word %d", npes, owner, first, i)
			}
			last = owner
		}
	}
}

// A word that is wrong is counted, on whatever PE.
func TestErrorsAreCounted(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		tb, err := newTable(ctx, w, 10)
		if err != nil {
			return err
		}
		if err := tb.run(ctx, 3000); err != nil {
			return err
		}
		if pe := w.PE(); pe > 0 {
			tb.mine()[pe].Bits ^= 1
		}
		wrong, err := tb.errors(ctx, 3000)
		if err == nil && wrong != 2 {
			t.Errorf("%d words are wrong, want 2", wrong)
		}
		return err
	})
}
