package containers

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// QueueWrap is the number of tickets before they begin anew.
const QueueWrap = uint64(ticketMask) + 1

// NewQueueAt is NewQueue whose first ticket is start.
func NewQueueAt[T any](ctx context.Context, w *pgas.World, start uint64, capacity int, opts ...Option) (*Queue[T], error) {
	s := settingsOf("NewQueueAt", opts, "Home", "ManyConsumers")
	m, err := newQueueMemory[T](ctx, "NewQueueAt", w, capacity, s, ticket(start))
	if err != nil {
		return nil, err
	}
	q := m.at(s.home)
	q.owner = true
	return q, nil
}

// ReserveOnly takes a ticket, as Push does, and never says what has become of it.
func (q *Queue[T]) ReserveOnly() { q.tail.FetchAdd(q.home, 1<<1) }
