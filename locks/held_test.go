package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestHeldLocks: where accesses are checked, to free a lock that this PE holds, or to leave the job with one, is misuse
// that names where the lock was taken: of every lock and every mode. After an unlock it is not.
func TestHeldLocks(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.RunAll(t, 2, heldLocks)
}

// heldLock is a lock with the Free of its memory.
type heldLock struct {
	locks.Lock
	free func(context.Context) error
}

// makeLocks makes a lock of each kind that has no server.
func makeLocks(ctx context.Context, w *pgas.World) (all map[string]heldLock, err error) {
	alock, err1 := locks.AllocALockState(ctx, w, 1)
	dmcs, err2 := locks.AllocDMCSState(ctx, w, 1)
	dqnl, err3 := locks.AllocDQNLState(ctx, w, 1)
	spin, err4 := locks.AllocSpinState(ctx, w, 2)
	ncosed, err5 := locks.AllocNCoSEDState(ctx, w, 1)
	mcs, err6 := locks.AllocRMAMCSState(ctx, w, 1)
	rw, err7 := locks.AllocRMARWState(ctx, w, 1)
	table, err8 := locks.AllocTable(ctx, w, 2, locks.TableOptions{})
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8); err != nil {
		return nil, err
	}
	a, err1 := locks.NewALock(w, alock.At(0), locks.ALockOptions{})
	m, err2 := locks.NewRMAMCS(ctx, w, mcs.At(0), locks.RMAMCSOptions{})
	r, err3 := locks.NewRMARW(ctx, w, rw.At(0), locks.RMARWOptions{})
	return map[string]heldLock{
		"ALock":   {a, alock.Sym().Free},
		"D-MCS":   {locks.NewDMCS(w, dmcs.At(0), locks.DMCSOptions{}), dmcs.Sym().Free},
		"DQNL":    {locks.NewDQNL(w, dqnl.At(0), locks.DQNLOptions{}), dqnl.Sym().Free},
		"spin":    {locks.NewSpinRW(w, spin.At(0), locks.SpinOptions{}), spin.Sym().Free},
		"N-CoSED": {locks.NewNCoSED(w, ncosed.At(0), locks.NCoSEDOptions{}), ncosed.Sym().Free},
		"RMA-MCS": {m, mcs.Sym().Free},
		"RMA-RW":  {r, rw.Sym().Free},
		"Table":   {table.Lock(0), table.Free},
	}, errors.Join(err1, err2, err3)
}

func heldLocks(ctx context.Context, w *pgas.World) error {
	all, err := makeLocks(ctx, w)
	if err != nil {
		return err
	}
	names := []string{"ALock", "D-MCS", "DQNL", "spin", "N-CoSED", "RMA-MCS", "RMA-RW", "Table"}
	for _, name := range names {
		l := all[name]
		if w.PE() == 0 {
			if err := misuseOfHeld(ctx, w, l); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := errors.Join(w.Barrier(ctx), l.free(ctx)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// misuseOfHeld takes l in each of its modes, and tries to free it and to leave the job.
func misuseOfHeld(ctx context.Context, w *pgas.World, l heldLock) error {
	modes := []struct {
		lock   func(context.Context) error
		unlock func()
	}{{l.Lock.Lock, l.Unlock}}
	if rw, ok := l.Lock.(locks.RWLock); ok {
		modes = append(modes, struct {
			lock   func(context.Context) error
			unlock func()
		}{func(ctx context.Context) error { return errors.Join(rw.RLock(ctx), rw.RLock(ctx)) }, func() { rw.RUnlock(); rw.RUnlock() }})
	}
	for i, mode := range modes {
		if err := mode.lock(ctx); err != nil {
			return err
		}
		for _, end := range []func(){func() { l.free(ctx) }, func() { w.Close() }} {
			misuse := panicIn(end)
			if misuse == nil || !strings.Contains(misuse.At, "held_test.go:") || !strings.Contains(misuse.Msg, "taken at locks/held_test.go:") {
				return fmt.Errorf("mode %d: %v", i, misuse)
			}
		}
		mode.unlock()
	}
	return nil
}

// TestHeldLockOfAService: a name of a Service that this PE holds, too.
func TestHeldLockOfAService(t *testing.T) {
	t.Setenv("PGAS_CHECK", "1")
	pgastest.RunAll(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := locks.NewService(ctx, w, locks.ServiceOptions{Places: 4})
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			if err := s.Lock(ctx, "a"); err != nil {
				return err
			}
			misuse := panicIn(func() { w.Close() })
			if misuse == nil || !strings.Contains(misuse.Msg, `lock "a" of a Service`) || !strings.Contains(misuse.Msg, "taken at locks/held_test.go:") {
				return fmt.Errorf("%v", misuse)
			}
			s.Unlock("a")
		}
		return errors.Join(w.Barrier(ctx), s.Free(ctx))
	})
}
