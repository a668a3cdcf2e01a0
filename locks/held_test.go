package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
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
	name string
	locks.Lock
	free func(context.Context) error
}

// makeLocks makes a lock of each kind that needs no server, and a Table.
func makeLocks(ctx context.Context, w *pgas.World) (all []heldLock, err error) {
	for _, k := range withoutServer() {
		l, free, err := k.Alloc(ctx, w, kinds.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
		all = append(all, heldLock{k.Name, l, free})
	}
	table, err := locks.AllocTable(ctx, w, 2, locks.TableOptions{})
	if err != nil {
		return nil, err
	}
	return append(all, heldLock{"Table", table.Lock(0), table.Free}), nil
}

func heldLocks(ctx context.Context, w *pgas.World) error {
	all, err := makeLocks(ctx, w)
	if err != nil {
		return err
	}
	for _, l := range all {
		if w.PE() == 0 {
			if err := misuseOfHeld(ctx, w, l); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
		if err := errors.Join(w.Barrier(ctx), l.free(ctx)); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
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
