package locks

// Polling words of other PEs, whose updates do not wake this PE: at first without a pause, then with pauses that
// are a fraction of the time spent so far. A pause is a wait for a word of this PE that does not change, so it
// ends with an error when a PE of the job dies.

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

const (
	busyPolls     = 100 // polls before the first pause
	pauseFraction = 4   // a pause is the time spent so far, divided by this
	minPause      = time.Microsecond
	maxPause      = time.Millisecond
)

// poller paces one loop of polls.
type poller struct {
	remote bool // a poll is a round trip to another host, during which other PEs of this host run
	eager  bool // all pauses are short, and busyPolls polls lie between two of them
	polls  int
	since  time.Duration // the time of the first poll
}

// next returns when it is time for the next poll. word, of this PE, holds current, and no PE changes it: pausing on
// it shows this PE as waiting in a report of a hang. Errors: *pgas.PeerError if a PE of the job dies, and the
// cause of ctx's end.
func (p *poller) next(ctx context.Context, w *pgas.World, word pgas.Atomic[int64], current int64) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if p.polls == 0 {
		p.since = w.Now()
	}
	p.polls++
	if p.polls <= busyPolls || p.eager && p.polls%busyPolls != 0 {
		if !p.remote {
			w.Yield()
		}
		return nil
	}
	return pauseOn(ctx, w, p.pause(w), word, current)
}

// pause returns the length of the next pause.
func (p *poller) pause(w *pgas.World) time.Duration {
	if p.eager {
		return minPause
	}
	return min(max((w.Now()-p.since)/pauseFraction, minPause), maxPause)
}

// pauseOn blocks for d, as a wait for a change of word, which holds current. Errors: as those of poller.next.
func pauseOn(ctx context.Context, w *pgas.World, d time.Duration, word pgas.Atomic[int64], current int64) error {
	soon, cancel := w.WithTimeout(ctx, d)
	defer cancel()
	_, err := word.WaitUntil(soon, pgas.NE, current)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// pauseFor blocks for ns nanoseconds of w's clock, as a wait for a change of zero, a word that always holds 0.
// Errors: as those of poller.next.
func pauseFor(ctx context.Context, w *pgas.World, ns int64, zero pgas.Atomic[int64]) error {
	return pauseOn(ctx, w, time.Duration(ns), zero, 0)
}
