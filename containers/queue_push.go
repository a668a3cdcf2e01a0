package containers

// Producers of a queue.

import (
	"context"
	"errors"
)

// queueScan is how many words a producer reads at once to see which items are freed.
const queueScan = 64

// errQueueFull is of a push that does not wait.
var errQueueFull = errors.New("the queue is full")

// Push adds v, and waits while the queue is full. It is one-sided: a fetch-add at the home, then v and a word, for
// which Push does not wait: when it returns, v has its place in the queue, and is there for consumers at the next
// Quiet of the team's default context at the latest. About once per capacity it reads a word more. A wait for room
// polls.
//
// It returns ErrQueueClosed, *pgas.PeerError if the home is lost, or any PE during a wait, and the cause of ctx if that
// ends a wait. After an error v is not in the queue, unless the home is lost.
func (q *Queue[T]) Push(ctx context.Context, v T) error {
	q.checkWait(ctx, "Queue.Push")
	q.pushing.enter(q.members.World)
	defer q.pushing.leave()
	q.pushed[0] = v
	_, err := q.push(ctx, q.pushed[:], true)
	return err
}

// TryPush adds v unless the queue is full, and reports whether it did. It is one-sided: it reads two words of the home
// at once, and then has the messages of Push. It waits for no consumer. While others push or pop at the same time, it
// may report a full queue that has room. It returns ErrQueueClosed, or *pgas.PeerError if the home is lost.
func (q *Queue[T]) TryPush(v T) (bool, error) {
	q.check("Queue.TryPush")
	q.pushing.enter(q.members.World)
	defer q.pushing.leave()
	q.pushed[0] = v
	n, err := q.push(context.Background(), q.pushed[:], false)
	return n == 1, err
}

// PushAll adds all items, in their order, and waits while the queue is full. Other producers' items may come between
// them. It has the messages of Push, once for each chunk of up to capacity/members items (255 at most). It returns how
// many items it has added; if that is not all, its errors are those of Push.
func (q *Queue[T]) PushAll(ctx context.Context, items []T) (int, error) {
	q.checkWait(ctx, "Queue.PushAll")
	q.pushing.enter(q.members.World)
	defer q.pushing.leave()
	return q.push(ctx, items, true)
}

// push adds items, chunk by chunk, until all are in the queue, or the first that finds no room if it may not wait.
func (q *Queue[T]) push(ctx context.Context, items []T, wait bool) (pushed int, err error) {
	defer orLost(&err)
	q.members.MustLive(q.home)
	for len(items) > 0 {
		room, err := q.awaitRoom(ctx, q.next, wait)
		if err != nil || room == 0 {
			return pushed, err
		}
		n, err := q.pushChunk(ctx, items[:min(len(items), room, q.batch)], wait)
		pushed += n
		if errors.Is(err, errQueueFull) {
			return pushed, nil
		}
		if err != nil {
			return pushed, err
		}
		items = items[n:]
	}
	return pushed, nil
}

// pushChunk takes tickets for items, and publishes those that have room.
func (q *Queue[T]) pushChunk(ctx context.Context, items []T, wait bool) (pushed int, err error) {
	old := q.tail.FetchAdd(q.home, uint64(len(items))<<1)
	t := ticket(old>>1) & ticketMask
	q.next = t.plus(len(items))
	q.noteEnd(old)
	for len(items) > 0 {
		room := 0
		if err = q.end(); err == nil {
			room, err = q.awaitRoom(ctx, t, wait)
		}
		if err == nil && room == 0 {
			err = errQueueFull
		}
		if err != nil {
			q.publish(t, ticketDead, len(items))
			return pushed, err
		}
		n := min(room, len(items))
		q.putItems(t, items[:n])
		q.publish(t, ticketLive, n)
		t, items, pushed = t.plus(n), items[n:], pushed+n
	}
	return pushed, nil
}

// end returns ErrQueueClosed if this PE knows that the queue is closed.
func (q *Queue[T]) end() error {
	if q.closed.Load() {
		return ErrQueueClosed
	}
	return nil
}

// awaitRoom returns how many tickets from t on have room. It waits until one has, or returns 0 if it may not.
func (q *Queue[T]) awaitRoom(ctx context.Context, t ticket, wait bool) (int, error) {
	mine := t != q.next // this PE has the ticket
	if room := q.limit.after(t); room > 0 && (wait || mine) {
		return room, q.end()
	}
	for p := (pace{}); ; {
		tail := q.look()
		if !mine {
			if tail.after(t) > 0 {
				t = tail
			}
			if q.closed.Load() {
				return 0, ErrQueueClosed
			}
		}
		if room := q.limit.after(t); room > 0 {
			q.next = max2(q.next, t)
			return room, nil
		}
		if !wait {
			return 0, nil
		}
		if p.polls == 0 {
			q.pushing.note()
			ctx = q.members.WaitFor(ctx, "Queue.Push", q.home)
		}
		if err := p.pause(ctx, q.members.World); err != nil {
			return 0, err
		}
	}
}

// max2 returns the later of two tickets.
func max2(a, b ticket) ticket {
	if b.after(a) > 0 {
		return b
	}
	return a
}

// look learns which tickets have room, and returns tail.
func (q *Queue[T]) look() (tail ticket) {
	tail, freed := q.both(q.freed, &q.tails)
	if q.many && tail.after(freed) >= q.capacity {
		freed = q.advance(freed)
	}
	q.limit = max2(q.limit, freed.plus(q.capacity))
	return tail
}

// advance moves freed past the chunks that consumers have given back, and returns it.
func (q *Queue[T]) advance(freed ticket) ticket {
	at := freed.in(q.ring)
	words := q.scanning[:min(queueScan, q.ring-at)]
	q.words.Range(at, at+len(words)).FetchNB(q.home, words)
	q.members.Ctx.MustQuiet()
	next := freed
	for next.after(freed) < len(words) {
		state, n, ok := about(words[next.after(freed)], next)
		if !ok || state != ticketFreed {
			break
		}
		next = next.plus(n)
	}
	if next == freed {
		return freed
	}
	if now := ticket(q.freed.CompareSwap(q.home, uint64(freed), uint64(next))); now != freed {
		return now
	}
	return next
}

// putItems puts items to the places of the tickets from t on.
func (q *Queue[T]) putItems(t ticket, items []T) {
	length := q.items.Len()
	at := t.in(length)
	n := min(len(items), length-at)
	q.items.Range(at, at+n).Put(q.home, items[:n])
	if n < len(items) {
		q.items.Range(0, len(items)-n).Put(q.home, items[n:])
	}
}

// publish tells what has become of n tickets from t on, after their items.
func (q *Queue[T]) publish(t ticket, state, n int) {
	q.members.Ctx.FencePE(q.home)
	q.words.At(t.in(q.ring)).Set(q.home, chunk(t, state, n))
}

// Close ends the queue: pushes fail from now on, and pops when they have taken the items that are there. Any member may
// call it, by any goroutine, more than once. It is one-sided: an atomic at the home, and two more by the first PE that
// closes. It returns *pgas.PeerError if the home is lost.
func (q *Queue[T]) Close() (err error) {
	q.check("Queue.Close")
	defer orLost(&err)
	q.members.MustLive(q.home)
	q.closed.Store(true)
	if q.tail.FetchOr(q.home, 1)&1 != 0 {
		return nil
	}
	// A ticket without items wakes the consumers that wait for it, and so learn that the queue is closed.
	t := ticket(q.tail.FetchAdd(q.home, 1<<1)>>1) & ticketMask
	q.publish(t, ticketDead, 1)
	return nil
}
