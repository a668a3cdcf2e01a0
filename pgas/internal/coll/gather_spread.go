package coll

// How the members of a host give each other what they have fetched from other hosts, so that it crosses the network
// once for each host and not once for each member.
//
// The members of other hosts, in the order of their hosts, are dealt out to those of a host in turn: a member's share.
// It fetches these, and knows how much there is of each. What it has is a stream for the others of its host, which goes
// through its arrival records or mailboxes in pieces. Each piece is a call of its own. No member waits in it for
// another host; all of the team make as many calls, though, those that the longest stream of any host needs.

import (
	"context"
	"iter"
)

// sharesHosts reports whether there are hosts to fetch from, and to share that with.
func (g *Group) sharesHosts() bool { return len(g.hosts) > 1 && len(g.hosts) < len(g.PEs) }

const (
	gatherMailboxes = 32 // that hold a piece, of those that a call may reserve
	gatherPiece     = gatherMailboxes * mailboxBytes
)

var _ [maxMailboxes - gatherMailboxes]byte

// everyShare in place of a rank is all members of other hosts.
const everyShare = -1

// shareOf returns the members of other hosts that the one of that rank on a host fetches for it.
func (g *Group) shareOf(host, rank int) iter.Seq[int] {
	return func(yield func(int) bool) {
		turn := 0
		for h, members := range g.hosts {
			if h == host {
				continue
			}
			for _, i := range members {
				if (rank == everyShare || turn == rank) && !yield(i) {
					return
				}
				if turn++; turn == len(g.hosts[host]) {
					turn = 0
				}
			}
		}
	}
}

// A spread is what the members of a host give each other: memory(i) of each member i of another host. This member has
// filled that of its share, and gets the others.
type spread struct {
	g      *Group
	call   Call // the call that each piece is
	memory func(i int) []byte
}

func (s *spread) run(ctx context.Context) error {
	longest := s.longest()
	for at := 0; at < longest; at += gatherPiece {
		if err := s.piece(ctx, at, min(gatherPiece, longest-at)); err != nil {
			return err
		}
	}
	return nil
}

// longest returns the bytes of the longest stream of any member of the team, which is the same on all members.
func (s *spread) longest() (longest int) {
	for h, members := range s.g.hosts {
		sums, turn := make([]int, len(members)), 0
		for i := range s.g.shareOf(h, everyShare) {
			sums[turn] += len(s.memory(i))
			turn = (turn + 1) % len(sums)
		}
		for _, n := range sums {
			longest = max(longest, n)
		}
	}
	return longest
}

// piece is the call for n bytes of the streams from byte at on.
func (s *spread) piece(ctx context.Context, at, n int) error {
	g := s.g
	x := chooseExposure(n, 0, gatherPiece)
	e, err := g.begin(ctx, &s.call, x.mailboxes())
	if err != nil {
		return err
	}
	defer g.end()
	x.x = g.takeMailboxes(x.mailboxes())
	buf := g.exposeBuf(&x, e)
	for b := range s.stream(g.localRank, at, n) {
		buf = buf[copy(buf, b):]
	}
	if err := g.arrive(e); err != nil {
		return err
	}
	for k := range g.localMembers {
		if err := s.take(ctx, k, at, &x); err != nil {
			return err
		}
	}
	return nil
}

// take copies what member number k of this host exposes: its stream from byte at on.
func (s *spread) take(ctx context.Context, k, at int, x *exposure) error {
	if k == s.g.localRank {
		return nil
	}
	var buf []byte
	for b := range s.stream(k, at, x.n) {
		if buf == nil {
			if _, err := s.g.awaitArrival(ctx, &s.g.layout, k); err != nil {
				return err
			}
			buf = s.g.peerBuf(&s.g.layout, x, k)
		}
		buf = buf[copy(b, buf):]
	}
	return nil
}

// stream returns where n bytes of the stream of member number k of this host stand, from byte at on.
func (s *spread) stream(k, at, n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		begin := 0
		for i := range s.g.shareOf(s.g.hostIndex, k) {
			b := s.memory(i)
			lo, hi := max(at-begin, 0), min(at+n-begin, len(b))
			if begin += len(b); lo < hi && !yield(b[lo:hi]) {
				return
			}
			if begin >= at+n {
				return
			}
		}
	}
}
