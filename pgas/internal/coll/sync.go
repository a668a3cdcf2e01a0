package coll

// The barrier as a call of its own.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/callsite"
)

// Sync is a barrier of kind k, which errors name as what. It returns the cause of ctx, node.ErrClosed, the error of
// a failed PE, or the error that ended the use of the team.
func (g *Group) Sync(ctx context.Context, k Kind, what string) error {
	c := Call{Kind: k}
	if err := g.takeTurn(ctx, c); err != nil {
		return fmt.Errorf("%s of team %s%s: %w", what, g.Name, callsite.At(), err)
	}
	err := g.barrier(ctx, c)
	if err != nil {
		err = fmt.Errorf("%s %d of team %s%s: %w", what, g.calls.n, g.Name, callsite.At(), err)
	}
	g.end()
	return err
}
