package locks_test

// The figures of the paper (n-cosed 4.2, 4.3) in virtual time: what a lock costs when nobody else wants it, and
// how long it takes until all have had it who wait for it. One PE for each host; PE 0 is the home, and does
// nothing but serve, where there is a server.

import (
	"context"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// A scheme is a lock that is measured. Serve is nil where nobody serves.
type scheme struct {
	name string
	make func(ctx context.Context, w *pgas.World) (lock locks.Lock, serve func(context.Context) error, err error)
}

var schemes = []scheme{
	{"N-CoSED", func(ctx context.Context, w *pgas.World) (locks.Lock, func(context.Context) error, error) {
		l, err := locks.AllocNCoSED(ctx, w, locks.NCoSEDOptions{})
		return l, nil, err
	}},
	{"DQNL", func(ctx context.Context, w *pgas.World) (locks.Lock, func(context.Context) error, error) {
		l, err := locks.AllocDQNL(ctx, w, locks.DQNLOptions{})
		return l, nil, err
	}},
	{"SRSL", func(ctx context.Context, w *pgas.World) (locks.Lock, func(context.Context) error, error) {
		l, err := locks.AllocSRSL(ctx, w, locks.SRSLOptions{})
		return l, l.Serve, err
	}},
}

// share takes l in shared mode, or alone where it has no other.
func share(ctx context.Context, l locks.Lock) (unlock func(), err error) {
	if rw, ok := l.(locks.RWLock); ok {
		return rw.RUnlock, rw.RLock(ctx)
	}
	return l.Unlock, l.Lock(ctx)
}

func exclusively(ctx context.Context, l locks.Lock) (unlock func(), err error) {
	return l.Unlock, l.Lock(ctx)
}

// run has all PEs but the home do what client says. It is over when all have.
func (s scheme) run(t *testing.T, clients int, client func(ctx context.Context, w *pgas.World, l locks.Lock) error) {
	t.Helper()
	left := clients
	over, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := sim.Run(t.Context(), sim.Config{}, 1+clients, func(ctx context.Context, w *pgas.World) error {
		l, serve, err := s.make(ctx, w)
		if err == nil {
			err = w.Barrier(ctx)
		}
		if err != nil {
			return err
		}
		if w.PE() > 0 {
			err = client(ctx, w, l)
			if left--; left == 0 {
				stop()
			}
			return err
		}
		if serve != nil {
			if err := serve(over); over.Err() == nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
}

// latency is the mean time to lock what nobody else wants.
func (s scheme) latency(t *testing.T, lock func(context.Context, locks.Lock) (func(), error)) time.Duration {
	const rounds = 20
	var sum time.Duration
	s.run(t, 1, func(ctx context.Context, w *pgas.World, l locks.Lock) error {
		for range rounds {
			began := w.Now()
			unlock, err := lock(ctx, l)
			if err != nil {
				return err
			}
			sum += w.Now() - began
			unlock()
			if err := w.Sleep(ctx, 100*time.Microsecond); err != nil {
				return err
			}
		}
		return nil
	})
	return sum / rounds
}

// cascade is the time from when PE 1 unlocks until the last of n that wait has the lock. Each unlocks at once.
func (s scheme) cascade(t *testing.T, n int, lock func(context.Context, locks.Lock) (func(), error)) time.Duration {
	held := false
	var began, last time.Duration
	s.run(t, 1+n, func(ctx context.Context, w *pgas.World, l locks.Lock) error {
		if w.PE() == 1 {
			if err := l.Lock(ctx); err != nil {
				return err
			}
			held = true
			for l.Waiting() < n {
				if err := w.Sleep(ctx, 10*time.Microsecond); err != nil {
					return err
				}
			}
			began = w.Now()
			l.Unlock()
			return nil
		}
		for !held {
			if err := w.Sleep(ctx, 10*time.Microsecond); err != nil {
				return err
			}
		}
		unlock, err := lock(ctx, l)
		if err != nil {
			return err
		}
		last = max(last, w.Now())
		unlock()
		return nil
	})
	return last - began
}

// TestNCoSEDFigures: one atomic is quicker than two messages, and readers that are let in together are quicker
// than one by one, the more the more they are.
func TestNCoSEDFigures(t *testing.T) {
	needsLong(t)
	of := func(measure func(s scheme) time.Duration) (ncosed, dqnl, srsl time.Duration) {
		return measure(schemes[0]), measure(schemes[1]), measure(schemes[2])
	}
	n, d, s := of(func(s scheme) time.Duration { return s.latency(t, exclusively) })
	t.Logf("basic latency, exclusive: N-CoSED %v, DQNL %v, SRSL %v", n, d, s)
	if n > d || n >= s {
		t.Errorf("N-CoSED takes %v for a lock that is free, DQNL %v, SRSL %v", n, d, s)
	}
	n, _, s = of(func(s scheme) time.Duration { return s.latency(t, share) })
	t.Logf("basic latency, shared: N-CoSED %v, SRSL %v", n, s)
	if n >= s {
		t.Errorf("N-CoSED takes %v to share a lock that is free, SRSL %v", n, s)
	}
	for _, waiters := range []int{1, 2, 4, 8, 16} {
		n, d, s := of(func(s scheme) time.Duration { return s.cascade(t, waiters, share) })
		t.Logf("shared cascade of %2d: N-CoSED %v, DQNL %v (%+.0f%%), SRSL %v (%+.0f%%)", waiters, n, d, more(d, n), s, more(s, n))
		if waiters == 16 && (more(d, n) < 200 || s <= n) {
			t.Errorf("a shared cascade of 16 takes N-CoSED %v, DQNL %v, SRSL %v", n, d, s)
		}
		n, d, s = of(func(s scheme) time.Duration { return s.cascade(t, waiters, exclusively) })
		t.Logf("exclusive cascade of %2d: N-CoSED %v, DQNL %v (%+.0f%%), SRSL %v (%+.0f%%)", waiters, n, d, more(d, n), s, more(s, n))
		if waiters == 16 && s <= n {
			t.Errorf("an exclusive cascade of 16 takes N-CoSED %v, SRSL %v", n, s)
		}
	}
}

// more is by how many percent a is more than b.
func more(a, b time.Duration) float64 { return 100 * (float64(a)/float64(b) - 1) }
