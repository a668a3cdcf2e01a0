package pgas

// What all collectives share: barriers, and the options of a collective. Package coll has the algorithms.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// Barrier is Team.Barrier on the team of all PEs, with its errors (OpenSHMEM 1.6, shmem_barrier_all). After an error
// the PEs are no longer in step: only Close is of use then.
func (w *World) Barrier(ctx context.Context) error { return w.Team().Barrier(ctx) }

// Sync is Team.Sync on the team of all PEs, with its errors: a barrier without the Quiet (OpenSHMEM 1.6,
// shmem_sync_all).
func (w *World) Sync(ctx context.Context) error { return w.Team().Sync(ctx) }

// Barrier is a Quiet of the default context followed by Sync. When it returns, every member has called it, and every
// operation that any member issued on its default context before is complete. It returns the errors of Context.Quiet,
// and those of a collective (see Team).
func (t *Team) Barrier(ctx context.Context) error {
	t.alive("Barrier")
	mustHaveContext("Barrier", ctx)
	if err := t.quiet(ctx); err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	return t.sync(ctx, coll.OfBarrier, "barrier")
}

// Sync is a barrier: it returns when all members have called it. Stores to the memory of this host are visible after
// it; puts to other hosts need not be complete. It returns the errors of a collective (see Team) (OpenSHMEM 1.6,
// shmem_team_sync).
func (t *Team) Sync(ctx context.Context) error {
	t.alive("Sync")
	mustHaveContext("Sync", ctx)
	return t.sync(ctx, coll.Plain, "sync")
}

// sync is Sync in the form op, which errors name as what.
func (t *Team) sync(ctx context.Context, op uint8, what string) error {
	err := t.g.Sync(ctx, coll.KindSync, op, what)
	if t.w.check != nil && err == nil && t == t.w.team {
		t.w.check.signals.Meet()
	}
	return err
}

// quiet completes the operations of the default context, before a call of t. If ctx has ended it does nothing: the
// call then reports that to the other members.
func (t *Team) quiet(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	if err := t.w.defaultCtx.Quiet(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// CollectiveOption is an option of a collective. All members must give the same options.
type CollectiveOption func(*collectiveOptions)

type collectiveOptions = coll.Options

// ExceptRoot makes a Broadcast leave dst of the root unchanged, unless dst is src. The deprecated broadcasts on
// active sets do so (OpenSHMEM 1.6, shmem_broadcast64). Other collectives ignore it.
func ExceptRoot() CollectiveOption { return func(o *collectiveOptions) { o.ExceptRoot = true } }

// optionsOf returns what opts set.
func optionsOf(opts []CollectiveOption) collectiveOptions {
	if len(opts) == 0 {
		return collectiveOptions{} // the common case, in which nothing escapes to the heap
	}
	return gathered(opts)
}

// gathered applies opts.
func gathered(opts []CollectiveOption) (o collectiveOptions) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
