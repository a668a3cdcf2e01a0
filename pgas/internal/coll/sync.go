package coll

// The barrier as a call of its own.

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/internal/callsite"
)

// SyncOr is a barrier that returns the bitwise or of word of all members. Its errors are those of Sync.
func (g *Group) SyncOr(ctx context.Context, word uint64, what string) (or uint64, err error) {
	c := Call{Kind: KindSync, op: syncOfWords}
	if err := g.takeTurn(ctx, &c); err != nil {
		return 0, fmt.Errorf("%s of team %s%s: %w", what, g.Name, callsite.At(), err)
	}
	or, err = g.barrierOr(ctx, &c, word)
	if err != nil {
		err = fmt.Errorf("%s %d of team %s%s: %w", what, g.calls.n, g.Name, callsite.At(), err)
	}
	g.end()
	return or, err
}

// barrierOr makes a barrier in which every member's arrival record has a word.
func (g *Group) barrierOr(ctx context.Context, c *Call, word uint64) (uint64, error) {
	return g.barrierOrIn(ctx, g.advance(c, 0), word, wordBytes)
}

// barrierOrIn makes a barrier in which the data in e, the arrival record of the call under way, begins with word. It
// returns the bitwise or of the words of all members. A leader may leave that in its record, from byte record of the
// data on.
func (g *Group) barrierOrIn(ctx context.Context, e *arrival, word uint64, record int) (uint64, error) {
	if binary.LittleEndian.Uint64(e.data[:]) != word { // a store would cost a trip of the line that others poll
		binary.LittleEndian.PutUint64(e.data[:], word)
	}
	b := &g.calls.words
	if *b = (digestOr{words: true, record: record}); len(g.hosts) > 1 {
		g.calls.digests = b
	}
	err := g.barrierIn(ctx, e)
	g.calls.digests = nil
	if err != nil {
		return 0, err
	}
	if len(g.hosts) > 1 {
		return binary.LittleEndian.Uint64(g.local[0].arrival(g.calls.n).data[b.record:]), nil
	}
	g.addLocal(b)
	return b.ones, nil
}

// Sync is a barrier of kind k, in the form op of KindSync, which errors name as what. It returns the cause of ctx,
// node.ErrClosed, the error of a failed PE, or the error that ended the use of the team.
func (g *Group) Sync(ctx context.Context, k Kind, op uint8, what string) error {
	c := Call{Kind: k, op: op}
	if err := g.takeTurn(ctx, &c); err != nil {
		return fmt.Errorf("%s of team %s%s: %w", what, g.Name, callsite.At(), err)
	}
	err := g.barrierIn(ctx, g.advance(&c, 0))
	if err != nil {
		err = fmt.Errorf("%s %d of team %s%s: %w", what, g.calls.n, g.Name, callsite.At(), err)
	}
	g.end()
	return err
}
