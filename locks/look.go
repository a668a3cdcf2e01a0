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
	hastyLooks = 100 // before a rest
	restPart   = 4   // a rest is this part of the time spent so far
	shortRest  = time.Microsecond
	longRest   = time.Millisecond
)

// look is one search.
type look struct {
	far   bool // looks go to another host, and others run meanwhile
	eager bool // all rests are short, and as many looks are between two of them
	looks int
	since time.Duration
}

// again returns when it is time for another look. It fails if ctx ends or a PE of the job dies. Meanwhile
// word, which nobody else changes, is still is: while it rests, this PE can be seen to wait for that.
func (l *look) again(ctx context.Context, w *pgas.World, word pgas.Atomic[int64], is int64) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if l.looks == 0 {
		l.since = w.Now()
	}
	l.looks++
	if l.looks <= hastyLooks || l.eager && l.looks%hastyLooks != 0 {
		if !l.far {
			w.Yield()
		}
		return nil
	}
	return rest(ctx, w, l.rest(w), word, is)
}

func (l *look) rest(w *pgas.World) time.Duration {
	if l.eager {
		return shortRest
	}
	return min(max((w.Now()-l.since)/restPart, shortRest), longRest)
}

// rest blocks for d, as a wait for word, which is still is: so it fails when a PE of the job dies.
func rest(ctx context.Context, w *pgas.World, d time.Duration, word pgas.Atomic[int64], is int64) error {
	soon, cancel := w.WithTimeout(ctx, d)
	defer cancel()
	_, err := word.WaitUntil(soon, pgas.NE, is)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
