package pgas_test

import (
	"context"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// standingPEs are PEs that run one body after another: thousands of inputs of a fuzz target need no job each, which
// takes longer than most inputs do.
type standingPEs struct {
	npes  int
	todo  []chan pgastest.Body // of each PE; nil before the first body, and after one that failed
	done  chan struct{}        // one for every PE that has run its body
	ended chan error           // the job's, after a body that failed
}

// newStandingPEs returns npes PEs that end with the test.
func newStandingPEs(t testing.TB, npes int) *standingPEs {
	s := &standingPEs{npes: npes}
	t.Cleanup(s.stop)
	return s
}

// run runs body on all PEs, and returns what pgastest.Goroutines would. The next body after a failure has new PEs.
func (s *standingPEs) run(body pgastest.Body) error {
	if s.todo == nil {
		s.start()
	}
	for _, todo := range s.todo {
		todo <- body
	}
	for range s.npes {
		select {
		case <-s.done:
		case err := <-s.ended:
			s.todo = nil
			return err
		}
	}
	return nil
}

func (s *standingPEs) start() {
	s.todo, s.done, s.ended = make([]chan pgastest.Body, s.npes), make(chan struct{}, s.npes), make(chan error, 1)
	for pe := range s.todo {
		s.todo[pe] = make(chan pgastest.Body, 1)
	}
	todo, done, ended := s.todo, s.done, s.ended
	go func() {
		ended <- pgastest.Goroutines(context.Background(), s.npes, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			for body := range todo[w.PE()] {
				if err := body(ctx, w); err != nil {
					return err
				}
				done <- struct{}{}
			}
			return nil
		})
	}()
}

// stop waits for the job's end.
func (s *standingPEs) stop() {
	if s.todo == nil {
		return
	}
	for _, todo := range s.todo {
		close(todo)
	}
	<-s.ended
}
