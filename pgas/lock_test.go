package pgas_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// A vault is what a lock protects in these tests: words that are not atomic.
type vault struct {
	lock  pgas.LockRef
	count pgas.Ref[int64]   // on PE 0
	log   pgas.Slice[int64] // on PE 0
}

func newVault(ctx context.Context, w *pgas.World) (vault, error) {
	locks, err := pgas.Alloc[pgas.Lock](ctx, w, 5)
	if err != nil {
		return vault{}, err
	}
	words, err := pgas.Alloc[int64](ctx, w, 1<<10)
	return vault{pgas.LockOf(locks, 3), words.At(0), words.Range(1, 1<<10)}, err
}

// enter adds 1 to the count, in two steps that no other holder may interleave with, and records who, the holder.
func (v vault) enter(who int64) {
	n := v.count.Get(0)
	if int(n) < v.log.Len() {
		v.log.At(int(n)).Put(0, who)
	}
	v.count.Put(0, n+1)
}

// everywhere runs body on PEs of every kind, including those whose atomics the network executes.
func everywhere(t *testing.T, npes int, body pgastest.Body) {
	pgastest.Run(t, npes, body)
	pgastest.RunNIC(t, npes, body)
}

// together runs n goroutines and returns the first error.
func together(n int, body func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = body(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

//ci:ucx=nic
func TestLockExcludes(t *testing.T) {
	everywhere(t, 4, func(ctx context.Context, w *pgas.World) error { return exclude(ctx, w, 3, 200) })
}

func TestLockCrowd(t *testing.T) {
	pgastest.RunProcesses(t, 16, func(ctx context.Context, w *pgas.World) error { return exclude(ctx, w, 2, 50) })
}

// exclude has goroutines of every PE count under the lock.
func exclude(ctx context.Context, w *pgas.World, goroutines, rounds int) error {
	v, err := newVault(ctx, w)
	if err != nil {
		return err
	}
	err = together(goroutines, func(int) error {
		for range rounds {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
			v.enter(int64(w.PE()))
			if err := v.lock.Unlock(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, w.Barrier(ctx)); err != nil {
		return err
	}
	if got, want := v.count.Get(0), int64(w.NPEs()*goroutines*rounds); got != want {
		return fmt.Errorf("%d were counted under the lock, want %d", got, want)
	}
	return w.Barrier(ctx)
}

// until waits for something that other PEs or goroutines are about to do.
func until(ctx context.Context, w *pgas.World, what func() bool) error {
	for !what() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.Quiet(ctx); err != nil { // which makes progress
			return err
		}
		time.Sleep(50 * time.Microsecond)
	}
	return nil
}

// PEs get the lock in the order in which they came, and then the goroutines of a PE in theirs.
//
//ci:ucx=nic
func TestLockOrder(t *testing.T) {
	everywhere(t, 4, func(ctx context.Context, w *pgas.World) error {
		v, err := newVault(ctx, w)
		if err != nil {
			return err
		}
		me, last := w.PE(), w.NPEs()-1
		lock := func(who int) error {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
			v.enter(int64(who))
			return v.lock.Unlock()
		}
		if me == 0 {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		// PE i comes when PE i-1 is in the queue; PE 0 comes again when all are, with three goroutines.
		if me > 0 {
			if err := until(ctx, w, func() bool { return pgas.LockTail(v.lock) == uint64(me) }); err != nil {
				return err
			}
			if err := lock(me); err != nil {
				return err
			}
			return errors.Join(w.Barrier(ctx), w.Barrier(ctx))
		}
		if err := until(ctx, w, func() bool { return pgas.LockTail(v.lock) == uint64(last)+1 }); err != nil {
			return err
		}
		err = together(4, func(i int) error {
			if err := until(ctx, w, func() bool { return pgas.LockLine(v.lock) == i }); err != nil {
				return err
			}
			if i == 3 {
				return v.lock.Unlock()
			}
			return lock(100 + i)
		})
		if err := errors.Join(err, w.Barrier(ctx)); err != nil {
			return err
		}
		want := []int64{1, 2, 3, 100, 101, 102}
		if got := v.log.Local()[:v.count.Get(0)]; !slices.Equal(got, want) {
			return fmt.Errorf("the lock was got in the order %v, want %v", got, want)
		}
		return w.Barrier(ctx)
	})
}

// Who gives up leaves the queue in order: those behind get the lock, and so does the PE itself later.
//
//ci:ucx=nic
func TestLockDeadline(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, w *pgas.World) error {
		v, err := newVault(ctx, w)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		switch w.PE() {
		case 1:
			if err := giveUp(ctx, w, v.lock, 1); err != nil {
				return err
			}
			if v.lock.TryLock() {
				return errors.New("TryLock took a lock that another PE holds")
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
		case 2:
			if err := until(ctx, w, func() bool { return pgas.LockTail(v.lock) == 2 }); err != nil {
				return err
			}
			if err := giveUp(ctx, w, v.lock, 2); err != nil {
				return err
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			if err := v.lock.Lock(ctx); err != nil { // in the place that it has left
				return err
			}
			if err := v.lock.Unlock(); err != nil {
				return err
			}
		case 0:
			if err := w.Barrier(ctx); err != nil { // both have given up
				return err
			}
			if err := v.lock.Unlock(); err != nil {
				return err
			}
		}
		// No goroutine wants the lock any more, so it will be free.
		if err := until(ctx, w, func() bool { return pgas.LockTail(v.lock) == 0 }); err != nil {
			return err
		}
		return w.Barrier(ctx)
	})
}

// leaveToProxy waits for the lock until this PE is last in the queue, and then no longer.
func giveUp(ctx context.Context, w *pgas.World, l pgas.LockRef, tail uint64) error {
	enough := errors.New("enough")
	short, cancel := context.WithCancelCause(ctx)
	var got error
	err := together(2, func(i int) error {
		if i == 1 {
			got = l.Lock(short)
			return nil
		}
		defer cancel(enough)
		return until(ctx, w, func() bool { return pgas.LockTail(l) > tail }) // PE 2 may be behind already
	})
	if err == nil && !errors.Is(got, enough) {
		err = fmt.Errorf("Lock returned %v, not what its context ended with", got)
	}
	if ended := l.Lock(short); err == nil && !errors.Is(ended, enough) {
		err = fmt.Errorf("with a context that has ended, Lock returned %v", ended)
	}
	return err
}

var lockSeed = flag.Uint64("lockseed", 0, "seed of TestLockChaos; 0: another each time")

// Any number of goroutines lock, try, and give up at random moments: what is counted under the lock is
// what was got, and at the end the lock is free.
//
//ci:ucx=nic
func TestLockChaos(t *testing.T) {
	everywhere(t, 4, func(ctx context.Context, w *pgas.World) error {
		seeds, err := pgas.Alloc[uint64](ctx, w, 1)
		if err != nil {
			return err
		}
		if seed := *lockSeed; w.PE() == 0 {
			for seed == 0 {
				seed = rand.Uint64()
			}
			seeds.Local()[0] = seed
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		seed := seeds.At(0).Get(0)
		if err := lockChaos(ctx, w, seed); err != nil {
			return fmt.Errorf("%w (to replay: go test ./pgas -run %s -lockseed %d)", err, t.Name(), seed)
		}
		return w.Barrier(ctx)
	})
}

func lockChaos(ctx context.Context, w *pgas.World, seed uint64) error {
	v, err := newVault(ctx, w)
	if err != nil {
		return err
	}
	gots, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	got := pgas.AtomicOf(gots, 0)
	err = together(3, func(i int) error {
		rng := rand.New(rand.NewPCG(seed, uint64(w.PE()*10+i)))
		for range 150 {
			ok, err := lockSomehow(ctx, v.lock, rng)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			v.enter(int64(w.PE()))
			got.Add(0, 1)
			for range rng.IntN(4) {
				time.Sleep(time.Duration(rng.IntN(50)) * time.Microsecond)
			}
			if err := v.lock.Unlock(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, w.Barrier(ctx)); err != nil {
		return err
	}
	if err := until(ctx, w, func() bool { return pgas.LockTail(v.lock) == 0 }); err != nil {
		return fmt.Errorf("the lock does not become free: %w", err)
	}
	if counted, got := v.count.Get(0), got.Fetch(0); counted != got {
		return fmt.Errorf("the lock was got %d times, but %d were counted", got, counted)
	}
	if err := v.lock.Lock(ctx); err != nil {
		return err
	}
	return v.lock.Unlock()
}

// lockSomehow tries, or locks with or without a deadline, and reports whether it got the lock.
func lockSomehow(ctx context.Context, l pgas.LockRef, rng *rand.Rand) (bool, error) {
	switch rng.IntN(4) {
	case 0:
		return l.TryLock(), nil
	case 1:
		return true, l.Lock(ctx)
	}
	short, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(800))*time.Microsecond)
	defer cancel()
	err := l.Lock(short)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// TestLockHolderDies checks that all waiters of a lock whose holder dies get an error, the second goroutine included.
func TestLockHolderDies(t *testing.T) {
	var got [2]error
	pgastest.Goroutines(t.Context(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		v, err := newVault(ctx, w)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			err = v.lock.Lock(ctx)
		}
		if err := errors.Join(err, w.Barrier(ctx)); err != nil {
			return err
		}
		switch w.PE() {
		case 0:
			if err := until(ctx, w, func() bool { return pgas.LockTail(v.lock) == 2 }); err != nil {
				return err
			}
			return errors.New("out of ideas")
		case 1:
			together(2, func(i int) error {
				got[i] = v.lock.Lock(ctx)
				return nil
			})
		}
		return nil
	})
	for i, err := range got {
		var peer *pgas.PeerError
		if !errors.As(err, &peer) || peer.PE != 0 {
			t.Errorf("goroutine %d of a PE that waited got %v, not a *PeerError about PE 0", i, err)
		}
	}
}

func TestLockMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		v, err := newVault(ctx, w)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			if err := v.lock.Lock(ctx); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			if err := mustMisuse(func() { v.lock.Unlock() }); err != nil {
				return fmt.Errorf("unlocking what PE 0 holds: %w", err)
			}
			return w.Barrier(ctx)
		}
		if err := v.lock.Unlock(); err != nil {
			return err
		}
		if err := mustMisuse(func() { v.lock.Unlock() }); err != nil {
			return fmt.Errorf("unlocking twice: %w", err)
		}
		return w.Barrier(ctx)
	})
}

func mustMisuse(f func()) (err error) {
	defer func() {
		if _, ok := recover().(*pgas.UsageError); !ok {
			err = errors.New("no *UsageError")
		}
	}()
	f()
	return nil
}

// The homes of many locks are spread over all PEs, about evenly.
func TestLockHomes(t *testing.T) {
	pgastest.RunGoroutines(t, 7, func(ctx context.Context, w *pgas.World) error {
		const n = 7000
		locks, err := pgas.Alloc[pgas.Lock](ctx, w, n)
		if err != nil {
			return err
		}
		homes := make([]int, w.NPEs())
		for i := range n {
			homes[pgas.LockHome(pgas.LockOf(locks, i))]++
		}
		for pe, k := range homes {
			if k < n/w.NPEs()/2 || k > n/w.NPEs()*2 {
				return fmt.Errorf("PE %d is home to %d of %d locks", pe, k, n)
			}
		}
		return nil
	})
}

// TestLockAllocates checks that a lock without contention costs no allocation, whether Lock or TryLock takes it.
func TestLockAllocates(t *testing.T) {
	withoutRaces(t)
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		v, err := newVault(ctx, w)
		if err != nil {
			return err
		}
		n := testing.AllocsPerRun(100, func() {
			if err := v.lock.Lock(ctx); err != nil {
				panic(err)
			}
			v.lock.Unlock()
			if !v.lock.TryLock() {
				panic("a free lock is not free")
			}
			v.lock.Unlock()
		})
		if n != 0 {
			return fmt.Errorf("two rounds of a lock allocate %v times", n)
		}
		return nil
	})
}

// TestTryLockAfterDeath: a lock that a dead PE holds cannot be taken, and TryLock's panic says why.
func TestTryLockAfterDeath(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[pgas.Lock](ctx, w, 1)
		if err != nil {
			return err
		}
		l := pgas.LockOf(s, 0)
		if w.PE() == 1 {
			err = l.Lock(ctx)
		}
		if err := errors.Join(err, w.Barrier(ctx)); err != nil || w.PE() == 1 {
			return errors.Join(err, errLeaveEarly)
		}
		for range 2 {
			err = panicOf(func() {
				for !l.TryLock() {
				}
			})
			var peer *pgas.PeerError
			if !errors.As(err, &peer) || peer.PE != 1 {
				t.Errorf("TryLock panicked with %v, not with a *PeerError about PE 1", err)
			}
		}
		return errLeaveEarly
	})
	if !errors.Is(err, errLeaveEarly) {
		t.Error(err)
	}
}

