package launch

// Events, and what the event loop does about each of them: two tables.

import (
	"fmt"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// event is a frame from a host, or a change of its agent's command.
type event struct {
	host   *host
	change change
	frame  frame.Kind  // the kind of the frame, if change is arrived
	data   []byte      // the data of the frame
	at     int64       // when it came, by the launcher's clock
	err    error       // the error of agentExited, otherVersion and badFrame
	bytes  int         // the bytes of staged
	relay  *relayLink  // the relay of relayEnded
	link   *spawn.Link // the command that it is of; nil: it is of no command
}

// change is what an event tells of a host.
type change uint8

const (
	arrived      change = iota // a frame has come from its agent
	agentExited                // the agent's command has ended
	hostSwept                  // the processes that the agent had left have been killed
	notAnAgent                 // the command is no agent
	otherVersion               // the command is an agent of another version: err
	badFrame                   // the command has sent what no agent sends: err
	lostHost                   // another agent has lost this host's, some time ago
	agentGreeted               // the command is an agent, and reads its input
	// the command of a relay has ended; host is nil if the agent of the relay's host had ended before
	relayEnded
	staged // a piece of a file has been sent to the host
)

// changes says what the event loop does about each change but a frame.
var changes = map[change]func(*job, *host, event){
	agentExited: func(j *job, h *host, e event) {
		if !h.ended {
			j.handleAgentExit(h, e.err)
		}
	},
	relayEnded:   func(j *job, h *host, e event) { j.handleRelayEnd(e.relay, h, e.err) },
	hostSwept:    func(j *job, h *host, e event) { h.gone = true },
	notAnAgent:   func(j *job, h *host, e event) { j.cannotRun(h, j.strangerError(h, e)) },
	otherVersion: func(j *job, h *host, e event) { j.cannotRun(h, j.strangerError(h, e)) },
	badFrame: func(j *job, h *host, e event) {
		j.cannotRun(h, j.strangerError(h, e))
		h.kill()
	},
	lostHost: func(j *job, h *host, e event) { j.lookForLostHost(h) },
	agentGreeted: func(j *job, h *host, e event) {
		h.greeted = true
		j.sendConfig(h)
	},
	staged: func(j *job, h *host, e event) { j.reportStaging(e.bytes) },
}

// arrivals says what the event loop does about a frame of each kind.
var arrivals = map[frame.Kind]func(*job, *host, event){
	frame.FromAbort: func(j *job, h *host, e event) {
		h.done = true // it sweeps up what it has started
		j.cannotRun(h, j.agentError(h, string(e.data)))
	},
	frame.FromReady:   (*job).handleReady,
	frame.FromStarted: (*job).handleStarted,
	frame.FromInputTaken: func(j *job, h *host, e event) {
		select {
		case j.inputTaken <- struct{}{}:
		default:
		}
	},
	frame.FromDeath: with(func(j *job, h *host, e event, d frame.Death) {
		h.updateClockOffset(d.SentAt, e.at)
		if j.live != nil {
			j.live.noteDeath(d)
		}
		j.handleDeath(h, d)
	}),
	frame.FromTable:   with(func(j *job, h *host, e event, rows []frame.Blocked) { j.handleTable(h, rows) }),
	frame.FromAccused: with(func(j *job, h *host, e event, x boot.Accusation) { j.handleAccusation(x) }),
	frame.FromGlobalExit: with(func(j *job, h *host, e event, x frame.GlobalExit) {
		h.stopped = true
		j.handleGlobalExit(h, x)
	}),
	frame.FromLostHost: func(j *job, h *host, e event) { j.noteLostHost(h, e.data) },
	frame.FromLive:     with(func(j *job, h *host, e event, states []PEState) { j.noteLive(h, states) }),
	frame.FromClock:    func(j *job, h *host, e event) { h.noteClock(e.data, e.at) },
	frame.FromPing:     func(j *job, h *host, e event) { h.suspected = nil },
	frame.FromStopped: func(j *job, h *host, e event) {
		h.stopped = true
		j.killWhenStopped()
	},
	frame.FromSignal: func(j *job, h *host, e event) {
		if j.userSignal == 0 && len(e.data) == 1 { // each host's agent gets it, and only the first counts
			j.handleSignal(syscall.Signal(e.data[0]))
		}
	},
	frame.FromStalled: func(j *job, h *host, e event) {
		h.stalled = len(e.data) == 1 && e.data[0] == 1
		j.lookForStall()
	},
	frame.FromLog:   func(j *job, h *host, e event) { j.spec.Logf("host %s: %s", h.Name, e.data) },
	frame.FromStats: with(func(j *job, h *host, e event, stats []PEStats) { j.stats = append(j.stats, stats...) }),
	frame.FromDone: func(j *job, h *host, e event) {
		h.done = true
		j.killWhenStopped()
	},
}

// with returns a function that calls f with what a frame holds. A frame that does not hold a T is left out.
func with[T any](f func(*job, *host, event, T)) func(*job, *host, event) {
	return func(j *job, h *host, e event) {
		content, err := frame.Value(e.frame, e.data)
		if v, ok := content.(T); ok && err == nil {
			f(j, h, e, v)
		}
	}
}

// handle does what the tables say of an event.
func (j *job) handle(e event) {
	if e.link != nil && e.link != e.host.link {
		return // of an agent that was lost, and has been started again
	}
	if e.host != nil && e.host.idle && e.change != relayEnded {
		j.handleIdle(e.host, e)
		return
	}
	do := changes[e.change]
	if e.change == arrived {
		do = arrivals[e.frame]
	}
	if do != nil {
		do(j, e.host, e)
	}
}

// handleIdle handles an event of a host without a place in the job.
func (j *job) handleIdle(h *host, e event) {
	switch e.change {
	case agentExited:
		h.ended, h.gone = true, h.gone || !h.lost
		j.dropSpare(h, h.endError(e.err))
	case hostSwept:
		h.gone = true
	case agentGreeted:
		h.greeted = true
	case notAnAgent, otherVersion, badFrame:
		j.dropSpare(h, j.strangerError(h, e))
		h.kill()
	case staged:
		j.reportStaging(e.bytes)
	}
}

// strangerError says why the command of h's agent is none of this version.
func (j *job) strangerError(h *host, e event) error {
	switch e.change {
	case notAnAgent:
		return fmt.Errorf("host %s: `%v` prints something else than an agent does: it must run the command that follows it, and print nothing itself", h.Name, h.agent)
	case badFrame:
		return fmt.Errorf("host %s: `%v` sends what no agent does (%w): it must run the command that follows it, and write nothing to its standard output itself", h.Name, h.agent, e.err)
	}
	return fmt.Errorf("host %s: %w", h.Name, e.err)
}

// handleReady handles what h's agent says of its host when it is ready.
func (j *job) handleReady(h *host, e event) {
	h.ready = new(frame.Ready)
	if err := frame.Decode(e.data, h.ready); err != nil {
		h.ready = nil
		j.cannotRun(h, j.agentError(h, "its agent is of another version"))
		return
	}
	h.answered = true
	h.updateClockOffset(h.ready.SentAt, e.at)
	h.clock = &HostClock{Host: h.Name, Same: h.ready.Clock != "" && h.ready.Clock == frame.ClockID()}
	j.startWhenReady()
}

// handleStarted notes that the PEs of h run.
func (j *job) handleStarted(h *host, _ event) {
	if j.live != nil {
		j.askLive(h, 0)
	}
	j.spec.Logf("host %s: %s run, from PE %d on", h.Name, plural.Count(h.PEs, "PE"), h.First)
}

// post sends an event to the event loop, unless the job is closed.
func (j *job) post(e event) {
	e.at = boot.Clock()
	select {
	case j.events <- e:
	case <-j.closed:
	}
}

// askLive asks h's agent after some time.
func (j *job) askLive(h *host, after time.Duration) {
	send := h.send
	time.AfterFunc(after, func() {
		select {
		case <-j.closed:
		default:
			send.Send(frame.ToLive)
		}
	})
}

// noteLive notes an answer of h's agent, and has it asked again.
func (j *job) noteLive(h *host, states []PEState) {
	if j.live == nil {
		return
	}
	j.live.note(h, states)
	j.askLive(h, livePeriod*time.Duration(1+j.npes/256))
}
