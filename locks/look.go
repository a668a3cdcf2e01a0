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
	hastyLooks = 100 // before the first rest
	restPart   = 4   // a rest is this part of the time spent so far
	longRest   = time.Millisecond
)

// look is one search.
type look struct {
	far   bool // looks go to another host, and others run meanwhile
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
	if l.looks++; l.looks <= hastyLooks {
		if !l.far {
			w.Yield()
		}
		return nil
	}
	rest := min(max((w.Now()-l.since)/restPart, time.Microsecond), longRest)
	soon, cancel := w.WithTimeout(ctx, rest)
	defer cancel()
	_, err := word.WaitUntil(soon, pgas.NE, is)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}
