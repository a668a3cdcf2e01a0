package launch

// A host whose agent is gone although the command that has started it goes on: srun waits for a node whose daemon was
// killed, and ssh for a host that was switched off. The agents of other hosts have connections to it, for the
// exchange, which the kernel closes with the agent. They tell the launcher.
//
// But a connection can also end while both hosts are well, and after the start nothing needs it. So the launcher asks
// the agent itself whether it is there. Only when it has been silent since, and nothing that it had sent before is
// still to be read, does the launcher end the command, and with that the host's part of the job.

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// An agent has lostLooks times lostGrace to answer.
const (
	lostGrace = 500 * time.Millisecond
	lostLooks = 4
)

// noteLostHost asks the agent that by's has lost whether it is there.
func (j *job) noteLostHost(by *host, first []byte) {
	if len(first) != 4 {
		return
	}
	h := j.hostOf(int(binary.BigEndian.Uint32(first)))
	if !h.mayBeLost() || h.suspected != nil {
		return
	}
	h.suspected = &suspicion{by: by, frames: h.frames.Load()}
	go h.send.Send(frame.ToPing) // the command may not take it
	j.lookAgain(h)
}

func (j *job) lookAgain(h *host) {
	time.AfterFunc(lostGrace, func() { j.post(event{host: h, change: lostHost}) })
}

// lookForLostHost ends the command of h's agent if that has not answered. What it has sent before comes first, and a
// reader of the launcher's output may take its time for it.
func (j *job) lookForLostHost(h *host) {
	s := h.suspected
	if s == nil || !h.mayBeLost() {
		return
	}
	if frames := h.frames.Load(); frames != s.frames || h.writing.Load() {
		s.frames, s.looks = frames, 0
	} else if s.looks++; s.looks >= lostLooks {
		j.spec.Logf("host %s: its agent is gone, and `%v` has not noticed: ending that", h.Name, h.agent)
		h.pinError(fmt.Sprintf("host %s has lost the connection to it, and it does not answer the launcher", s.by.Name))
		h.kill()
		return
	}
	j.lookAgain(h)
}
