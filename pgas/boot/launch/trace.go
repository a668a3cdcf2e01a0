package launch

// Traces of PEs, from their agents to the launcher. A PE's events are in memory that its agent has mapped, so they
// arrive also of a PE that was killed. The agent sends them when all its PEs have ended, in pieces that are short
// beside what else an agent sends.

import (
	"slices"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// passTrace hands a piece of a trace to the spec's function. Only PEs of h may be in it.
func passTrace(spec *Spec, npes int, h *host, data []byte) {
	var p PETrace
	if spec.Trace == nil || frame.Decode(data, &p) != nil || p.PE < h.First || p.PE >= h.First+h.PEs {
		return
	}
	p.Host = h.index
	p.Events = slices.DeleteFunc(p.Events, func(e record.Event) bool { return int(e.Peer) >= npes || e.Kind >= record.NumEvents })
	if c := p.Counts; c != nil {
		c.PE = p.PE
		c.Peers = slices.DeleteFunc(c.Peers, func(t record.Traffic) bool { return t.Peer < 0 || t.Peer >= npes })
	}
	spec.Trace(p)
}
