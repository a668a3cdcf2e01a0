package pgas

// Are all members' records alike? They are if no bit of their digests is 1 on one member and 0 on another:
// so the members or together the digests, and the complements of the digests, in the rounds of a meeting.
// Nobody reads everybody's record, which would be as many messages on each PE as there are PEs.

import (
	"context"
	"encoding/binary"
	"hash/fnv"
)

// bitsOf is which bits are 1, and which are 0, in the digest of any member so far.
type bitsOf struct {
	ones, zeros uint64
	record      int // bytes of a record
	buf         [16]byte
}

func (b *bitsOf) add(ones, zeros uint64) {
	b.ones |= ones
	b.zeros |= zeros
}

func (b *bitsOf) addRecord(r []byte) {
	h := fnv.New64a()
	h.Write(r)
	b.add(h.Sum64(), ^h.Sum64())
}

func (b *bitsOf) alike() bool { return b.ones&b.zeros == 0 }

// message is what a leader tells others; nothing in a meeting that does not compare.
func (b *bitsOf) message() []byte {
	if b == nil {
		return nil
	}
	binary.LittleEndian.PutUint64(b.buf[:], b.ones)
	binary.LittleEndian.PutUint64(b.buf[8:], b.zeros)
	return b.buf[:]
}

// unlessAlike is a call in which every member brings a record of the same length. It returns nil if they
// are alike, and everybody's if they are not.
func (g *Group) unlessAlike(ctx context.Context, c call, record []byte) ([][]byte, error) {
	e, err := g.enter(ctx, c, 0)
	if err != nil {
		return nil, err
	}
	defer g.leave()
	copy(e.data[:], record)
	b := &bitsOf{record: len(record)}
	g.turns.bits = b
	err = g.meetIn(ctx, e)
	g.turns.bits = nil
	if err != nil {
		return nil, err
	}
	alike := false
	if len(g.hosts) > 1 {
		alike = g.local[0].entry(g.turns.n).data[len(record)] == verdictAlike
	} else {
		g.addEntries(b)
		alike = b.alike()
	}
	if alike {
		return nil, nil
	}
	return g.entries(ctx, len(record))
}

// verdictAlike is what a leader leaves after its record for the members of its host.
const verdictAlike = 1

// addEntries adds the records of all members of this host.
func (g *Group) addEntries(b *bitsOf) {
	for _, l := range g.local {
		b.addRecord(l.entry(g.turns.n).data[:b.record])
	}
}

// compareHere adds the records of this host, if the meeting compares.
func (g *Group) compareHere() {
	if b := g.turns.bits; b != nil {
		g.addEntries(b)
	}
}

// compareBox adds what another leader has sent in box x.
func (g *Group) compareBox(x box) {
	if b := g.turns.bits; b != nil {
		d := g.boxData(x, len(b.buf))
		b.add(binary.LittleEndian.Uint64(d), binary.LittleEndian.Uint64(d[8:]))
	}
}

// decide leaves the verdict in e, which is the leader's.
func (g *Group) decide(e *entry) {
	if b := g.turns.bits; b != nil {
		e.data[b.record] = 0
		if b.alike() {
			e.data[b.record] = verdictAlike
		}
	}
}
