package protocol

// A release: what this PE has written becomes what other PEs fetch, as a new version of each block that it has changed,
// and a write notice tells of each. A release of blocks that this PE wrote last sends no message. One of blocks whose
// homes move sends three for each, and the blocks of a group share the round trips.

import (
	"context"
	"fmt"
)

// Floating is the protocol of MENPS: a block's home is its last writer.
type Floating struct{ *State }

// OpenFloating gives s the protocol Floating, with the memory that it needs.
func (s *State) OpenFloating(ctx context.Context) (err error) {
	s.Protocol = &Floating{s}
	s.Exchanger, err = OpenDissemination(ctx, s)
	return err
}

// Release makes new versions of the blocks of list, each when this PE has its turn.
func (p *Floating) Release(ctx context.Context, list []int32) error {
	return p.TakeTurns(ctx, list, p.Change)
}

// Change makes new versions of blocks whose turns this PE has, and gives the turns away.
func (p *Floating) Change(list []*Turn) error {
	if len(list) == 0 {
		return nil
	}
	s := p.State
	buffer := s.scratch.take(p.moving(list) * s.Block)
	if err := p.closeVersions(list, *buffer); err != nil {
		return err
	}
	for _, t := range list {
		t.WTS = max(t.RTS+1, s.Now)
		first, last := s.Cache.Merge(t.Block, t.Latest, int32(s.Me), t.WTS+s.Lease)
		s.Counters.Released(t.Block, t.Prev, int32(s.Me), first, last)
		s.Words.Version.At(int(t.Block)).Set(s.Me, t.WTS+s.Lease)
		s.Notices.Add(Notice{t.Block, int32(s.Me), t.WTS})
	}
	s.scratch.give(buffer)
	s.MustQuietPE(s.Me)
	p.tellPrevious(list)
	s.Give(list)
	return nil
}

// moving returns the number of blocks whose homes move to this PE.
func (p *Floating) moving(list []*Turn) (n int) {
	for _, t := range list {
		if int(t.Prev) != p.Me {
			n++
		}
	}
	return n
}

// closeVersions ends the leases of the newest versions, and fetches those of other PEs into buffer.
func (p *Floating) closeVersions(list []*Turn, buffer []byte) error {
	s := p.State
	var moves []*Turn
	for _, t := range list {
		if int(t.Prev) == s.Me {
			t.RTS = s.Words.Version.At(int(t.Block)).FetchOr(s.Me, Closed)
			s.Counters.FastReleases.Add(1)
			continue
		}
		s.Words.Version.At(int(t.Block)).FetchOrNB(int(t.Prev), Closed, &t.RTS)
		moves = append(moves, t)
	}
	if len(moves) > 0 { // a Quiet would wait for what an earlier fence has sent
		s.getLatest(moves, buffer)
		s.MustQuiet()
	}
	for _, t := range list {
		if t.RTS&(Closed|Moved) != 0 {
			return fmt.Errorf("dsm: PE %d: block %d: PE %d, which had the last turn, does not have the newest version (%#x)", s.Me, t.Block, t.Prev, t.RTS)
		}
	}
	return nil
}

// getLatest gets the newest versions of blocks whose turns this PE has into buffer. They are on their way when it
// returns. Neighbouring blocks of one home are one message.
func (s *State) getLatest(list []*Turn, buffer []byte) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Block == list[0].Block+int32(n) && list[n].Prev == list[0].Prev {
			n++
		}
		s.Pub.Range(int(list[0].Block)*s.Block, (int(list[0].Block)+n)*s.Block).GetNB(int(list[0].Prev), buffer[:n*s.Block])
		s.Counters.Moves.Add(uint64(n))
		for _, t := range list[:n] {
			t.Latest, buffer = buffer[:s.Block:s.Block], buffer[s.Block:]
		}
		list = list[n:]
	}
}

// tellPrevious leads readers from the versions before to this PE's. It is complete before the turns are given away. No
// other PE changes the word of a closed version, so nothing has to be compared, and no answer has to come back.
func (p *Floating) tellPrevious(list []*Turn) {
	s := p.State
	if p.moving(list) == 0 {
		return
	}
	for _, t := range list {
		if int(t.Prev) == s.Me {
			continue
		}
		s.Words.Version.At(int(t.Block)).Set(int(t.Prev), Moved|uint64(s.Me))
		s.Words.Hint.At(int(t.Block)).Set(int(t.Block)%s.N, uint64(s.Me)+1)
	}
	s.MustQuiet()
}
