package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// serving is an SRSL lock whose server, at the home, ends with it.
type serving struct {
	*locks.SRSL
	stop  context.CancelFunc
	ended chan struct{}
}

// makeSRSL makes a goroutine of the home serve until the lock is closed.
func makeSRSL(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	home := w.NPEs() - 1
	l, err := locks.AllocSRSL(ctx, w, locks.SRSLOptions{Home: home})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	s := &serving{l, stop, make(chan struct{})}
	go func() {
		defer close(s.ended)
		if w.PE() == home {
			_ = l.Serve(ctx) // ends with ctx
		}
	}()
	return s, nil
}

// Close returns when nothing of this PE uses the World any more.
func (s *serving) Close() error {
	s.stop()
	<-s.ended
	return nil
}

func TestSRSL(t *testing.T) { lockstest.Run(t, 4, lockstest.FirstServed, makeSRSL) }

// TestServeEndsWithTheWorld: a server whose context has not ended does not wait for ever.
func TestServeEndsWithTheWorld(t *testing.T) {
	ended := make(chan error, 1)
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocSRSL(ctx, w, locks.SRSLOptions{})
		if err == nil {
			go func() { ended <- l.Serve(context.Background()) }() //pgasvet:ok tests this
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, pgas.ErrClosed) {
		t.Fatalf("the server ended with %v", err)
	}
}

// A served is an SRSL lock in the simulator, where a PE is either a server or a client: the home's Lock
// serves until the others have done what they do.
type served struct {
	*locks.SRSL
	w    *pgas.World
	home int
	job  *servedJob
}

type servedJob struct {
	made, left int
	stop       context.CancelFunc
	done       context.Context
}

// servedFor makes them for clients that together do that many acts, of which none is a try.
func servedFor(acts int) lockstest.Maker {
	var job *servedJob
	return func(ctx context.Context, w *pgas.World) (locks.Lock, error) {
		if job == nil || job.made == w.NPEs() {
			job = &servedJob{left: acts}
			job.done, job.stop = context.WithCancel(ctx)
		}
		job.made++
		l, err := locks.AllocSRSL(ctx, w, locks.SRSLOptions{Home: w.NPEs() - 1})
		return &served{l, w, w.NPEs() - 1, job}, err
	}
}

func (s *served) one() {
	if s.job.left--; s.job.left == 0 {
		s.job.stop()
	}
}

func (s *served) Lock(ctx context.Context) error {
	if s.w.PE() != s.home {
		err := s.SRSL.Lock(ctx)
		if err != nil {
			s.one()
		}
		return err
	}
	if err := s.Serve(s.job.done); s.job.done.Err() == nil {
		return err
	}
	return nil
}

func (s *served) Unlock() {
	if s.w.PE() != s.home {
		s.SRSL.Unlock()
		s.one()
	}
}

func (s *served) RLock(ctx context.Context) error {
	err := s.SRSL.RLock(ctx)
	if err != nil {
		s.one()
	}
	return err
}

func (s *served) RUnlock() {
	s.SRSL.RUnlock()
	s.one()
}

//ci:weekly
func TestSRSLExplored(t *testing.T) {
	needsLong(t)
	for _, plan := range []string{"l", "qr"} {
		t.Run(plan, func(t *testing.T) {
			lockstest.Explore(t, sim.Config{}, append(strings.Fields(plan), "l"), servedFor(len(strings.ReplaceAll(plan, " ", ""))))
		})
	}
}

func TestSRSLAdversaries(t *testing.T) {
	for _, plan := range []string{"l", "lcr", "rql", "cq"} {
		t.Run(plan, func(t *testing.T) {
			many := strings.Repeat(plan, 6)
			clients := lockstest.Plan{many, many, many, many, "l"}
			lockstest.Adversaries(t, sim.Config{}, 5, 1, 100, clients, servedFor(4*len(many)))
		})
	}
}

// leftAndTried returns a body in which PEs 0 and 1 read and leave, PE 1 first, and PE 1 tries to write as soon as
// PE 0 has left too. The server may find the two messages of PE 1 together, and must know by then that PE 0 has left.
func leftAndTried() sim.Body {
	var left [2]int
	var job servedJob
	return func(ctx context.Context, w *pgas.World) error {
		l, err := locks.AllocSRSL(ctx, w, locks.SRSLOptions{Home: 2})
		if err != nil {
			return err
		}
		me := w.PE()
		if me == 0 {
			left = [2]int{}
			job.done, job.stop = context.WithCancel(ctx)
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if me == 2 {
			if err := l.Serve(job.done); job.done.Err() == nil {
				return err
			}
			return nil
		}
		leave := func(round int) {
			l.RUnlock()
			left[me] = round
		}
		for round := 1; round <= 20; round++ {
			if err := l.RLock(ctx); err != nil {
				return err
			}
			if me == 1 {
				leave(round)
			}
			for left[1-me] < round {
				w.Yield()
			}
			if me == 0 {
				leave(round)
				for left[1] == round {
					w.Yield() // it has not tried yet
				}
				continue
			}
			if !l.TryLock() {
				return errors.New("TryLock did not get a lock that all readers had left")
			}
			l.Unlock()
			left[1]++
		}
		if me == 0 {
			job.stop()
		}
		return nil
	}
}

func TestSRSLLeft(t *testing.T) {
	if err := sim.Seeds(t.Context(), sim.Config{MaxEvents: 1_000_000}, 3, 40, leftAndTried()); err != nil {
		t.Fatal(err)
	}
}
