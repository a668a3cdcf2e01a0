package agent

// The PEs of this host, and what each of them is blocked in.

import (
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// peEnd is how a PE has ended.
type peEnd struct {
	status int           // the exit status, as a shell has it
	cpu    time.Duration // the CPU time that the PE has used
	memory uint64        // the most that was resident
	at     int64         // boot.Clock when it ended
}

// pe is one PE of this host.
type pe struct {
	pid         int
	process     *process // nil: a machine of a simulation runs it
	ended       *peEnd   // how it ended; nil while it runs
	signalsSent uint64   // bit i: signal i was sent to it for the launcher; or askedToLeave
}

// askedToLeave in pe.signalsSent says that the PE was asked to leave its term.
const askedToLeave = 1

// usedBefore returns the CPU time that the process has used in earlier terms.
func (p *pe) usedBefore() time.Duration {
	if p.process == nil {
		return 0
	}
	return p.process.used
}

// settleTime is how long PEs poll before they show what they wait for.
const settleTime = 5 * time.Millisecond

// settledTable returns what tableOf does, after settleTime if a PE seems to compute: it may have just begun to wait.
func settledTable(first int, states []*boot.State, pes []pe) []frame.Blocked {
	rows := tableOf(first, states, pes)
	for _, row := range rows {
		if !row.Exited && row.Op == boot.NotBlocked {
			time.Sleep(settleTime)
			return tableOf(first, states, pes)
		}
	}
	return rows
}

// tableOf returns a copy of the Blocked page of each PE of this host, whose first has the number first.
func tableOf(first int, states []*boot.State, pes []pe) []frame.Blocked {
	now := time.Now().UnixNano()
	var rows []frame.Blocked
	for i, st := range states {
		b := &st.Blocked
		row := frame.Blocked{PE: first + i, Op: boot.BlockedOp(b.Op.Load()), Exited: pes[i].ended != nil}
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
