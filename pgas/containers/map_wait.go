package containers

// Waiting for a lock of a segment, or for the end of a write that a find has met. Nobody wakes who waits: he looks again,
// at first at once, then after pauses that are a fraction of the time spent so far. A pause is a wait for a word of this
// member that never changes, so it ends with an error when a PE of the job is lost, which may be the holder.

import (
	"context"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

const (
	mapBusyLooks = 100
	mapLeastRest = time.Microsecond
	mapMostRest  = time.Millisecond
)

// mapWaiter paces one loop of looks.
type mapWaiter struct {
	looks int
	since time.Duration
}

// next returns when it is time to look again. It returns *pgas.PeerError if a PE of the job is lost, and the cause of
// ctx's end.
func (l *mapWaiter) next(ctx context.Context, w *pgas.World, rest pgas.Atomic[uint64]) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if l.looks == 0 {
		l.since = w.Now()
	}
	l.looks++
	if l.looks <= mapBusyLooks {
		w.Yield()
		return nil
	}
	pause := min(max((w.Now()-l.since)/4, mapLeastRest), mapMostRest)
	soon, cancel := w.WithTimeout(ctx, pause)
	defer cancel()
	_, err := rest.WaitUntil(soon, pgas.NE, 0)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// letWrite lets the writer of a slot go on. It panics with *pgas.PeerError if a PE of the job is lost.
func (t *mapMemory) letWrite(wait *mapWaiter) {
	if err := wait.next(context.Background(), t.world, t.rest); err != nil {
		panic(err)
	}
}
