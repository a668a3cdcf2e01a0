package coll

// Are all members' records alike? They are if no bit of their digests is 1 on one member and 0 on another:
// so the members or together the digests, and the complements of the digests, in the rounds of a barrier.
// No member reads all records, which would be as many messages on each PE as there are PEs.

import (
	"context"
)

// GatherIfDifferent is a call in which every member contributes a record of the same length. It returns nil if the
// records are equal, and the records of all members if they are not.
func (g *Group) GatherIfDifferent(ctx context.Context, record []byte) ([][]byte, error) {
	e, err := g.begin(ctx, &Call{Kind: KindAgree}, 0)
	if err != nil {
		return nil, err
	}
	defer g.end()
	copy(e.data[:], record)
	b := &digestOr{record: len(record)}
	g.calls.digests = b
	err = g.barrierIn(ctx, e)
	g.calls.digests = nil
	if err != nil {
		return nil, err
	}
	alike := false
	if len(g.hosts) > 1 {
		alike = g.local[0].arrival(g.calls.n).data[len(record)] == recordsEqual
	} else {
		g.addLocal(b)
		alike = b.equal()
	}
	if alike {
		return nil, nil
	}
	return g.fetchArrivals(ctx, len(record))
}

// allGather is a call in which every member contributes n bytes, at most inlineBytes, and gets those of all.
func (g *Group) allGather(ctx context.Context, c *Call, n int, fill func([]byte)) ([][]byte, error) {
	e, err := g.begin(ctx, c, 0)
	if err != nil {
		return nil, err
	}
	defer g.end()
	fill(e.data[:n])
	if err := g.barrierIn(ctx, e); err != nil {
		return nil, err
	}
	return g.fetchArrivals(ctx, n)
}

// fetchArrivals fetches the first n bytes of the data in every member's arrival record of the call under way.
func (g *Group) fetchArrivals(ctx context.Context, n int) ([][]byte, error) {
	all := make([][]byte, len(g.PEs))
	off := uint64(slotOff(g.Slot) + arrivalOff(g.calls.n) + dataOff)
	for i, pe := range g.PEs {
		all[i] = make([]byte, n)
		g.n.Channel(pe).GetNB(pe, all[i], off)
	}
	if err := g.flush(); err != nil {
		return nil, err
	}
	return all, nil
}
