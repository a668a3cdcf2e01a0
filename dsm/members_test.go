package dsm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
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
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			body := func(ctx context.Context, w *pgas.World) error { return membersBesideFences(ctx, w, protocol) }
			pgastest.RunGoroutines(t, 2, body)
			if !testing.Short() {
				pgastest.RunHosts(t, 2, 2, body)
			}
		})
	}
}

func membersBesideFences(ctx context.Context, w *pgas.World, protocol dsm.Protocol) error {
	r, err := dsm.Open(ctx, w, dsm.Options{Mode: dsm.Soft, Protocol: protocol, Bytes: 1 << 14, Block: 1 << 9})
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

// memberRound writes every N-th element, in all blocks, and reads all of them after a barrier. In each round another member
// of a PE fences instead, beside both.
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