// TestLockHeldTooLong: to free a lock that this PE holds, or to leave the job with one, is misuse, whether accesses are
// checked or not.
func TestLockHeldTooLong(t *testing.T) {
	pgastest.RunAll(t, 2, lockHeldTooLong)
	pgastest.RunLate(t, 2, 2, lockHeldTooLong)
	t.Run("fast path", func(t *testing.T) {
		const unchecked = "PGAS_CHECK=0"
		pgastest.RunProcesses(t, 2, lockHeldTooLong, unchecked)
		pgastest.RunHosts(t, 2, 2, lockHeldTooLong, unchecked)
	})
}

// TestLockHeldAtEndOfHeap: a lock in the last bytes of the symmetric heap is held like any other.
func TestLockHeldAtEndOfHeap(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		u := w.HeapUsage()
		s, err := pgas.Alloc[pgas.Lock](ctx, w, int((u.Max-u.InUse-64<<10)/24)) // some bytes are left for guards
		if err != nil {
			return err
		}
		l := pgas.LockOf(s, s.Len()-1)
		if err := l.Lock(ctx); err != nil {
			return err
		}
		_, err = recoveredFrom(w, func() { w.Close() })
		if misuse, ok := errors.AsType[*pgas.UsageError](err); !ok || !strings.Contains(misuse.Msg, "this PE holds ") {
			return fmt.Errorf("World.Close with the last lock of the heap: %v", err)
		}
		return errors.Join(l.Unlock(), s.Free(ctx))
	}
	pgastest.RunProcesses(t, 1, body, "PGAS_HEAP_MAX=4m")
	pgastest.RunProcesses(t, 1, body, "PGAS_HEAP_MAX=4m", "PGAS_CHECK=0")
}

func lockHeldTooLong(ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[pgas.Lock](ctx, w, 2)
	if err != nil {
		return err
	}
	l := pgas.LockOf(s, w.PE()) // a lock of its own for each PE: no PE waits for another
	for _, take := range []func() error{
		func() error { return l.Lock(ctx) },
		func() error {
			if !l.TryLock() {
				return errors.New("a free lock was not to be had")
			}
			return nil
		},
	} {
		if err := take(); err != nil {
			return err
		}
		for name, end := range map[string]func(){"Free": func() { s.Free(ctx) }, "World.Close": func() { w.Close() }} {
			_, err := recoveredFrom(w, end)
			misuse, ok := errors.AsType[*pgas.UsageError](err)
			if !ok || misuse.Op != name || !strings.Contains(misuse.At, "lock_test.go:") || !strings.Contains(misuse.Msg, "this PE holds ") {
				return fmt.Errorf("%s with a lock: %v", name, err)
			}
			if w.Checks() && !strings.Contains(misuse.Msg, "lock_test.go:") {
				return fmt.Errorf("%s with a lock does not say where it was taken: %v", name, err)
			}
		}
		if err := l.Unlock(); err != nil {
			return err
		}
	}
	return s.Free(ctx)
}
