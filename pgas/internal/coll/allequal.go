package coll

// Are all members' records alike? They are if no bit of their digests is 1 on one member and 0 on another:
// so the members or together the digests, and the complements of the digests, in the rounds of a barrier.
// No member reads all records, which would be as many messages on each PE as there are PEs.

import (
	"context"
	"encoding/binary"
	"hash/fnv"
)

// digestOr is which bits are 1, and which are 0, in the digest of any member so far.
type digestOr struct {
	ones, zeros uint64
	record      int // bytes of a record
	buf         [16]byte
}

func (b *digestOr) add(ones, zeros uint64) {
	b.ones |= ones
	b.zeros |= zeros
}

func (b *digestOr) addRecord(r []byte) {
	h := fnv.New64a()
	h.Write(r)
	b.add(h.Sum64(), ^h.Sum64())
}

func (b *digestOr) equal() bool { return b.ones&b.zeros == 0 }

// message returns what a leader sends to other leaders: nothing in a barrier that does not compare.
func (b *digestOr) message() []byte {
	if b == nil {
		return nil
	}
	binary.LittleEndian.PutUint64(b.buf[:], b.ones)
	binary.LittleEndian.PutUint64(b.buf[8:], b.zeros)
	return b.buf[:]
}

// GatherIfDifferent is a call in which every member contributes a record of the same length. It returns nil if the
// records are equal, and the records of all members if they are not.
func (g *Group) GatherIfDifferent(ctx context.Context, record []byte) ([][]byte, error) {
	e, err := g.begin(ctx, Call{Kind: KindAgree}, 0)
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

// recordsEqual is what a leader stores after its record, for the members of its host, if all records are equal.
const recordsEqual = 1

// addLocal adds the records of all members of this host.
func (g *Group) addLocal(b *digestOr) {
	for _, l := range g.local {
		b.addRecord(l.arrival(g.calls.n).data[:b.record])
	}
}

// mergeLocal adds the records of this host, if the barrier compares.
func (g *Group) mergeLocal() {
	if b := g.calls.digests; b != nil {
		g.addLocal(b)
	}
}

// mergeRemote adds what another leader has sent in mailbox x.
func (g *Group) mergeRemote(x mailbox) {
	if b := g.calls.digests; b != nil {
		d := g.received(x, len(b.buf))
		b.add(binary.LittleEndian.Uint64(d), binary.LittleEndian.Uint64(d[8:]))
	}
}

// publishResult stores in e, the leader's arrival record, whether the records are equal.
func (g *Group) publishResult(e *arrival) {
	if b := g.calls.digests; b != nil {
		e.data[b.record] = 0
		if b.equal() {
			e.data[b.record] = recordsEqual
		}
	}
}

// allGather is a call in which every member contributes n bytes, at most inlineBytes, and gets those of all.
func (g *Group) allGather(ctx context.Context, c Call, n int, fill func([]byte)) ([][]byte, error) {
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
