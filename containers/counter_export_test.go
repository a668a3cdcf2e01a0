package containers

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// NewTicketsAt is NewTickets whose first number is start.
func NewTicketsAt(ctx context.Context, w *pgas.World, start uint64, opts ...Option) (*Tickets, error) {
	return newTickets(ctx, w, start, opts)
}
