package pgas

// What package dsm needs of a World beside the API, by internal/hook: a barrier that tells whether there is anything
// to exchange, a way to other hosts for C that must not wait for Go, and what reports say of a PE that waits for
// coherent memory.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// syncOr is hook.SyncOr.
func (w *World) syncOr(ctx context.Context, word uint64) (uint64, error) {
	t := w.Team()
	t.alive("SyncOr")
	mustHaveContext("SyncOr", ctx)
	return t.g.SyncOr(ctx, word, "sync")
}

// outside is hook.Outside.
func (w *World) outside() (address uintptr, close func() error, err error) {
	if w.n.Closed.Load() {
		return 0, nil, fmt.Errorf("a way to other hosts for a thread that is not Go's: %w", w.n.EndedError(w.n.Ctx))
	}
	var remote []int
	for pe := range w.NPEs() {
		if w.n.Shm.Heap(pe) == nil {
			remote = append(remote, pe)
		}
	}
	if len(remote) == 0 {
		return 0, func() error { return nil }, nil
	}
	t, ok := w.n.Remote.(transport.Outsider)
	if !ok {
		return 0, nil, fmt.Errorf("transport %s to other hosts has no way for a thread that is not Go's", w.n.Remote.Name())
	}
	return t.Outside(remote)
}

// withCoherentWait is hook.WithCoherentWait: reports show the release or the fetch, the block and its elements, and
// the PE that is waited for, instead of a word or of messages that the program knows nothing of.
func withCoherentWait(ctx context.Context, why func() (hook.CoherentWait, bool)) context.Context {
	return node.WithPurpose(ctx, func() (node.Blocked, bool) {
		w, ok := why()
		op := boot.InFetch
		if w.Release {
			op = boot.InRelease
		}
		return node.Blocked{Op: op, Peer: w.PE, Seq: uint64(w.Block), Name: w.Elements}, ok
	})
}

// recordPages is hook.RecordPages.
func (w *World) recordPages(faults, fetched, released uint64) {
	if w.n.Rec == nil {
		return
	}
	w.n.Rec.Add(record.Faults, faults)
	w.n.Rec.Add(record.PagesFetched, fetched)
	w.n.Rec.Add(record.PagesReleased, released)
}
