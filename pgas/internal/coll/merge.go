package coll

// How the digests of all members come together in the course of a barrier.

import "encoding/binary"

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

// publishResult stores in e, the leader's arrival record, whether the records are equal, or what they are together.
func (g *Group) publishResult(e *arrival) {
	if b := g.calls.digests; b != nil && b.words {
		binary.LittleEndian.PutUint64(e.data[b.record:], b.ones)
	} else if b != nil {
		e.data[b.record] = 0
		if b.equal() {
			e.data[b.record] = recordsEqual
		}
	}
}
