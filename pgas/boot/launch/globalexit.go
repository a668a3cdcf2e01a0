package launch

// The end of a job that one of its PEs wants (World.GlobalExit). All PEs go at once, whatever they are
// doing, and none of them may take that for a failure of the others and say so. So the PEs of every host
// are stopped first, and killed when all have been.

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// outputTime is how long agents may take to pass on the last output.
const outputTime = 5 * time.Second

// watchGlobalExit waits for a PE that wants the job to end.
func (a *agent) watchGlobalExit() {
	pe, status := a.segment.AwaitExit()
	a.globalExits <- globalExit{pe, status}
}

// stopPEs stops every PE where it is.
func (a *agent) stopPEs() {
	a.stopped = true
	a.signalAll(unix.SIGSTOP)
}

// handleGlobalExit begins the end that a PE of h wants. If a PE has failed before, it remains the reason.
func (j *job) handleGlobalExit(h *host, x globalExit) {
	j.spec.Logf("host %s: PE %d ends the job with status %d", h.Name, x.PE, x.Status)
	if !j.globalExiting {
		j.globalExiting = true
		j.status = x.Status
		if len(j.deaths) > 0 {
			first, _ := j.rootCause()
			j.status = max(x.Status, exitStatus(first.death))
		}
		j.killAgentsAfter(j.spec.Grace)
		for _, other := range j.hosts {
			if other != h && other.running() {
				other.send.bytes(toStop)
			}
		}
	}
	j.killWhenStopped()
}

// killWhenStopped kills all PEs when those of every host have been stopped. The agents live on to pass on
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
	j.signal(toSignal, syscall.SIGKILL)
	j.killAgentsAfter(outputTime)
}

// running reports whether the host may have live PEs.
func (h *host) running() bool { return h.started && !h.done && !h.gone }
