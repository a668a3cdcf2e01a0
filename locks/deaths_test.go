package locks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// TestDeaths: whatever a PE is doing with a lock when it dies, the others learn of it and none hangs.
func TestDeaths(t *testing.T) {
	needsLong(t)
	for name, make := range map[string]lockstest.Maker{
		"Spin": makeSpin, "SpinRW": makeSpinRW, "D-MCS": makeDMCS, "RMA-MCS": makeRMAMCS(0, 2),
		"RMA-RW": makeRMARW(locks.RMARWOptions{TDC: 2}),
	} {
		t.Run(name, func(t *testing.T) { lockstest.Deaths(t, twoOnHost, 4, 50, make) })
	}
}

// TestHolderDies: a PE that dies with the lock is told to all goroutines that wait for it, on real PEs.
func TestHolderDies(t *testing.T) {
	for _, o := range ours {
		t.Run(o.name, func(t *testing.T) {
			var got [3][2]error
			pgastest.Goroutines(t.Context(), len(got), pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				err := holderDies(ctx, w, o.make, &got[w.PE()])
				if w.PE() != 0 && err != nil {
					t.Errorf("PE %d: %v", w.PE(), err)
				}
				return err
			})
			for pe, errs := range got[1:] {
				for i, err := range errs {
					var peer *pgas.PeerError
					if !errors.As(err, &peer) || peer.PE != 0 {
						t.Errorf("goroutine %d of PE %d got %v, not a *PeerError about PE 0", i, pe+1, err)
					}
				}
			}
		})
	}
}

// holderDies makes PE 0 die with the lock when all others wait for it, with two goroutines each. PE 1's may be
// readers.
func holderDies(ctx context.Context, w *pgas.World, make lockstest.Maker, got *[2]error) error {
	l, err := make(ctx, w)
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		err = l.Lock(ctx)
	}
	if err := errors.Join(err, w.Barrier(ctx)); err != nil {
		return err
	}
	if w.PE() == 0 {
		for l.Waiting() < w.NPEs()-1 {
			if err := w.Sleep(ctx, 50*time.Microsecond); err != nil {
				return err
			}
		}
		return errors.New("out of ideas")
	}
	lock := l.Lock
	if rw, ok := l.(locks.RWLock); ok && w.PE() == 1 {
		lock = rw.RLock
	}
	done := [2]chan error{}
	for i := range done {
		done[i] = startLocking(ctx, lock)
	}
	for i := range done {
		got[i] = <-done[i]
	}
	return cannotBeHad(l, 0)
}

// cannotBeHad checks a lock after the death of its holder, dead. Every failing call reports the death, and no other PE
// is named as holder.
func cannotBeHad(l locks.Lock, dead int) error {
	tries := map[string]func() bool{"TryLock": l.TryLock, "a second TryLock": l.TryLock}
	if rw, ok := l.(locks.RWLock); ok {
		tries["TryRLock"] = rw.TryRLock
	}
	for what, try := range tries {
		if got, err := orPanic(try); got || !isAbout(err, dead) {
			return fmt.Errorf("%s returned %t and panicked with %v, not with a *PeerError about PE %d", what, got, err, dead)
		}
	}
	var pe int
	held, err := orPanic(func() (held bool) { pe, held = l.Holder(); return held })
	if !isAbout(err, dead) && (!held || pe != dead) {
		return fmt.Errorf("Holder returned %d, %t, %v, and PE %d has died with the lock", pe, held, err, dead)
	}
	return nil
}

func isAbout(err error, pe int) bool {
	var peer *pgas.PeerError
	return errors.As(err, &peer) && peer.PE == pe
}

// orPanic returns what f returns, or the error that it panics with.
func orPanic(f func() bool) (got bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	return f(), nil
}

// TestHolderHostDies: the same when the holder's memory is lost with it. PE 1 holds the lock and is alone on its host,
// or on that of the lock's words; PE 2 waits for the lock, and PE 3 tries it when PE 1 is known to be dead.
func TestHolderHostDies(t *testing.T) {
	for _, o := range ours {
		for _, hosts := range []sim.Config{flat, twoOnHost} {
			t.Run(o.name+"/"+hosts.Topology, func(t *testing.T) {
				hosts.MaxEvents = 1_000_000
				hosts.Deaths = []sim.Death{{PE: 1, At: 2 * joined}}
				_, err := sim.Run(t.Context(), hosts, 4, func(ctx context.Context, w *pgas.World) error { return losesHolder(ctx, w, o.make) })
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// joined is a time by which all PEs have joined the job and PE 1 has the lock.
const joined = 50 * time.Millisecond

func losesHolder(ctx context.Context, w *pgas.World, make lockstest.Maker) error {
	l, err := make(ctx, w)
	if err != nil {
		return err
	}
	if w.PE() == 1 {
		err = l.Lock(ctx)
	}
	if err := errors.Join(err, w.Barrier(ctx)); err != nil {
		return err
	}
	if w.PE() == 2 {
		err = l.Lock(ctx)
	} else {
		err = w.Sleep(ctx, time.Hour)
	}
	if w.PE() != 1 && !isAbout(err, 1) {
		return fmt.Errorf("PE 1 has died, and PE %d got %w", w.PE(), err)
	}
	return cannotBeHad(l, 1)
}

func startLocking(ctx context.Context, lock func(context.Context) error) chan error {
	done := make(chan error, 1)
	go func() { done <- lock(ctx) }()
	return done
}
