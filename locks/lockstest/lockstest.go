// Package lockstest is what every lock must pass: on PEs of every kind (Run), and in the simulator
// (Adversaries, Explore).
//
// What a lock protects in these tests is words that are not atomic, so a lock that lets two in loses counts, and
// under -race is seen to. PEs synchronise by the lock's own diagnosis and by barriers, never by time.
package lockstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// Maker allocates a lock, which is free. It is collective. A lock that is an io.Closer is closed when all PEs
// have done with it.
type Maker = func(ctx context.Context, w *pgas.World) (locks.Lock, error)

// Promise is what a lock promises beside what all do.
type Promise int

const (
	Excludes    Promise = iota // mutual exclusion only
	FirstServed                // PEs get it in the order in which they came
)

// A check is a program for all PEs.
type check struct {
	name string
	run  func(ctx context.Context, v *vault) error
}

// Run lets the lock pass all checks, on npes PEs of every kind, those whose atomics the network executes
// included. A lock that is a locks.RWLock is checked as one.
func Run(t *testing.T, npes int, promise Promise, make Maker) {
	t.Helper()
	body := Body(promise, make)
	pgastest.Run(t, npes, body)
	pgastest.RunNIC(t, npes, body)
}

// Body is what Run runs.
func Body(promise Promise, make Maker) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error { return all(ctx, w, promise, make) }
}

