package pgas

// What package dsm needs of a World beside the API: the environment's settings for coherent regions, that their pages do
// not reach a transport, and a barrier that tells whether there is anything to exchange.

import (
	"context"

	"github.com/gopgas/gopgas/pgas/boot"
)

// SyncOr is Sync and returns the bitwise or of word of all PEs, in the time of Sync. Its errors are those of Sync, and
// the PEs that call it and those that call Sync or Barrier at the same time get *MismatchError.
func (w *World) SyncOr(ctx context.Context, word uint64) (uint64, error) {
	t := w.Team()
	t.alive("SyncOr")
	mustHaveContext("SyncOr", ctx)
	return t.g.SyncOr(ctx, word, "sync")
}

// CoherentSettings are the settings of the environment for coherent regions (package dsm).
type CoherentSettings struct {
	Mode string // PGAS_DSM: auto, shared, paged or soft
	// ThreadServes is PGAS_DSM_FAULTS=thread: one thread serves page faults, and not the faulting threads themselves.
	ThreadServes bool
	Stats        bool // PGAS_DSM_STATS: PE 0 prints the statistics of a region that closes
}

// CoherentSettings returns the settings of the environment for coherent regions. They are the same on every PE that a
// launcher has started.
func (w *World) CoherentSettings() CoherentSettings {
	w.mustBeOpen("World.CoherentSettings")
	s := &w.n.Job.Settings
	return CoherentSettings{Mode: s.DSM.String(), ThreadServes: s.DSMFaults == boot.DSMThread, Stats: s.DSMStats}
}

// RegisterCoherent makes operations copy a source or a destination that lies in memory, before or after they use the
// transport to other hosts, so that the transport never accesses memory itself. Package dsm registers the pages of a
// region for which a pager serves page faults. It does not access memory, which must not be on a stack, and applies to
// operations that begin after it has returned. unregister ends it, when no operation uses memory any more; it may be
// called again. RegisterCoherent panics with *UsageError if w is nil.
//
// Operations on PEs of this host are copies by the calling goroutine in any case.
func (w *World) RegisterCoherent(memory []byte) (unregister func()) {
	w.mustBeOpen("World.RegisterCoherent")
	return w.coherent.Add(memory)
}
