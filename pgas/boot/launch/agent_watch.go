package launch

// What PEs write into the segment for their agent, and what the agent tells the launcher of that: accusations, a call of
// GlobalExit, connections to other agents that have ended. The agent's clock is here too.

import (
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas/boot"
	"golang.org/x/sys/unix"
)

// watchAccusations waits for the accusations by PEs of this host, for ever.
func (a *agent) watchAccusations() {
	for seen := uint64(0); ; {
		var x boot.Accusation
		x, seen = a.segment.AwaitAccusation(seen)
		a.accusations <- x
	}
}

// reportAccusation sends x to the launcher, unless the accuser has left the job and need not be answered.
func (a *agent) reportAccusation(x boot.Accusation) {
	first := a.cfg.Hosts[a.cfg.Host].First
	if i := x.By - first; i >= 0 && i < len(a.segment.States) && boot.Membership(a.segment.States[i].Membership.Load()) == boot.Joined {
		a.accusing = true
		a.out.value(fromAccused, x)
	}
}

// watchGlobalExit waits until a PE of this host calls GlobalExit.
func (a *agent) watchGlobalExit() {
	pe, status := a.segment.AwaitExit()
	a.globalExits <- globalExit{pe, status}
}

// stopPEs stops every PE where it is.
func (a *agent) stopPEs() {
	a.stopped = true
	a.signalAll(unix.SIGSTOP)
}

// reportLostHost tells the launcher that the connection to the agent of the host with the first PE pe has ended, as it does
// when that agent is done.
func (a *agent) reportLostHost(pe int) {
	a.out.bytes(fromLostHost, binary.BigEndian.AppendUint32(nil, uint32(pe)))
}

// answerClock answers a question of the launcher. The agent's reader calls it, so that nothing else delays the answer.
func (a *agent) answerClock(asked []byte) {
	now := boot.Clock()
	go a.out.bytes(fromClock, asked, binary.BigEndian.AppendUint64(nil, uint64(now)))
}
