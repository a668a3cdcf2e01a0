package pgas

// What packages above pgas reach by internal/hook, as methods for the tests of this package.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
)

// WaitUntilPred is what hook.WaitBehind calls, for words of any type.
func (a Atomic[W]) WaitUntilPred(ctx context.Context, cmp Cmp, v W, pred int, predWaiting W) (W, error) {
	return a.waitUntilPred(ctx, cmp, v, pred, predWaiting)
}

// YieldTo is hook.YieldTo.
func (w *World) YieldTo(pe int) { hook.YieldTo(w, pe) }

// SyncOr is hook.SyncOr.
func (w *World) SyncOr(ctx context.Context, word uint64) (uint64, error) {
	return hook.SyncOr(ctx, w, word)
}

// Outside is hook.Outside.
func (w *World) Outside() (address uintptr, close func() error, err error) { return hook.Outside(w) }

// RegisterCoherent is hook.RegisterCoherent.
func (w *World) RegisterCoherent(memory []byte) (unregister func()) {
	return hook.RegisterCoherent(w, memory)
}

// RecordPages is hook.RecordPages.
func (w *World) RecordPages(faults, fetched, released uint64) {
	hook.RecordPages(w, faults, fetched, released)
}
