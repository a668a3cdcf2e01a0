package dsm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// memberRounds is the number of rounds of each member.
const memberRounds = 20

// TestMembersBesideFences: goroutines of a PE read and write the same blocks while others of that PE fence, under all
// protocols. What a member reads after a barrier is what was written before it, and what it has written itself stays.
func TestMembersBesideFences(t *testing.T) {
	notRaced(t)
	for _, protocol := range protocols.All() {
		t.Run(protocol.String(), func(t *testing.T) {
			body := func(ctx context.Context, w *pgas.World) error { return membersBesideFences(ctx, w, protocol) }
			pgastest.RunGoroutines(t, 2, body)
			if err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{Races: true}, body); err != nil {
				t.Errorf("with the detector of races: %v", err)
			}
			if !testing.Short() {
				pgastest.RunHosts(t, 2, 2, body)
				pgastest.RunHosts(t, 2, 2, body, "PGAS_CHECK=race")
			}
		})
	}
}

func membersBesideFences(ctx context.Context, w *pgas.World, protocol protocols.Protocol) error {
	r, err := opened{dsm.Options{Mode: dsm.Soft, Bytes: 1 << 14, Block: 1 << 9}, protocols.Choice{Protocol: protocol}}.open(ctx, w)
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[int64](ctx, r, 1<<9)
	if err != nil {
		return err
	}
	state, err := locks.AllocDMCSState(ctx, w, 1)
	if err != nil {
		return err
	}
	mutex, err := dsm.NewMutex(ctx, r, locks.NewDMCS(w, state.At(0), locks.DMCSOptions{}), 0)
	if err != nil {
		return err
	}
	err = r.Run(ctx, 3, func(ctx context.Context, m dsm.Member) error {
		for round := range int64(memberRounds) {
			if err := memberRound(ctx, m, a, mutex, round); err != nil {
				return fmt.Errorf("PE %d, member %d, round %d: %w", w.PE(), m.ID(), round, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Close(ctx)
}

// memberRound writes every N-th element, in all blocks, and reads all of them after a barrier. In each round another
// member of a PE fences instead, beside both.
func memberRound(ctx context.Context, m dsm.Member, a dsm.Array[int64], mutex *dsm.Mutex, round int64) error {
	n := m.N()
	fences := (m.ID()+int(round))%3 == 0
	for i := m.ID(); i < a.Len(); i += n {
		a.Set(i, round*int64(n)+int64(m.ID()))
		if got := a.At(i); got != round*int64(n)+int64(m.ID()) {
			return fmt.Errorf("element %d is %d just after it was set to %d", i, got, round*int64(n)+int64(m.ID()))
		}
		if fences && i%(8*n) == m.ID() {
			if err := mutex.Lock(ctx); err != nil {
				return err
			}
			mutex.Unlock()
		}
	}
	if err := m.Barrier(ctx); err != nil {
		return err
	}
	if fences {
		for range 20 {
			if err := mutex.Lock(ctx); err != nil {
				return err
			}
			mutex.Unlock()
		}
	}
	for i := range a.Len() {
		if got, want := a.At(i), round*int64(n)+int64(i%n); got != want {
			return fmt.Errorf("element %d is %d instead of %d", i, got, want)
		}
	}
	return m.Barrier(ctx)
}

// TestReleaseEndsWithItsContext: a release that waits for a turn returns when its context ends, and is finished in the
// background: the next fence of the PE comes after it, and the region is as good as before.
func TestReleaseEndsWithItsContext(t *testing.T) {
	notRaced(t)
	for _, protocol := range []protocols.Protocol{protocols.Floating, protocols.FixedHome} {
		t.Run(protocol.String(), func(t *testing.T) {
			pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error { return endsRelease(ctx, w, protocol) })
		})
	}
}

var errEnough = errors.New("enough")

func endsRelease(ctx context.Context, w *pgas.World, protocol protocols.Protocol) error {
	r, err := opened{dsm.Options{Mode: dsm.Soft, Bytes: 1 << 12, Block: 1 << 9}, protocols.Choice{Protocol: protocol}}.open(ctx, w)
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[int64](ctx, r, 64)
	if err != nil {
		return err
	}
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 1 {
		a.Set(1, 1)
		if err := dsm.ReleaseHeld(ctx, r, func() error { return letOthersGiveUp(ctx, w) }); err != nil {
			return err
		}
	} else if err := givesUp(ctx, w, r, a); err != nil { //pgasvet:ok PE 1 calls letOthersGiveUp, which has as many barriers
		return err
	}
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	if got := a.At(0); got != 7 {
		return fmt.Errorf("PE %d: element 0 is %d: the release has not been finished", w.PE(), got)
	}
	return r.Close(ctx)
}

// letOthersGiveUp is the other half of givesUp, which gives up between the two barriers.
func letOthersGiveUp(ctx context.Context, w *pgas.World) error {
	return errors.Join(w.Barrier(ctx), w.Barrier(ctx))
}

// givesUp releases an element of a block whose turn PE 1 holds.
func givesUp(ctx context.Context, w *pgas.World, r *dsm.Region, a dsm.Array[int64]) error {
	a.Set(0, 7)
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	for _, fence := range []func(context.Context) error{
		func(ctx context.Context) error { _, err := r.Release(ctx); return err },
		r.Barrier, // which waits for the release
		func(ctx context.Context) error { _, err := a.Publish(ctx, 0, 8); return err },
	} {
		short, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(5*time.Millisecond, func() { cancel(errEnough) })
		if err := fence(short); !errors.Is(err, errEnough) {
			return fmt.Errorf("a fence that its context has ended returns %v", err)
		}
		if err := fence(short); !errors.Is(err, errEnough) {
			return fmt.Errorf("a fence with a context that had ended returns %v", err)
		}
	}
	return w.Barrier(ctx)
}
