package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestZeroLocksAreMisuse: a zero handle panics with a *UsageError, and so does a proper one with a nil
// context.Context.
func TestZeroLocksAreMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		dmcs, err1 := locks.AllocDMCS(ctx, w, locks.DMCSOptions{})
		spin, err2 := locks.AllocSpinRW(ctx, w, locks.SpinOptions{})
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		var none context.Context
		calls := []func(){
			func() { dmcs.Lock(none) }, func() { spin.Lock(none) }, func() { spin.RLock(none) },
		}
		for _, l := range zeroHandles() {
			calls = append(calls, func() { l.Lock(ctx) }, func() { l.TryLock() }, func() { l.Unlock() })
			if rw, ok := l.(locks.RWLock); ok {
				calls = append(calls, func() { rw.RLock(ctx) }, func() { rw.TryRLock() }, func() { rw.RUnlock() })
			}
		}
		for i, call := range calls {
			if err := panicIn(call); err == nil {
				return fmt.Errorf("call %d: no *UsageError", i)
			}
		}
		return nil
	})
}

// panicIn returns the *pgas.UsageError that call panics with, or nil.
func panicIn(call func()) (misuse *pgas.UsageError) {
	defer func() {
		misuse, _ = recover().(*pgas.UsageError)
	}()
	call()
	return nil
}
