package dsm

// FixedHome: home-based lazy release consistency (Y. Zhou, L. Iftode, K. Li: "Performance Evaluation of Two Home-Based
// Lazy Release Consistency Protocols for Shared Virtual Memory Systems", 1996), with the write notices and leases of
// Floating. The home of block b is PE b mod n. A release puts the runs of bytes that it has changed into the home's
// master copy and raises the block's version there, in its turn.
//
// hint[b] of the home has the number of the newest version. A releaser's own copy stays valid if no version lies between
// the one that it was fetched from and the one that it makes.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

type fixedHome struct {
	*Region
	fetched versionNumbers // by block: the version that this PE's copy was fetched from
}

func (r *Region) homeOf(b int32) int { return int(b) % r.n }

// openMaster allocates the homes' copies.
func (r *Region) openMaster(ctx context.Context) error {
	master, err := r.allocateBlocks(ctx)
	if err == nil {
		r.master = master.All().On(r.ctx)
	}
	return err
}

func (r *Region) masterOf(b int32) pgas.Slice[byte] {
	return r.master.Range(int(b)*r.o.Block, (int(b)+1)*r.o.Block)
}

func (p *fixedHome) zeroAtFirst() bool { return true }

func (p *fixedHome) fetch(list []*fetch) {
	r := p.Region
	var slow []*fetch
	for _, f := range list {
		f.home = int32(r.homeOf(f.b))
		f.fast = f.rts >= f.now && f.rts >= r.o.Lease // an untouched block has no version from a notice
		if f.fast {
			f.version = f.rts - r.o.Lease // the notice's
			r.stats.count(&r.stats.FastReads, 1)
			continue
		}
		slow = append(slow, f)
		f.lease = f.now + r.o.Lease
		r.words.hint.At(int(f.b)).FetchNB(int(f.home), &f.from)
	}
	if len(slow) > 0 {
		r.mustQuiet() // the number is not newer than the bytes
		r.takeLeases(slow)
		r.stats.count(&r.stats.SlowReads, uint64(len(slow)))
	}
	for _, f := range slow {
		f.rts = max(f.version, f.lease)
		if f.version&closed != 0 {
			f.rts = f.version &^ closed
		}
		f.version = f.from
	}
	r.get(list)
	for _, f := range list {
		if f.installed {
			p.fetched.set(f.b, f.version)
		}
	}
}

func (p *fixedHome) release(ctx context.Context, list []int32) error {
	return p.takeTurns(ctx, list, p.change)
}

// change makes new versions at the homes of blocks whose turns this PE has, and gives the turns away.
func (p *fixedHome) change(list []*turn) error {
	if len(list) == 0 {
		return nil
	}
	r := p.Region
	before := make([]uint64, len(list))
	for i, t := range list {
		r.words.version.At(int(t.b)).FetchOrNB(r.homeOf(t.b), closed, &t.rts)
		r.words.hint.At(int(t.b)).FetchNB(r.homeOf(t.b), &before[i])
	}
	r.mustQuiet()
	for _, t := range list {
		t.wts = max(t.rts&^closed+1, r.now)
	}
	if r.o.WholeBlocks {
		p.putBlocks(list, before)
	} else {
		for _, t := range list {
			t.full = r.putChanges(t.b, t.prev)
		}
	}
	r.mustQuiet()
	for i, t := range list {
		home := r.homeOf(t.b)
		r.words.hint.At(int(t.b)).Set(home, t.wts)
		r.words.version.At(int(t.b)).Set(home, t.wts+r.o.Lease)
		r.cache.settle(t.b)
		if t.full || p.fetched.get(t.b) == before[i] {
			p.fetched.set(t.b, t.wts)
		} else {
			r.cache.drop(t.b, int32(home), t.wts+r.o.Lease)
		}
		r.notices.add(notice{t.b, int32(r.me), t.wts})
	}
	r.mustQuiet()
	r.give(list)
	return nil
}

// putBlocks merges what this PE has changed with the newest versions, which it fetches if it does not have them, and puts
// the blocks. before has the numbers of the newest versions. The puts are on their way when it returns.
func (p *fixedHome) putBlocks(list []*turn, before []uint64) {
	r := p.Region
	for i, t := range list {
		if p.fetched.get(t.b) != before[i] {
			t.latest = make([]byte, r.o.Block)
			r.masterOf(t.b).GetNB(r.homeOf(t.b), t.latest)
			r.stats.count(&r.stats.Gets, 1)
			r.stats.count(&r.stats.BytesFetched, uint64(r.o.Block))
		}
	}
	r.mustQuiet()
	for _, t := range list {
		home := r.homeOf(t.b)
		first, last := r.cache.merge(t.b, t.latest, int32(home), t.wts+r.o.Lease)
		r.masterOf(t.b).Put(home, r.twins[int(t.b)*r.o.Block:(int(t.b)+1)*r.o.Block])
		r.countRelease(t.b, t.prev, first, last)
		t.full = true
	}
}

func (p *fixedHome) acquire(s notices) { p.acquireNotices(s) }

// putChanges puts the bytes that this PE has changed in block b into the home's master copy. The puts are on their way
// when it returns. It reports whether all bytes have been put.
func (r *Region) putChanges(b, prev int32) (full bool) {
	first, last := -1, -1
	home, master := r.homeOf(b), r.masterOf(b)
	r.cache.changes(b, func(at int, bytes []byte) {
		master.Range(at, at+len(bytes)).Put(home, bytes)
		if first < 0 {
			first = at
		}
		last = at + len(bytes) - 1
		full = full || len(bytes) == r.o.Block
	})
	r.countRelease(b, prev, first, last)
	return full
}

// countRelease counts a release of block b, of which this PE has changed the bytes from first to last.
func (r *Region) countRelease(b, prev int32, first, last int) {
	r.stats.changed(b, prev, int32(r.me), first, last)
	if r.homeOf(b) == r.me {
		r.stats.count(&r.stats.FastReleases, 1)
	} else {
		r.stats.count(&r.stats.Moves, 1)
	}
}
