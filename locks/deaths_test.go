package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
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
			pgastest.Goroutines(t.Context(), len(got), pgas.Options{}, func(ctx context.Context, w *pgas.World) error {
				return holderDies(ctx, w, o.make, &got[w.PE()])
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

// holderDies has PE 0 die with the lock when all others wait for it, with two goroutines each. PE 1's may be
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
	return nil
}

func startLocking(ctx context.Context, lock func(context.Context) error) chan error {
	done := make(chan error, 1)
	go func() { done <- lock(ctx) }()
	return done
}
