package pgas

// How a PE is reached, in more detail than TransportTo has it: for reports, such as that of `pgasrun doctor`.

import (
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Connection says how the default context reaches a PE.
type Connection struct {
	Transport  string // the transport, as TransportTo names it
	Text       string // what UCX prints about its lanes; empty for PEs of this host
	NativeRMA  bool   // gets and large puts are UCX's own, and not active messages
	NICAtomics bool   // atomics are UCX's own (PGAS_AMO=nic), and not executed by the target's CPU
}

// ConnectionTo returns how pe is reached, and connects to it if that has not happened. It is not collective. Until an
// operation to pe is complete, UCX may show the lanes of the connection's setup. It panics with *UsageError if pe is
// out of range.
func (w *World) ConnectionTo(pe int) Connection {
	w.mustBeOpen("ConnectionTo")
	if pe < 0 || pe >= w.n.Job.NPEs {
		misuse("ConnectionTo", "PE %d is out of range: this job has PEs 0 to %d", pe, w.n.Job.NPEs-1)
	}
	c := Connection{Transport: w.TransportTo(pe), NICAtomics: w.n.Remote != nil && w.n.Job.Settings.AMO == boot.AMONIC}
	if d := w.describer(pe); d != nil {
		c.Text, c.NativeRMA = d.Connection(pe)
	}
	return c
}

// describer returns what describes the connection to pe, or nil if there is none: it is on this host, or its transport
// has nothing to say.
func (w *World) describer(pe int) transport.Describer {
	if w.n.Shm.Heap(pe) != nil || w.defaultCtx.remote == nil {
		return nil
	}
	d, _ := w.defaultCtx.remote.unrecorded.(transport.Describer)
	return d
}
