package agent

// Traces of PEs. A PE's events are in memory that its agent has mapped, so the agent has them even if the PE was
// killed.

import (
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// tracePiece is how many events one frame has at most.
const tracePiece = 8 << 10

// traceSlack is by how much events may be outside of the time in which there were PEs: a PE converts Go's clock to the
// host's.
const traceSlack = time.Second

// sendTraces sends the traces of this host's PEs.
func sendTraces(out *frame.Sender, records *record.Memory, host int, startedAt int64, pes []pe, logf func(string, ...any)) {
	for i := range pes {
		p := records.PE(records.First() + i)
		t := p.Trace()
		t.Host, t.Ended = host, pes[i].ended.at
		if n := t.Within(startedAt-int64(traceSlack), t.Ended+int64(traceSlack)); n > 0 {
			logf("%s of PE %d are of no time at which it ran, and left out", plural.Count(n, "event"), t.PE)
		}
		events := t.Events
		for {
			n := min(len(events), tracePiece)
			piece := frame.PETrace{Trace: t, Last: n == len(events)}
			piece.Events = events[:n]
			if piece.Last {
				counts := p.Counts()
				piece.Counts = &counts
			}
			if out.SendValue(frame.FromTrace, piece) != nil || piece.Last {
				break
			}
			events, t.Names, t.Dropped, t.Updates = events[n:], nil, 0, 0
		}
	}
}