func all(ctx context.Context, w *pgas.World, promise Promise, make Maker) error {
	checks := []check{{"exclusion", exclusion}, {"try", try}, {"diagnosis", diagnosis}, {"goroutines", goroutines}, {"cancellation", cancellation}}
	if promise == FirstServed {
		checks = append(checks, check{"order", order})
	}
	for _, c := range append(checks, readerChecks...) {
		v, err := newVault(ctx, w, make)
		if err != nil {
			return err
		}
		if err := errors.Join(v.pass(ctx, c), v.close()); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// pass runs c, and then sees whether the lock is still one. Readers' checks are not for locks without.
func (v *vault) pass(ctx context.Context, c check) error {
	if c.run == nil || v.rw == nil && isReaderCheck(c) {
		return nil
	}
	if err := errors.Join(c.run(ctx, v), v.w.Barrier(ctx)); err != nil {
		return err
	}
	return v.usable(ctx)
}

func (v *vault) close() error {
	if c, ok := v.lock.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// A vault is a lock and what it protects, on PE 0.
type vault struct {
	w     *pgas.World
	lock  locks.Lock
	rw    locks.RWLock // the lock as one for readers; nil if it is none
	count pgas.Ref[int64]
	twin  pgas.Ref[int64]   // always the same as count
	log   pgas.Slice[int64] // the PEs that were inside, in order
	sums  pgas.Atomic[int64]
}

const logged = 64

func newVault(ctx context.Context, w *pgas.World, make Maker) (*vault, error) {
	l, err := make(ctx, w)
	if err != nil {
		return nil, err
	}
	words, err := pgas.Alloc[int64](ctx, w, 3+logged)
	if err != nil {
		return nil, err
	}
	rw, _ := l.(locks.RWLock)
	return &vault{w, l, rw, words.At(0), words.At(1), words.Range(3, 3+logged), pgas.AtomicOf(words, 2)}, w.Barrier(ctx)
}

// enter adds 1 to the count in steps between which no other PE may be inside.
func (v *vault) enter(who int) {
	n := v.count.Get(0)
	if n < logged {
		v.log.At(int(n)).Put(0, int64(who))
	}
	v.count.Put(0, n+1)
	v.w.Yield()
	v.twin.Put(0, n+1)
}

// look reads both words, which are the same unless a PE writes.
func (v *vault) look() error {
	a := v.count.Get(0)
	v.w.Yield()
	if b := v.twin.Get(0); a != b {
		return fmt.Errorf("a reader saw %d and %d: a writer was there", a, b)
	}
	return nil
}

// counted compares the count with what all PEs say that they have added.
func (v *vault) counted(ctx context.Context, mine int) error {
	v.sums.FetchAdd(0, int64(mine))
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	got, want := v.count.Get(0), v.sums.Fetch(0)
	if got != want {
		return fmt.Errorf("%d were counted under the lock, want %d", got, want)
	}
	return v.w.Barrier(ctx)
}

// usable checks that the lock still excludes PEs after the test.
func (v *vault) usable(ctx context.Context) error {
	if pe, held := v.lock.Holder(); held {
		return fmt.Errorf("PE %d seems to hold the lock, and no PE does", pe)
	}
	if n := v.lock.Waiting(); n != 0 {
		return fmt.Errorf("%d PEs seem to wait for the lock, and none does", n)
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	if err := v.lock.Lock(ctx); err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	v.lock.Unlock()
	return v.w.Barrier(ctx)
}

// until waits for what other PEs are about to do.
func (v *vault) until(ctx context.Context, what func() bool) error {
	for !what() {
		if err := v.w.Sleep(ctx, 50*time.Microsecond); err != nil {
			return err
		}
	}
	return nil
}

// together runs n goroutines.
func together(n int, body func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = body(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func exclusion(ctx context.Context, v *vault) error {
	const rounds = 100
	for range rounds {
		if err := v.lock.Lock(ctx); err != nil {
			return err
		}
		v.enter(v.w.PE())
		v.lock.Unlock()
	}
	return v.counted(ctx, rounds)
}

// goroutines of a PE take turns; one that gives up while another of its PE has the lock leaves no trace.
func goroutines(ctx context.Context, v *vault) error {
	const rounds, n = 30, 3
	err := together(n, func(int) error {
		for range rounds {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
			v.enter(v.w.PE())
			v.lock.Unlock()
		}
		return nil
	})
	if err := errors.Join(err, v.counted(ctx, n*rounds)); err != nil {
		return err
	}
	if err := v.lock.Lock(ctx); err != nil {
		return err
	}
	ended, cancel := context.WithCancel(ctx)
	err = together(2, func(i int) error {
		if i == 0 {
			cancel()
			return nil
		}
		if err := v.lock.Lock(ended); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a Lock returned %v when its context had ended, and the lock was held", err)
		}
		return nil
	})
	v.lock.Unlock()
	return errors.Join(err, v.w.Barrier(ctx))
}

// try makes one PE hold the lock while the others try, and then each of them alone.
func try(ctx context.Context, v *vault) error {
	for holder := range v.w.NPEs() {
		if v.w.PE() == holder && !v.lock.TryLock() {
			return errors.New("TryLock did not get a lock that was free")
		}
		if err := v.w.Barrier(ctx); err != nil {
			return err
		}
		if v.w.PE() != holder && v.lock.TryLock() {
			return fmt.Errorf("TryLock got the lock that PE %d held", holder)
		}
		if err := v.w.Barrier(ctx); err != nil {
			return err
		}
		if v.w.PE() == holder {
			v.enter(holder)
			v.lock.Unlock()
		}
		if err := v.w.Barrier(ctx); err != nil {
			return err
		}
	}
	return v.contend(ctx, 50)
}

// contend makes all PEs try at once.
func (v *vault) contend(ctx context.Context, rounds int) error {
	got := 0
	for range rounds {
		if v.lock.TryLock() {
			v.enter(v.w.PE())
			v.lock.Unlock()
			got++
		}
	}
	mine := got
	if v.w.PE() == 0 {
		mine += v.w.NPEs() // that try counted
	}
	return v.counted(ctx, mine)
}

// diagnosis looks at a lock with a known holder and known waiters.
func diagnosis(ctx context.Context, v *vault) error {
	for holder := range v.w.NPEs() {
		if v.w.PE() == holder {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
		}
		if err := v.w.Barrier(ctx); err != nil {
			return err
		}
		if pe, held := v.lock.Holder(); !held || pe != holder {
			return fmt.Errorf("the holder is said to be %d, %t; want %d, true", pe, held, holder)
		}
		if err := v.w.Barrier(ctx); err != nil {
			return err
		}
		if v.w.PE() != holder {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
		} else if err := v.until(ctx, func() bool { return v.lock.Waiting() == v.w.NPEs()-1 }); err != nil {
			return fmt.Errorf("the number of waiters is said to be %d; want %d: %w", v.lock.Waiting(), v.w.NPEs()-1, err)
		}
		v.lock.Unlock()
		if err := v.w.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// order makes PE i come when PE i-1 waits.
func order(ctx context.Context, v *vault) error {
	me := v.w.PE()
	if me == 0 {
		if err := v.lock.Lock(ctx); err != nil {
			return err
		}
	}
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	queued := func(n int) func() bool { return func() bool { return v.lock.Waiting() >= n } }
	if me > 0 {
		if err := v.until(ctx, queued(me-1)); err != nil {
			return err
		}
		if err := v.lock.Lock(ctx); err != nil {
			return err
		}
	} else if err := v.until(ctx, queued(v.w.NPEs()-1)); err != nil {
		return err
	}
	v.enter(me)
	v.lock.Unlock()
	if err := v.w.Barrier(ctx); err != nil {
		return err
	}
	for i := range v.w.NPEs() {
		if got := v.log.At(i).Get(0); got != int64(i) {
			return fmt.Errorf("PE %d got the lock as number %d", got, i)
		}
	}
	return v.w.Barrier(ctx)
}

// cancellation makes PEs give up after moments of any length.
func cancellation(ctx context.Context, v *vault) error {
	const rounds = 150
	got := 0
	over, cancel := context.WithCancel(ctx)
	cancel()
	for range rounds {
		if err := v.lock.Lock(over); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("with a context that has ended, Lock returned %v", err)
		}
		ok, err := v.impatient(ctx, v.lock.Lock)
		if err != nil {
			return err
		}
		if ok {
			v.enter(v.w.PE())
			v.lock.Unlock()
			got++
		}
	}
	return v.counted(ctx, got)
}

// impatient calls lock with a deadline that is soon, and reports whether it got the lock.
func (v *vault) impatient(ctx context.Context, lock func(context.Context) error) (bool, error) {
	soon, cancel := v.w.WithTimeout(ctx, time.Duration(v.w.Random()%200)*time.Microsecond)
	defer cancel()
	err := lock(soon)
	if err == nil || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return err == nil, nil
	}
	return false, err
}
