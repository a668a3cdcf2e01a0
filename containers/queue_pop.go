package containers

// Consumers of a queue.

import (
	"context"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// Pop takes the first item, and waits while there is none.
//
// At the home it is local, and a wait is one for a word, which the producer wakes. Elsewhere (ManyConsumers) it is
// one-sided and waits for three round trips: it reads a word of the home, compare-swaps another one, and gets the item;
// a fourth message, which gives the place back, is not waited for. A wait for an item polls.
//
// It returns ErrQueueClosed if the queue is closed and has no items left, *pgas.PeerError if the home is lost, or any
// PE during a wait, and the cause of ctx if that ends a wait. It panics with *pgas.UsageError if this PE is not the
// home, without ManyConsumers.
func (q *Queue[T]) Pop(ctx context.Context) (v T, err error) {
	q.checkPop(ctx, "Queue.Pop")
	q.popping.enter(q.members.World)
	defer q.popping.leave()
	_, err = q.pop(ctx, q.popped[:], true)
	if err != nil {
		return v, err
	}
	return q.popped[0], nil
}

// TryPop takes the first item, if there is one whose producer has finished its push. Its messages and panics are those
// of Pop. It returns ErrQueueClosed as Pop does, or *pgas.PeerError if the home is lost.
func (q *Queue[T]) TryPop() (v T, ok bool, err error) {
	ctx := context.Background()
	q.checkPop(ctx, "Queue.TryPop")
	q.popping.enter(q.members.World)
	defer q.popping.leave()
	n, err := q.pop(ctx, q.popped[:], false)
	if n == 0 {
		return v, false, err
	}
	return q.popped[0], true, nil
}

// PopSome takes items into dst, at least one and at most those that one call of PushAll has pushed as a chunk, and
// returns how many. It has the messages of one Pop, and its errors and panics.
func (q *Queue[T]) PopSome(ctx context.Context, dst []T) (int, error) {
	q.checkPop(ctx, "Queue.PopSome")
	if len(dst) == 0 {
		return 0, nil
	}
	q.popping.enter(q.members.World)
	defer q.popping.leave()
	return q.pop(ctx, dst, true)
}

func (q *Queue[T]) checkPop(ctx context.Context, op string) {
	q.checkWait(ctx, op)
	if !q.many && q.members.Me != q.home {
		carry.Misuse(op, "PE %d is not the home of the queue, which is PE %d: make the queue with ManyConsumers", q.members.Me, q.home)
	}
}

func (q *Queue[T]) pop(ctx context.Context, dst []T, wait bool) (n int, err error) {
	defer orLost(&err)
	q.members.MustLive(q.home)
	for {
		word := q.words.At(q.front.in(q.ring))
		seen := word.Fetch(q.home)
		state, chunk, ok := about(seen, q.front)
		switch {
		case ok && state == ticketLive && !q.many:
			return q.takeAlone(chunk, dst), nil
		case ok && state == ticketDead && !q.many:
			q.front = q.front.plus(chunk)
			q.freed.Set(q.home, uint64(q.front))
			continue
		case ok && state != ticketFreed:
			if n := q.take(state, chunk, dst); n > 0 {
				return n, nil
			}
			continue
		}
		if !q.atFront() {
			continue
		}
		if err := q.ended(); err != nil || !wait {
			return 0, err
		}
		if err := q.awaitChunk(ctx, word, seen); err != nil {
			return 0, err
		}
	}
}

// takeAlone takes items of the chunk at front, as the only consumer. The rest of it becomes a chunk of its own.
func (q *Queue[T]) takeAlone(n int, dst []T) int {
	k := min(n, len(dst))
	q.getItems(q.front, dst[:k])
	q.front = q.front.plus(k)
	if k < n {
		q.words.At(q.front.in(q.ring)).Set(q.home, chunk(q.front, ticketLive, n-k))
	}
	q.freed.Set(q.home, uint64(q.front))
	return k
}

// take tries to take tickets of the chunk at front before other consumers do. It returns how many items it has got.
func (q *Queue[T]) take(state, n int, dst []T) int {
	k := n
	if state == ticketLive {
		k = min(n, len(dst))
	}
	first := q.front
	if now := ticket(q.claimed.CompareSwap(q.home, uint64(first), uint64(first.plus(k)))); now != first {
		q.front = now
		return 0
	}
	q.front = first.plus(k)
	got := 0
	if state == ticketLive {
		if k < n {
			q.words.At(q.front.in(q.ring)).Set(q.home, chunk(q.front, ticketLive, n-k))
		}
		q.getItems(first, dst[:k])
		got = k
	}
	q.words.At(first.in(q.ring)).Set(q.home, chunk(first, ticketFreed, k))
	return got
}

// getItems gets the items of the tickets from t on.
func (q *Queue[T]) getItems(t ticket, dst []T) {
	length := q.items.Len()
	at := t.in(length)
	n := min(len(dst), length-at)
	q.items.Range(at, at+n).Get(q.home, dst[:n])
	if n < len(dst) {
		q.items.Range(0, len(dst)-n).Get(q.home, dst[n:])
	}
}

// atFront reports whether front is the next ticket that no consumer has. If not, it is from now on.
func (q *Queue[T]) atFront() bool {
	if !q.many {
		return true
	}
	now := ticket(q.claimed.Fetch(q.home))
	was := q.front
	q.front = now
	return now == was
}

// ended returns ErrQueueClosed if the queue is closed, and all tickets have been taken.
func (q *Queue[T]) ended() error {
	tail := q.tail.Fetch(q.home)
	q.noteEnd(tail)
	if q.closed.Load() && ticket(tail>>1)&ticketMask == q.front {
		return ErrQueueClosed
	}
	return nil
}

// awaitChunk waits until word differs from what was seen, or for a while if it is another PE's.
func (q *Queue[T]) awaitChunk(ctx context.Context, word pgas.Atomic[uint64], seen uint64) error {
	q.popping.note()
	ctx = q.members.WaitFor(ctx, "Queue.Pop", q.home)
	if q.members.Me == q.home {
		_, err := word.WaitUntil(ctx, pgas.NE, seen)
		return err
	}
	for p := (pace{}); word.Fetch(q.home) == seen; {
		if err := p.pause(ctx, q.members.World); err != nil {
			return err
		}
	}
	return nil
}
