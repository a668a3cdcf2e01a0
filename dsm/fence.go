package dsm

// Fences: Barrier, Release and Acquire, and what locks and events do with them. The releases and acquires of one PE
// take turns, since two releases at once would publish each other's blocks and return before those are published. No
// fence keeps its turn while it waits for another PE's program: that program may wait for another goroutine of this PE.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
)

// Release publishes what this PE has written to r, by any of its goroutines. When it returns, a PE that acquires the
// Notice, or a later one of this PE, sees these writes and those that this PE has seen itself. It ends Updates and
// Views.
//
// If ctx ends while other PEs change blocks that this PE has changed, too, Release returns, and is finished in the
// background: the next fence of this PE waits for that. The end of ctx does not end what has begun to move between the
// PEs: with a PE of another host that is stopped, that lasts until the PE is lost, PGAS_PEER_TIMEOUT at most. Errors:
// the cause of ctx's end, and *pgas.PeerError if a PE of the job is lost, after which the region is not usable. In mode
// Paged it also fails if the program has replaced the handler of SIGBUS, by which page faults are served.
func (r *Region) Release(ctx context.Context) (Notice, error) {
	return r.releaseBlocks(ctx, func(written []int32) []int32 { return written })
}

// releaseBlocks publishes those of the written blocks that choose returns.
func (r *Region) releaseBlocks(ctx context.Context, choose func(written []int32) []int32) (n Notice, err error) {
	r.mustBeOpen("Region.Release")
	err = r.fence(ctx, func() error {
		if err := r.publish(ctx, choose(r.fences.Cache.Written(nil))); err != nil {
			return err
		}
		n.s = r.fences.Notices.Clone()
		return nil
	})
	return n, err
}

// Acquire makes visible to this PE what n tells of, from any later access on. It waits for no PE. It ends Updates and
// Views of blocks that have newer versions.
func (r *Region) Acquire(n Notice) {
	r.mustBeOpen("Region.Acquire")
	if r.mode == Shared {
		r.observed.windows.end()
		return
	}
	r.fences.Turn.Take(context.Background())
	defer r.fences.Turn.Give()
	r.observed.windows.end()
	r.fences.Protocol.Acquire(n.s)
}

// Barrier releases what this PE has written, blocks until all PEs of the job have called it, and acquires what they
// have released. It begins with a Quiet of the World's default context, so it orders puts as World.Barrier does. It is
// collective. Errors: those of World.Barrier and of Release.
func (r *Region) Barrier(ctx context.Context) error {
	r.mustBeOpen("Region.Barrier")
	if r.mode == Shared {
		r.observed.windows.end()
		return r.w.Barrier(ctx)
	}
	if err := r.memory.faultsServed(); err != nil {
		return err
	}
	if err := r.w.Quiet(ctx); err != nil {
		return err
	}
	known, err := r.releaseAll(ctx)
	if err != nil {
		return err
	}
	all, news, err := r.fences.Exchange(ctx, known)
	if err != nil {
		return err
	}
	if !news && !r.fences.Traits.FixedHomes && r.fences.Cache.Current() {
		return nil
	}
	return r.fence(ctx, func() error {
		r.fences.Protocol.Acquire(all)
		r.fences.Notices = r.fences.Notices.Without(all) // every PE knows them
		return nil
	})
}

// releaseAll publishes what this PE has written and returns what it passes on.
func (r *Region) releaseAll(ctx context.Context) (known protocol.Notices, err error) {
	if err := r.fences.Turn.Take(ctx); err != nil {
		return known, err
	}
	r.observed.windows.end()
	list := r.fences.Cache.Written(nil)
	if len(list) == 0 { // as in most barriers of some programs: no error is to be caught
		known = r.fences.Notices.Clone()
		r.record()
		r.fences.Turn.Give()
		r.fences.Counters.Fences.Add(1)
		return known, nil
	}
	err = r.inTurn(func() error {
		err := r.publish(ctx, list)
		known = r.fences.Notices.Clone()
		return err
	})
	return known, err
}

// publish releases blocks.
func (r *Region) publish(ctx context.Context, list []int32) error {
	if len(list) == 0 {
		return nil
	}
	return r.fences.Protocol.Release(ctx, list)
}

// fence runs body in this PE's turn of fences. Mode Shared has only the order of plain loads and stores. A panic with
// *pgas.PeerError becomes an error.
func (r *Region) fence(ctx context.Context, body func() error) (err error) {
	if r.mode == Shared {
		r.observed.windows.end()
		return r.w.Quiet(ctx) // orders loads, too, which a Fence does not
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.memory.faultsServed(); err != nil {
		return err
	}
	if err := r.fences.Turn.Take(ctx); err != nil {
		return err
	}
	r.observed.windows.end()
	return r.inTurn(body)
}

// inTurn runs body and gives the turn, which the caller has taken, or leaves it to what body has not finished.
func (r *Region) inTurn(body func() error) (err error) {
	defer r.fences.EndTurn()
	defer r.record()
	defer protocol.RecoverPeer(&err)
	r.fences.Counters.Fences.Add(1)
	return body()
}
