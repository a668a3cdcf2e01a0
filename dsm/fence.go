package dsm

// Fences: Barrier, Release and Acquire, and what locks and events do with them. The releases and acquires of one PE take
// turns, since two releases at once would publish each other's blocks and return before those are published. No fence
// keeps its turn while it waits for another PE's program: that program may wait for another goroutine of this PE.

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/pgas"
)

// Release publishes what this PE has written to r, by any of its goroutines. When it returns, a PE that acquires the
// Notice, or a later one of this PE, sees these writes and those that this PE has seen itself. It ends Updates and Views.
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
		if err := r.publish(ctx, choose(r.cache.written(nil))); err != nil {
			return err
		}
		n.s = r.notices.clone()
		return nil
	})
	return n, err
}

// Acquire makes visible to this PE what n tells of, from any later access on. It waits for no PE. It ends Updates and
// Views of blocks that have newer versions.
func (r *Region) Acquire(n Notice) {
	r.mustBeOpen("Region.Acquire")
	if r.mode == Shared {
		r.windows.end()
		return
	}
	r.turn.take(context.Background())
	defer r.turn.give()
	r.windows.end()
	r.protocol.acquire(n.s)
}

// Barrier releases what this PE has written, blocks until all PEs of the job have called it, and acquires what they have
// released. It begins with a Quiet of the World's default context, so it orders puts as World.Barrier does. It is
// collective. Errors: those of World.Barrier and of Release.
func (r *Region) Barrier(ctx context.Context) error {
	r.mustBeOpen("Region.Barrier")
	if r.mode == Shared {
		r.windows.end()
		return r.w.Barrier(ctx)
	}
	if err := r.faultsServed(); err != nil {
		return err
	}
	if err := r.w.Quiet(ctx); err != nil {
		return err
	}
	known, err := r.releaseAll(ctx)
	if err != nil {
		return err
	}
	all, news, err := r.exchange(ctx, known)
	if err != nil {
		return err
	}
	if !news && r.o.Protocol == Floating && r.cache.current() {
		return nil
	}
	return r.fence(ctx, func() error {
		r.protocol.acquire(all)
		r.notices = r.notices.without(all) // every PE knows them
		return nil
	})
}

// errHandler is why fences fail when page faults are not served any more.
var errHandler = errors.New("dsm: the handler of SIGBUS, which serves page faults, has been replaced since dsm.Open, " +
	"by none or by one without SA_ONSTACK: install the other one before dsm.Open, or with SA_ONSTACK and let it pass on " +
	"what is not its own; PGAS_DSM_FAULTS=thread needs no handler")

// faultsServed returns an error if page faults are not served any more: the next one would end the process.
func (r *Region) faultsServed() error {
	if r.paged != nil && r.paged.HandlerLost() {
		return errHandler
	}
	return nil
}

// releaseAll publishes what this PE has written and returns what it passes on.
func (r *Region) releaseAll(ctx context.Context) (known notices, err error) {
	if err := r.turn.take(ctx); err != nil {
		return known, err
	}
	r.windows.end()
	list := r.cache.written(nil)
	if len(list) == 0 { // as in most barriers of some programs: no error is to be caught
		known = r.notices.clone()
		r.record()
		r.turn.give()
		r.stats.count(&r.stats.Fences, 1)
		return known, nil
	}
	err = r.inTurn(func() error {
		err := r.publish(ctx, list)
		known = r.notices.clone()
		return err
	})
	return known, err
}

// publish releases blocks.
func (r *Region) publish(ctx context.Context, list []int32) error {
	if len(list) == 0 {
		return nil
	}
	return r.protocol.release(ctx, list)
}

// fence runs body in this PE's turn of fences. Mode Shared has only the order of plain loads and stores. A panic with
// *pgas.PeerError becomes an error.
func (r *Region) fence(ctx context.Context, body func() error) (err error) {
	if r.mode == Shared {
		r.windows.end()
		return r.w.Quiet(ctx) // orders loads, too, which a Fence does not
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.faultsServed(); err != nil {
		return err
	}
	if err := r.turn.take(ctx); err != nil {
		return err
	}
	r.windows.end()
	return r.inTurn(body)
}

// inTurn runs body and gives the turn, which the caller has taken, or leaves it to what body has not finished.
func (r *Region) inTurn(body func() error) (err error) {
	defer r.endTurn()
	defer r.record()
	defer recoverPeer(&err)
	r.stats.count(&r.stats.Fences, 1)
	return body()
}

// endTurn gives the turn, after it has finished in the background what has been left unfinished.
func (r *Region) endTurn() {
	rest := r.unfinished
	if rest == nil {
		r.turn.give()
		return
	}
	r.unfinished = nil
	started := r.behind.start(r.w, func(ctx context.Context) {
		var lost error // which the next fence is told, too
		defer r.turn.give()
		defer recoverPeer(&lost)
		if rest(ctx) != nil {
			r.unfinished = nil // the region ends
		}
	})
	if !started {
		r.turn.give()
	}
}

// recoverPeer, deferred, turns a panic with *pgas.PeerError, by which an operation says that its target is lost, into an
// error. Other panics go on.
func recoverPeer(err *error) {
	p := recover()
	if p == nil {
		return
	}
	e, _ := p.(error)
	peer, ok := errors.AsType[*pgas.PeerError](e)
	if !ok {
		panic(p)
	}
	*err = peer
}
