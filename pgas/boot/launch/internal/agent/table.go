package agent

// The PEs of this host, and what each of them is blocked in.

import (
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// pe is one PE of this host.
type pe struct {
	pid         int
	ended       bool
	status      int           // then: its exit status, as a shell has it
	cpu         time.Duration // then
	memory      uint64        // then: most that was resident
	endedAt     int64         // then: boot.Clock
	signalsSent uint64        // bit i: signal i was sent to it for the launcher
}

// settleTime is how long PEs poll before they show what they wait for.
const settleTime = 5 * time.Millisecond

// settledTable returns table's result, after settleTime if a PE seems to compute: it may have just begun to wait.
func (a *Agent) settledTable() []frame.Blocked {
	rows := a.table()
	for _, row := range rows {
		if !row.Exited && row.Op == boot.NotBlocked {
			time.Sleep(settleTime)
			return a.table()
		}
	}
	return rows
}

// table returns a copy of the Blocked page of each PE of this host.
func (a *Agent) table() []frame.Blocked {
	now := time.Now().UnixNano()
	var rows []frame.Blocked
	for i, st := range a.segment.States {
		b := &st.Blocked
		row := frame.Blocked{PE: a.cfg.Hosts[a.cfg.Host].First + i, Op: boot.BlockedOp(b.Op.Load()), Exited: a.pes[i].ended}
		if row.Op != boot.NotBlocked {
			row.Peer, row.Seq, row.ForNsec = int(b.Peer.Load()), b.Seq.Load(), max(0, now-b.Since.Load())
			row.Team, row.Stalled = b.Team.Load(), b.Stalled.Load()
			row.Name, row.Site, _ = strings.Cut(st.Text.Load(), "\n")
		} else if st.End.At.Load() != 0 {
			row.Ends, row.Reason = true, boot.EndReason(st.End.Why.Load())
		}
		rows = append(rows, row)
	}
	return rows
}
