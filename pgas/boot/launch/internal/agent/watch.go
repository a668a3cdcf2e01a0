package agent

// What PEs write into the segment for their agent, and what the agent tells the launcher of that: accusations, a call
// of GlobalExit, connections to other agents that have ended. The agent's clock is here too.

import (
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"golang.org/x/sys/unix"
)

// watchAccusations waits for the accusations by PEs of this host, until they have ended.
func (a *Agent) watchAccusations() {
	for seen := uint64(0); ; {
		var x boot.Accusation
		x, seen = a.segment.AwaitAccusation(seen)
		select {
		case a.accusations <- x:
		case <-a.over:
			return
		}
	}
}

// reportAccusation sends x to the launcher, unless the accuser has left the job and need not be answered.
func (a *Agent) reportAccusation(x boot.Accusation) {
	first := a.cfg.Hosts[a.cfg.Host].First
	if i := x.By - first; i >= 0 && i < len(a.segment.States) && boot.Membership(a.segment.States[i].Membership.Load()) == boot.Joined {
		a.accusing = true
		a.out.SendValue(frame.FromAccused, x)
	}
}

// watchGlobalExit waits until a PE of this host calls GlobalExit, or all have ended.
func (a *Agent) watchGlobalExit() {
	pe, status := a.segment.AwaitExit()
	select {
	case a.globalExits <- frame.GlobalExit{PE: pe, Status: status}:
	case <-a.over:
	}
}

// stopPEs stops every PE where it is.
func (a *Agent) stopPEs() {
	a.stopped = true
	a.signalAll(unix.SIGSTOP)
}

// reportLostHost tells the launcher that the connection to the agent of the host with the first PE pe has ended, as it
// does when that agent is done.
func (a *Agent) reportLostHost(pe int) {
	a.out.Send(frame.FromLostHost, binary.BigEndian.AppendUint32(nil, uint32(pe)))
}

// answerClock answers a question of the launcher. The agent's reader calls it, so that nothing else delays the answer.
func (a *Agent) answerClock(asked []byte) {
	now := boot.Clock()
	go a.out.Send(frame.FromClock, asked, binary.BigEndian.AppendUint64(nil, uint64(now)))
}
