package locks

// Looking again and again at words that nobody tells this PE of: first at once, then with rests that are
// a part of the time spent so far.

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

const (
	busyPolls = 100 // before a rest
	pausePart = 4   // a rest is this part of the time spent so far
	minPause  = time.Microsecond
	maxPause  = time.Millisecond
)

// poller is one search.
type poller struct {
	remote bool // looks go to another host, and others run meanwhile
	eager  bool // all rests are short, and as many looks are between two of them
	polls  int
	since  time.Duration
}

// next returns when it is time for another look. It fails if ctx ends or a PE of the job dies. Meanwhile
// word, which nobody else changes, is still is: while it rests, this PE can be seen to wait for that.
func (l *poller) next(ctx context.Context, w *pgas.World, word pgas.Atomic[int64], current int64) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if l.polls == 0 {
		l.since = w.Now()
	}
	l.polls++
	if l.polls <= busyPolls || l.eager && l.polls%busyPolls != 0 {
		if !l.remote {
			w.Yield()
		}
		return nil
	}
	return pauseOn(ctx, w, l.pause(w), word, current)
}

func (l *poller) pause(w *pgas.World) time.Duration {
	if l.eager {
		return minPause
	}
	return min(max((w.Now()-l.since)/pausePart, minPause), maxPause)
}

// pauseOn blocks for d, as a wait for word, which is still is: so it fails when a PE of the job dies.
func pauseOn(ctx context.Context, w *pgas.World, d time.Duration, word pgas.Atomic[int64], current int64) error {
	soon, cancel := w.WithTimeout(ctx, d)
	defer cancel()
	_, err := word.WaitUntil(soon, pgas.NE, current)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
