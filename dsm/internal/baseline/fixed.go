package baseline

// FixedHome: home-based lazy release consistency (Y. Zhou, L. Iftode, K. Li: "Performance Evaluation of Two Home-Based
// Lazy Release Consistency Protocols for Shared Virtual Memory Systems", 1996), with the write notices and leases of
// Floating. The home of block b is PE b mod n. A release puts the runs of bytes that it has changed into the home's
// master copy and raises the block's version there, in its turn.
//
// hint[b] of the home has the number of the newest version. A releaser's own copy stays valid if no version lies
// between the one that it was fetched from and the one that it makes.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
)

type fixedHome struct {
	homes
	fetched     versionNumbers // for each block, the version that this PE's copy was fetched from
	wholeBlocks bool           // releases put whole blocks
}

func (p *fixedHome) Fetch(list []*protocol.Fetch) {
	h := p.homes
	var slow []*protocol.Fetch
	for _, f := range list {
		f.Home = int32(h.HomeOf(f.Block))
		f.Fast = f.RTS >= f.Now && f.RTS >= h.Lease // an untouched block has no version from a notice
		if f.Fast {
			f.Version = f.RTS - h.Lease // the notice's
			h.Counters.FastReads.Add(1)
			continue
		}
		slow = append(slow, f)
		f.Lease = f.Now + h.Lease
		h.Words.Hint.At(int(f.Block)).FetchNB(int(f.Home), &f.From)
	}
	if len(slow) > 0 {
		h.MustQuiet() // the number is not newer than the bytes
		h.TakeLeases(slow)
		h.Counters.SlowReads.Add(uint64(len(slow)))
	}
	for _, f := range slow {
		f.RTS = max(f.Version, f.Lease)
		if f.Version&protocol.Closed != 0 {
			f.RTS = f.Version &^ protocol.Closed
		}
		f.Version = f.From
	}
	h.Get(list)
	for _, f := range list {
		if f.Installed {
			p.fetched.set(f.Block, f.Version)
		}
	}
}

func (p *fixedHome) Release(ctx context.Context, list []int32) error {
	return p.TakeTurns(ctx, list, p.Change)
}

// Change makes new versions at the homes of blocks whose turns this PE has, and gives the turns away.
func (p *fixedHome) Change(list []*protocol.Turn) error {
	if len(list) == 0 {
		return nil
	}
	h := p.homes
	before := make([]uint64, len(list))
	for i, t := range list {
		h.Words.Version.At(int(t.Block)).FetchOrNB(h.HomeOf(t.Block), protocol.Closed, &t.RTS)
		h.Words.Hint.At(int(t.Block)).FetchNB(h.HomeOf(t.Block), &before[i])
	}
	h.MustQuiet()
	for _, t := range list {
		t.WTS = max(t.RTS&^protocol.Closed+1, h.Now)
	}
	if p.wholeBlocks {
		p.putBlocks(list, before)
	} else {
		for _, t := range list {
			t.Full = h.putChanges(t.Block, t.Prev)
		}
	}
	h.MustQuiet()
	for i, t := range list {
		home := h.HomeOf(t.Block)
		h.Words.Hint.At(int(t.Block)).Set(home, t.WTS)
		h.Words.Version.At(int(t.Block)).Set(home, t.WTS+h.Lease)
		h.Cache.Settle(t.Block)
		if t.Full || p.fetched.get(t.Block) == before[i] {
			p.fetched.set(t.Block, t.WTS)
		} else {
			h.Cache.Drop(t.Block, int32(home), t.WTS+h.Lease)
		}
		h.Notices.Add(protocol.Notice{Block: t.Block, PE: int32(h.Me), WTS: t.WTS})
	}
	h.MustQuiet()
	h.Give(list)
	return nil
}

// putBlocks merges what this PE has changed with the newest versions, which it fetches if it does not have them, and
// puts the blocks. before has the numbers of the newest versions. The puts are on their way when it returns.
func (p *fixedHome) putBlocks(list []*protocol.Turn, before []uint64) {
	h := p.homes
	for i, t := range list {
		if p.fetched.get(t.Block) != before[i] {
			t.Latest = make([]byte, h.Block)
			h.masterOf(t.Block).GetNB(h.HomeOf(t.Block), t.Latest)
			h.Counters.Gets.Add(1)
			h.Counters.BytesFetched.Add(uint64(h.Block))
		}
	}
	h.MustQuiet()
	for _, t := range list {
		home := h.HomeOf(t.Block)
		first, last := h.Cache.Merge(t.Block, t.Latest, int32(home), t.WTS+h.Lease)
		h.masterOf(t.Block).Put(home, h.Twins[int(t.Block)*h.Block:(int(t.Block)+1)*h.Block])
		h.countRelease(t.Block, t.Prev, first, last)
		t.Full = true
	}
}

func (p *fixedHome) Acquire(told protocol.Notices) { p.AcquireNotices(told) }
