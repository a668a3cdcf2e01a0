package launch

// World.GlobalExit: a PE ends the job. All PEs are ended, whatever they are doing, and none of them may
// report the end of others as a failure. So the PEs of all hosts are stopped first, and killed when all are stopped.

import (
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// outputTime is how long agents may take to pass on the last output.
const outputTime = 5 * time.Second

// handleGlobalExit begins the end of the job, for a PE of h that called GlobalExit. If a PE has failed before, that
// remains the reason.
func (j *job) handleGlobalExit(h *host, x frame.GlobalExit) {
	j.spec.Logf("host %s: PE %d ends the job with status %d", h.Name, x.PE, x.Status)
	if !j.globalExiting {
		j.globalExiting = true
		j.status = x.Status
		if len(j.deaths) > 0 {
			first, _ := j.rootCause(j.tails)
			j.status = max(x.Status, first.Death.ExitStatus())
		}
		j.killAgentsAfter(j.spec.Grace)
		for _, other := range j.hosts {
			if other != h && other.running() {
				other.send.Send(frame.ToStop)
			}
		}
	}
	j.killWhenStopped()
}

// killWhenStopped kills all PEs when those of every host have been stopped. The agents remain, to pass on
// what the PEs have written.
func (j *job) killWhenStopped() {
	if !j.globalExiting || j.globalExitKilled {
		return
	}
	for _, h := range j.hosts {
		if h.running() && !h.stopped {
			return
		}
	}
	j.globalExitKilled = true
	j.signal(frame.ToSignal, syscall.SIGKILL)
	j.killAgentsAfter(outputTime)
}
