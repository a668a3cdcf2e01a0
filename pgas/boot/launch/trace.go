package launch

// Traces of PEs, from their agents to the launcher. A PE's events are in memory that its agent has mapped, so they arrive also
// of a PE that was killed. The agent sends them when all its PEs have ended, in pieces that are short beside what else an agent
// sends.

import (
	"slices"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// tracePiece is how many events one frame has at most.
const tracePiece = 8 << 10

// PETrace is a piece of what a PE has recorded.
type PETrace struct {
	record.Trace
	Counts *record.Counts // with the last piece
	Last   bool
}

// traceSlack is by how much events may be outside of the time in which there were PEs: a PE converts Go's clock to the host's.
const traceSlack = time.Second

// sendTraces sends the traces of this host's PEs.
func (a *agent) sendTraces() {
	for i := range a.pes {
		p := a.record.PE(a.record.First() + i)
		t := p.Trace()
		t.Host, t.Ended = a.cfg.Host, a.pes[i].endedAt
		if n := t.Within(a.startedAt-int64(traceSlack), t.Ended+int64(traceSlack)); n > 0 {
			a.logf("%s of PE %d are of no time at which it ran, and left out", plural.Count(n, "event"), t.PE)
		}
		events := t.Events
		for {
			n := min(len(events), tracePiece)
			piece := PETrace{Trace: t, Last: n == len(events)}
			piece.Events = events[:n]
			if piece.Last {
				counts := p.Counts()
				piece.Counts = &counts
			}
			if a.out.value(fromTrace, piece) != nil || piece.Last {
				break
			}
			events, t.Names, t.Dropped, t.Updates = events[n:], nil, 0, 0
		}
	}
}

// trace hands a piece of a trace to the spec's function. Only PEs of h may be in it.
func (j *job) trace(h *host, data []byte) {
	var p PETrace
	if j.spec.Trace == nil || decode(data, &p) != nil || p.PE < h.First || p.PE >= h.First+h.PEs {
		return
	}
	p.Host = h.index
	p.Events = slices.DeleteFunc(p.Events, func(e record.Event) bool { return int(e.Peer) >= j.npes || e.Kind >= record.NumEvents })
	if c := p.Counts; c != nil {
		c.PE = p.PE
		c.Peers = slices.DeleteFunc(c.Peers, func(t record.Traffic) bool { return t.Peer < 0 || t.Peer >= j.npes })
	}
	j.spec.Trace(p)
}
