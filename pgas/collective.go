package pgas

// What all collectives share: barriers, and how a collective is asked to run. Package coll has the algorithms.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/coll"
)

// Barrier is a Quiet of the default context followed by a meeting of all PEs: when it returns, every
// PE has called it, and everything any PE issued on its default context before is complete
// (OpenSHMEM 1.6, shmem_barrier_all). When it returns an error the PEs are no longer in step: only
// Close is of use then.
func (w *World) Barrier(ctx context.Context) error { return w.Team().Barrier(ctx) }

// Sync is a meeting of all PEs without the Quiet: stores to this host's memory are visible after it,
// puts to other hosts need not be (OpenSHMEM 1.6, shmem_sync_all).
func (w *World) Sync(ctx context.Context) error { return w.Team().Sync(ctx) }

// Barrier is a Quiet of the default context followed by Sync: when it returns, every member has called
// it, and everything any member issued on its default context before is complete.
func (t *Team) Barrier(ctx context.Context) error {
	t.alive("Barrier")
	mustHaveContext("Barrier", ctx)
	if err := t.quiet(ctx); err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	return t.g.Sync(ctx, coll.KindSync, "barrier")
}

// Sync is a meeting of all members: it returns when all have called it. Stores to this host's memory are
// visible after it; puts to other hosts need not be (OpenSHMEM 1.6, shmem_team_sync).
func (t *Team) Sync(ctx context.Context) error {
	t.alive("Sync")
	mustHaveContext("Sync", ctx)
	return t.g.Sync(ctx, coll.KindSync, "sync")
}

// quiet completes what the default context has issued, before a call of t. If ctx has ended it does nothing: the
// call reports that to the other members.
func (t *Team) quiet(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	if err := t.w.defaultCtx.Quiet(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// Algorithm is how the hosts of a team talk to each other in a collective.
type Algorithm uint8

// The algorithms. Not every collective has all of them; what it has not is a *UsageError.
const (
	Auto              Algorithm = iota // by size and number of hosts
	Linear                             // one with all, all at once
	Tree                               // binomial tree
	RecursiveDoubling                  // with a partner at twice the distance in each round
	Ring                               // with the neighbour, in as many rounds as there are hosts
)

func (a Algorithm) String() string { return coll.Algorithm(a).String() }

// CollectiveOption changes how a collective runs. All members must give the same.
type CollectiveOption func(*collectiveOptions)

type collectiveOptions = coll.Options

// WithAlgorithm forces an algorithm.
func WithAlgorithm(a Algorithm) CollectiveOption {
	return func(o *collectiveOptions) { o.Algorithm = coll.Algorithm(a) }
}

// NoHierarchy makes every member take part as if it were alone on its host: for measurements, and where hosts
// hold few members each.
func NoHierarchy() CollectiveOption { return func(o *collectiveOptions) { o.Flat = true } }

// ExceptRoot makes a Broadcast leave dst of the root unchanged, unless dst is src. The deprecated broadcasts on active
// sets do so (OpenSHMEM 1.6, shmem_broadcast64). Other collectives ignore it.
func ExceptRoot() CollectiveOption { return func(o *collectiveOptions) { o.ExceptRoot = true } }

func optionsOf(opts []CollectiveOption) collectiveOptions {
	if len(opts) == 0 {
		return collectiveOptions{} // the common case, in which nothing escapes to the heap
	}
	return gathered(opts)
}

func gathered(opts []CollectiveOption) (o collectiveOptions) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
