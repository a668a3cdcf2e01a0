package launch

// The end of a job that one of its PEs wants (World.GlobalExit). All PEs go at once, whatever they are
// doing, and none of them may take that for a failure of the others and say so. So the PEs of every host
// are stopped first, and killed when all have been.

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exitTime is how long agents may take to pass on the last output.
const exitTime = 5 * time.Second

// watchExit waits for a PE that wants the job to end.
func (a *agent) watchExit() {
	pe, status := a.segment.AwaitExit()
	a.wanted <- exitAsked{pe, status}
}

// freeze stops every PE where it is.
func (a *agent) freeze() {
	a.frozen = true
	a.signalAll(unix.SIGSTOP)
}

// exitWanted begins the end that a PE of h wants. If a PE has failed before, it remains the reason.
func (j *job) exitWanted(h *host, x exitAsked) {
	j.spec.Logf("host %s: PE %d ends the job with status %d", h.Name, x.PE, x.Status)
	if !j.exiting {
		j.exiting = true
		j.status = x.Status
		if len(j.deaths) > 0 {
			first, _ := j.cause()
			j.status = max(x.Status, exitStatus(first.death))
		}
		j.killAgentsAfter(j.spec.Grace)
		for _, other := range j.hosts {
			if other != h && other.running() {
				other.send.bytes(toFreeze)
			}
		}
	}
	j.killWhenFrozen()
}

// killWhenFrozen kills all PEs when those of every host have been stopped. The agents live on to pass on
// what the PEs have written.
func (j *job) killWhenFrozen() {
	if !j.exiting || j.exited {
		return
	}
	for _, h := range j.hosts {
		if h.running() && !h.frozen {
			return
		}
	}
	j.exited = true
	j.signal(toSignal, syscall.SIGKILL)
	j.killAgentsAfter(exitTime)
}

// running reports whether the host may have live PEs.
func (h *host) running() bool { return h.started && !h.done && !h.gone }
