package dsm_test

// Views that are used after a fence, with Options.Check: told in each mode, at the access, and for reads and writes.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// keeper uses what a call of a has returned after a fence.
type keeper struct {
	name  string
	take  func(a dsm.Array[int64]) []int64
	fence func(ctx context.Context, m dsm.Member, l *dsm.Mutex) error
	use   func(kept []int64)
	says  string
}

func keepers() []keeper {
	barrier := func(ctx context.Context, m dsm.Member, _ *dsm.Mutex) error { return m.Barrier(ctx) }
	lock := func(ctx context.Context, _ dsm.Member, l *dsm.Mutex) error {
		err := l.Lock(ctx)
		if err == nil {
			l.Unlock()
		}
		return err
	}
	view := func(a dsm.Array[int64]) []int64 { return a.View(3, 700) }
	return []keeper{
		{"read", view, barrier, func(kept []int64) { kept[0] += kept[1] }, "Array.View of elements [3:700] at "},
		{"copy", view, lock, func(kept []int64) { copy(make([]int64, 9), kept) }, "call it again after the fence"},
		{"write", func(a dsm.Array[int64]) []int64 { return a.Update(0, 1000) }, barrier, func(kept []int64) { kept[999] = 1 }, "Array.Update"},
		{"overwrite", func(a dsm.Array[int64]) []int64 { return a.Overwrite(1, 2) }, lock, func(kept []int64) { kept[0] = 1 }, "Array.Overwrite"},
	}
}

// keptViews has each keeper's mistake told, and an honest program beside them work.
func keptViews(mode dsm.Mode) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 16, Block: 4096, Mode: mode, Check: true})
		if err != nil {
			return err
		}
		a, err := dsm.Alloc[int64](ctx, r, 1000)
		if err != nil {
			return err
		}
		lock, err := locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
		if err != nil {
			return err
		}
		mutex, err := dsm.NewMutex(ctx, r, lock, 0)
		if err != nil {
			return err
		}
		for _, k := range keepers() {
			told := panicOf(func() {
				err = r.Run(ctx, 1, func(ctx context.Context, m dsm.Member) error {
					kept := k.take(a)
					if err := k.fence(ctx, m, mutex); err != nil {
						return err
					}
					k.use(kept)
					return errors.New("nothing was told")
				})
			})
			if !strings.Contains(told, k.says) || !strings.Contains(told, "window_test.go:") || strings.Contains(told, "\n") {
				return fmt.Errorf("%s: %q, which does not say %q (%v)", k.name, told, k.says, err)
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
		}
		return r.Close(ctx)
	}
}

func TestKeptViews(t *testing.T) {
	for _, mode := range []dsm.Mode{dsm.Shared, dsm.Soft, dsm.Paged} {
		t.Run(mode.String(), func(t *testing.T) {
			if mode == dsm.Paged {
				needsPaging(t)
			}
			if mode == dsm.Shared { // goroutines share Go's memory, which cannot be mapped twice
				pgastest.RunProcesses(t, 2, keptViews(mode))
				return
			}
			pgastest.Run(t, 2, keptViews(mode))
		})
	}
}

// A program that takes its views again runs as it does without Check.
func TestNeighboursChecked(t *testing.T) {
	pgastest.RunAll(t, 2, neighbours(dsm.Options{Mode: dsm.Soft, Check: true}))
	pgastest.RunProcesses(t, 2, neighbours(dsm.Options{Mode: dsm.Shared, Check: true}))
}

func TestNeighboursCheckedPaged(t *testing.T) {
	needsPaging(t)
	pgastest.Run(t, 2, neighbours(dsm.Options{Mode: dsm.Paged, Check: true}))
}
