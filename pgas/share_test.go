package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// checkShares compares Share, ShareOf and OwnerOf of t for n items: blocks in order that end where the next begins, as
// long as each other to within one, whose first and last items their member owns.
func checkShares(t *pgas.Team, n int) error {
	lo, hi := t.Share(n)
	if wantLo, wantHi := t.ShareOf(t.PE(), n); lo != wantLo || hi != wantHi {
		return fmt.Errorf("of %d items member %d has %d to %d, and ShareOf says %d to %d", n, t.PE(), lo, hi, wantLo, wantHi)
	}
	end, least, most := 0, n, 0
	for pe := range t.NPEs() {
		lo, hi := t.ShareOf(pe, n)
		if lo != end || hi < lo {
			return fmt.Errorf("of %d items member %d of %d has %d to %d, and the one before it ends at %d", n, pe, t.NPEs(), lo, hi, end)
		}
		end, least, most = hi, min(least, hi-lo), max(most, hi-lo)
		if lo == hi {
			continue
		}
		for _, i := range []int{lo, lo + (hi-lo)/2, hi - 1} {
			if owner := t.OwnerOf(i, n); owner != pe {
				return fmt.Errorf("of %d items member %d of %d has %d to %d, and the owner of %d is %d", n, pe, t.NPEs(), lo, hi, i, owner)
			}
		}
	}
	if end != n || most-least > 1 {
		return fmt.Errorf("of %d items %d members have %d, with %d to %d each", n, t.NPEs(), end, least, most)
	}
	return nil
}

// TestShare: few items, as many as members, and more than products of 64 bits hold; on teams of every size.
func TestShare(t *testing.T) {
	pgastest.RunGoroutines(t, 7, func(ctx context.Context, w *pgas.World) error {
		for npes := 1; npes <= w.NPEs(); npes++ {
			sub, err := w.Team().SplitStrided(ctx, 0, 1, npes)
			if err != nil {
				return err
			}
			if sub == nil {
				continue
			}
			for n := range 40 {
				err = errors.Join(err, checkShares(sub, n))
			}
			for _, n := range []int{1000, math.MaxInt32, math.MaxInt/2 - 3, math.MaxInt - 1, math.MaxInt} {
				err = errors.Join(err, checkShares(sub, n))
			}
			if err = errors.Join(err, sub.Destroy(ctx)); err != nil {
				return err
			}
		}
		return nil
	})
}

// FuzzShare: the same for any number of items.
func FuzzShare(f *testing.F) {
	for _, n := range []int{0, 1, 3, math.MaxInt} {
		f.Add(n)
	}
	pes := newStandingPEs(f, 3)
	f.Fuzz(func(t *testing.T, n int) {
		if n < 0 {
			t.Skip()
		}
		err := pes.run(func(ctx context.Context, w *pgas.World) error { return checkShares(w.Team(), n) })
		if err != nil {
			t.Error(err)
		}
	})
}

// TestShareMisuse: counts and items that cannot be.
func TestShareMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		all := w.Team()
		for name, call := range map[string]func(){
			"Share of -1":          func() { all.Share(-1) },
			"ShareOf member 1":     func() { all.ShareOf(1, 1) },
			"ShareOf of -1":        func() { all.ShareOf(0, -1) },
			"OwnerOf of 0 items":   func() { all.OwnerOf(0, 0) },
			"OwnerOf item -1":      func() { all.OwnerOf(-1, 1) },
			"OwnerOf an item more": func() { all.OwnerOf(1, 1) },
		} {
			if misuseIn(w, call) == nil {
				return fmt.Errorf("%s: no *UsageError", name)
			}
		}
		return nil
	})
}
