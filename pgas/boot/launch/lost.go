package launch

// A host whose agent is gone although the command that has started it goes on: srun waits for a node whose daemon was
// killed, and ssh for a host that was switched off. The agents of other hosts have connections to it, for the
// exchange, which the kernel closes with the agent. They tell the launcher, which then ends the command, and with that
// the host's part of the job.

import (
	"encoding/binary"
	"time"
)

// lostGrace is how long the launcher waits for what the agent itself may have sent before it ended: that it is done.
const lostGrace = time.Second

// reportLostHost tells the launcher that the connection to the agent of the host with the first PE pe has ended, as it does
// when that agent is done.
func (a *agent) reportLostHost(pe int) {
	a.out.bytes(fromLostHost, binary.BigEndian.AppendUint32(nil, uint32(pe)))
}

// noteLostHost has endLostHost called for a host that an agent has lost.
func (j *job) noteLostHost(first []byte) {
	if len(first) != 4 {
		return
	}
	h := j.hostOf(int(binary.BigEndian.Uint32(first)))
	time.AfterFunc(lostGrace, func() { j.post(event{host: h, kind: lostHost}) })
}

// endLostHost ends the command of h's agent, if the agent has not said that it is done.
func (j *job) endLostHost(h *host) {
	if h.link == nil || !h.started || h.done || h.ended || h.gone {
		return
	}
	j.spec.Logf("host %s: its agent is gone, and `%v` has not noticed: ending that", h.Name, h.agent)
	h.kill()
}
