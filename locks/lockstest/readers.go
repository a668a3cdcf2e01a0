package lockstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// readerChecks are for locks.RWLock.
var readerChecks = []check{
	{"readers together", readersTogether},
	{"readers of one PE", readersOfOnePE},
	{"readers and writers", mixed(false)},
	{"readers and writers that give up", mixed(true)},
	{"readers try", readersTry},
}

func isReaderCheck(c check) bool { return strings.HasPrefix(c.name, "readers") }

// readersTogether makes all PEs be inside at once.
func readersTogether(ctx context.Context, v *vault) error {
	if err := v.rw.RLock(ctx); err != nil {
		return err
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	if pe, held := v.rw.Holder(); held {
		return fmt.Errorf("the holder is said to be PE %d, and there are only readers", pe)
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	v.rw.RUnlock()
	return nil
}

// readersOfOnePE makes several goroutines of each PE be inside at once, beside others that write.
func readersOfOnePE(ctx context.Context, v *vault) error {
	const rounds, n = 20, 3
	err := together(n+1, func(i int) error {
		for range rounds {
			if i == n {
				if err := v.rw.Lock(ctx); err != nil {
					return err
				}
				v.enter(v.w.PE())
				v.rw.Unlock()
				continue
			}
			if err := v.rw.RLock(ctx); err != nil {
				return err
			}
			err := v.look()
			v.rw.RUnlock()
			if err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, v.counted(ctx, rounds))
}

// mixed makes every PE read and write by turns.
func mixed(impatient bool) func(context.Context, *vault) error {
	return func(ctx context.Context, v *vault) error {
		const rounds = 120
		wrote := 0
		for range rounds {
			write := v.w.Random()%4 == 0
			lock := v.rw.RLock
			if write {
				lock = v.rw.Lock
			}
			ok, err := true, error(nil)
			if impatient {
				ok, err = v.impatient(ctx, lock)
			} else {
				err = lock(ctx)
			}
			switch {
			case err != nil:
				return err
			case !ok:
			case write:
				v.enter(v.w.PE())
				v.rw.Unlock()
				wrote++
			default:
				err := v.look()
				v.rw.RUnlock()
				if err != nil {
					return err
				}
			}
		}
		return v.counted(ctx, wrote)
	}
}

// readersTry makes PE 0 hold the lock in both ways while the others try both.
func readersTry(ctx context.Context, v *vault) error {
	first := v.w.PE() == 0
	if first && !v.rw.TryRLock() {
		return errors.New("TryRLock did not get a lock that was free")
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	if !first && !v.rw.TryRLock() {
		return errors.New("TryRLock did not get a lock that a reader held")
	}
	if err := v.w.Barrier(ctx); err != nil { // a writer's attempt may make TryRLock fail for a moment
		return err
	}
	if !first {
		if v.rw.TryLock() {
			return errors.New("TryLock got a lock that readers held")
		}
		v.rw.RUnlock()
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	if first {
		v.rw.RUnlock()
		if !v.rw.TryLock() {
			return errors.New("TryLock did not get a lock that readers had left")
		}
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	if !first && v.rw.TryRLock() {
		return errors.New("TryRLock got a lock that a writer held")
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	if first {
		v.rw.Unlock()
	}
	return nil
}
