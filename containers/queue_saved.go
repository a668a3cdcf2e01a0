package containers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/plural"
)

// Checkpoint makes a queue an item of a ckpt.Set. It is restored on any number of PEs and members, at any home, with
// its items in their order, and closed if it was. Its capacity may be another one that has room for the items. A Save
// while a goroutine of a member is in a push is an error. It panics with *pgas.UsageError for a queue of Queues.
func (q *Queue[T]) Checkpoint() ckpt.Parts {
	if q == nil || q.queueMemory == nil {
		notMade("Queue.Checkpoint")
	}
	if !q.owner {
		carry.Misuse("Queue.Checkpoint", "the queue is one of Queues: add those")
	}
	return ckpt.Parts{Kind: "Queue", Save: q.save, Restore: q.restore}
}

// save returns the items, at the home.
func (q *Queue[T]) save(context.Context) ([]ckpt.Section, error) {
	if q.members.Team == nil || q.members.Me != q.home {
		return nil, nil
	}
	return q.itemsToSave()
}

// restore reads the items, at the home.
func (q *Queue[T]) restore(ctx context.Context, from *ckpt.Saved) error {
	if q.members.Team == nil {
		return nil
	}
	q.forget()
	if q.members.Me != q.home {
		return nil
	}
	pe, err := firstSaved(ctx, from, "")
	if err != nil {
		return err
	}
	return q.restoreItems(ctx, from, pe)
}

// forget has this PE's handle know no more than that of a new queue.
func (q *Queue[T]) forget() {
	q.next, q.limit, q.front = q.start, q.start, q.start
	q.closed.Store(false)
}

// Checkpoint makes the queues an item of a ckpt.Set. They are restored on the same number of PEs, with the same
// members, each with its items. Otherwise it is as Queue.Checkpoint.
func (q *Queues[T]) Checkpoint() ckpt.Parts {
	if q == nil || q.queueMemory == nil {
		notMade("Queues.Checkpoint")
	}
	return ckpt.Parts{Kind: "Queues", Save: q.save, Restore: q.restore}
}

// save returns the items of this member's queue.
func (q *Queues[T]) save(context.Context) ([]ckpt.Section, error) {
	if q.members.Team == nil {
		return nil, nil
	}
	return q.itemsToSave()
}

// restore reads the items of this member's queue.
func (q *Queues[T]) restore(ctx context.Context, from *ckpt.Saved) error {
	if q.members.Team == nil {
		return nil
	}
	for i := range q.of {
		if of := q.of[i].Load(); of != nil {
			of.forget()
		}
	}
	pe, err := from.Own()
	if err != nil {
		return err
	}
	return q.restoreItems(ctx, from, pe)
}

// itemsToSave returns the items of this PE's queue, and whether it is closed.
func (m *queueMemory[T]) itemsToSave() ([]ckpt.Section, error) {
	words := m.control.Local()
	front := ticket(words[queueFreed])
	if m.many {
		front = ticket(words[queueClaimed])
	}
	tail := ticket(words[queueTail]>>1) & ticketMask
	s := ckpt.Elements[T](nil)
	for t := front; t != tail; {
		state, n, ok := about(words[queueWords+t.in(m.ring)], t)
		if !ok || state == ticketFreed || n == 0 || n > tail.after(t) {
			return nil, errors.New("a Push is under way, or was when its PE ended: save when no goroutine is in one")
		}
		if state == ticketLive {
			m.addItems(&s, t, n)
		}
		t = t.plus(n)
	}
	s.Shape = binary.AppendUvarint(nil, words[queueTail]&1)
	return []ckpt.Section{s}, nil
}

// addItems adds the items of n tickets from t on to a section.
func (m *queueMemory[T]) addItems(s *ckpt.Section, t ticket, n int) {
	items := m.items.Local()
	for n > 0 {
		at := t.in(len(items))
		k := min(n, len(items)-at)
		s.Data = append(s.Data, ckpt.Elements(items[at:at+k]).Data...)
		s.Count += k
		t, n = t.plus(k), n-k
	}
}

// restoreItems makes the items that a PE has saved those of this PE's queue.
func (m *queueMemory[T]) restoreItems(ctx context.Context, from *ckpt.Saved, pe int) error {
	s, number, err := savedSection(ctx, from, pe, "")
	closed, ok := savedNumber(s.Shape)
	switch {
	case err != nil:
		return err
	case number < 0:
		return fmt.Errorf("PE %d has saved no queue: its members were others", pe)
	case s.Count > m.capacity:
		return fmt.Errorf("it has room for %s, and was saved with %d: give it a capacity of %d at least",
			plural.Count(m.capacity, "item"), s.Count, s.Count)
	case !ok || closed > 1:
		return fmt.Errorf("what PE %d has saved of it does not fit", pe)
	}
	items, _, err := savedElements[T](ctx, from, pe, "")
	if err != nil {
		return err
	}
	m.begin()
	m.fill(items, closed == 1)
	return nil
}

// fill puts items in this PE's queue, which is empty, and closes it with closed. The other members do nothing with it
// meanwhile.
func (m *queueMemory[T]) fill(items []T, closed bool) {
	words, t := m.control.Local(), m.start
	set := func(state, n int) {
		words[queueWords+t.in(m.ring)] = chunk(t, state, n)
		t = t.plus(n)
	}
	for i, v := range items {
		m.items.Local()[m.start.plus(i).in(m.items.Len())] = v
	}
	for left := len(items); left > 0; left -= ticketMaxCount {
		set(ticketLive, min(left, ticketMaxCount))
	}
	if closed {
		set(ticketDead, 1)
	}
	words[queueTail] = uint64(t) << 1
	if closed {
		words[queueTail] |= 1
	}
}
