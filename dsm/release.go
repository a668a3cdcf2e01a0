package dsm

// A release: what this PE has written becomes what other PEs fetch, as a new version of each block that it has changed,
// and a write notice tells of each. A release of blocks that this PE wrote last sends no message. One of blocks whose
// homes move sends three for each, and the blocks of a group share the round trips.

import (
	"context"
	"fmt"
)

// A protocol keeps the copies of PEs coherent between fences.
type protocol interface {
	// fetch fetches and installs blocks. It panics with *pgas.PeerError if their homes are lost.
	fetch(list []*fetch)
	// release publishes the blocks of list, which this PE has changed, and adds what tells of them.
	release(ctx context.Context, list []int32) error
	// acquire drops the copies that s, or the homes, tell to be out of date.
	acquire(s notices)
	// zeroAtFirst reports whether an untouched block may be taken for zeros without asking.
	zeroAtFirst() bool
}

// floating is the protocol of MENPS: a block's home is its last writer.
type floating struct{ *Region }

func (p *floating) zeroAtFirst() bool { return true }

func (p *floating) release(ctx context.Context, list []int32) error {
	return p.takeTurns(ctx, list, p.change)
}

// change makes new versions of blocks whose turns this PE has, and gives the turns away.
func (p *floating) change(list []*turn) error {
	if len(list) == 0 {
		return nil
	}
	r := p.Region
	buffer := r.scratch.take(p.moving(list) * r.o.Block)
	if err := p.closeVersions(list, *buffer); err != nil {
		return err
	}
	for _, t := range list {
		t.wts = max(t.rts+1, r.now)
		first, last := r.cache.merge(t.b, t.latest, int32(r.me), t.wts+r.o.Lease)
		r.stats.changed(t.b, t.prev, int32(r.me), first, last)
		r.words.version.At(int(t.b)).Set(r.me, t.wts+r.o.Lease)
		r.notices.add(notice{t.b, int32(r.me), t.wts})
	}
	r.scratch.give(buffer)
	r.mustQuietPE(r.me)
	p.tellPrevious(list)
	r.give(list)
	return nil
}

// moving returns the number of blocks whose homes move to this PE.
func (p *floating) moving(list []*turn) (n int) {
	for _, t := range list {
		if int(t.prev) != p.me {
			n++
		}
	}
	return n
}

// closeVersions ends the leases of the newest versions, and fetches those of other PEs into buffer.
func (p *floating) closeVersions(list []*turn, buffer []byte) error {
	r := p.Region
	var moves []*turn
	for _, t := range list {
		if int(t.prev) == r.me {
			t.rts = r.words.version.At(int(t.b)).FetchOr(r.me, closed)
			r.stats.count(&r.stats.FastReleases, 1)
			continue
		}
		r.words.version.At(int(t.b)).FetchOrNB(int(t.prev), closed, &t.rts)
		moves = append(moves, t)
	}
	if len(moves) > 0 { // a Quiet would wait for what an earlier fence has sent
		r.getLatest(moves, buffer)
		r.mustQuiet()
	}
	for _, t := range list {
		if t.rts&(closed|moved) != 0 {
			return fmt.Errorf("dsm: PE %d: block %d: PE %d, which had the last turn, does not have the newest version (%#x)", r.me, t.b, t.prev, t.rts)
		}
	}
	return nil
}

// getLatest gets the newest versions of blocks whose turns this PE has into buffer. They are on their way when it returns.
// Neighbouring blocks of one home are one message.
func (r *Region) getLatest(list []*turn, buffer []byte) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].b == list[0].b+int32(n) && list[n].prev == list[0].prev {
			n++
		}
		r.pubOf(list[0].b, int32(n)).GetNB(int(list[0].prev), buffer[:n*r.o.Block])
		r.stats.count(&r.stats.Moves, uint64(n))
		for _, t := range list[:n] {
			t.latest, buffer = buffer[:r.o.Block:r.o.Block], buffer[r.o.Block:]
		}
		list = list[n:]
	}
}

// tellPrevious leads readers from the versions before to this PE's. It is complete before the turns are given away. No
// other PE changes the word of a closed version, so nothing has to be compared, and no answer has to come back.
func (p *floating) tellPrevious(list []*turn) {
	r := p.Region
	if p.moving(list) == 0 {
		return
	}
	for _, t := range list {
		if int(t.prev) == r.me {
			continue
		}
		r.words.version.At(int(t.b)).Set(int(t.prev), moved|uint64(r.me))
		r.words.hint.At(int(t.b)).Set(int(t.b)%r.n, uint64(r.me)+1)
	}
	r.mustQuiet()
}
