package launch

// One host as the launcher sees it: the command that runs its agent, and what the agent sends.

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/spawn"
)

// host is one agent and its state.
type host struct {
	boot.Host
	index int
	mark  string // of what its agent starts, in all terms: see boot.JobMark
	agent spawn.Line
	link  *spawn.Link
	// the hosts of the relays through which the agent is reached, the nearest first; none: the launcher has started it
	// itself
	via  []*host
	send *frame.Sender

	idle       bool     // it has no place in the job: it is a spare, or another host has taken its place
	spare      bool     // it waits for a place
	substitute bool     // it has taken the place of another host
	greeted    bool     // the command is an agent, and reads its input
	answered   bool     // the agent has been ready for PEs
	failed     failures // in a row

	hostTerm
	frames  atomic.Int64 // the number of frames that have come
	writing atomic.Bool  // what its PEs have printed is being written

	mu sync.Mutex // guards the fields below
	// the last line the command wrote to its standard error; of a crash or a known failure, the first
	lastErr string
	pinned  bool   // lastErr is that first line
	remedy  string // the remedy of the failure that lastErr is about
}

// failures are those of a host in a row, up to now.
type failures struct {
	lost, killed int
}

// hostTerm is what the launcher knows of a host in one term.
type hostTerm struct {
	ready          *frame.Ready
	started        bool  // it has been told to start its PEs
	stopped        bool  // its PEs have been stopped, to be killed
	done           bool  // its agent has reported that no process is left
	ended          bool  // its command has ended
	gone           bool  // its command has ended, and no process is left
	lost           bool  // its agent ended without that report, and another one kills what is left
	lostAlone      bool  // it is lost, and not with the relay on another host
	unfit          error // why it cannot run PEs, so that another host has to; nil: it can
	table          []frame.Blocked
	clockOffset    *int64     // the launcher's clock less the host's; nil: not known
	clock          *HostClock // the clock for traces; nil: its agent has not answered
	stalled        bool       // every PE of the host is stalled
	tableRequested bool       // the table has been requested, to be printed
	suspected      *suspicion
}

// forget forgets what a command of h's agent has said that has ended.
func (h *host) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastErr, h.remedy, h.pinned = "", "", false
}

// hasAnswered reports whether nothing more is awaited from h before the PEs of a term are started.
func (h *host) hasAnswered() bool { return h.ready != nil || h.gone || h.unfit != nil }

// kill kills the command of h's agent, with the local processes that it has started.
func (h *host) kill() {
	if h.link != nil && !h.gone {
		h.link.Signal(unix.SIGKILL)
	}
}

// noteError keeps a line of the command's standard error, unless a more telling one is kept.
func (h *host) noteError(text, agent string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pinned {
		return
	}
	said, _ := output.Clip([]byte(text))
	h.lastErr, h.remedy = string(said), explainLaunch(text, h.Name, agent)
	h.pinned = h.remedy != "" || output.CrashBegins.MatchString(text)
}

// pinError keeps the reason why h's agent is ended.
func (h *host) pinError(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastErr, h.remedy, h.pinned = text, "", true
}

// endError returns an error that says how the command of h's agent ended, which should not have.
func (h *host) endError(err error) error {
	h.mu.Lock()
	last, remedy := h.lastErr, h.remedy
	h.mu.Unlock()
	how := "ended"
	if err != nil {
		how += " (" + err.Error() + ")"
	}
	if last != "" {
		how += ": " + strings.TrimRight(last, ".")
	}
	started := h.ready != nil || h.greeted && (h.answered || h.substitute || h.idle)
	if len(h.via) > 0 && h.via[0] != h && !started {
		how += fmt.Sprintf(" (started from host %s; with a higher -fan-out the launcher starts it itself)", h.via[0].Name)
	}
	switch {
	case !started && remedy != "":
		return fmt.Errorf("host %s: `%v` %s: %s", h.Name, h.agent, how, remedy)
	case !started:
		return fmt.Errorf("host %s: `%v` %s; it must run there without a question (check the host's name, -launch, and that pgasrun is at that path)", h.Name, h.agent, how)
	}
	if !h.started {
		return fmt.Errorf("host %s: the agent %s", h.Name, how)
	}
	return fmt.Errorf("host %s: the agent %s; its PEs are lost", h.Name, how)
}

// A suspicion is what the launcher knows of an agent that another one has lost.
type suspicion struct {
	by     *host
	looks  int   // the looks at which the host had been silent
	frames int64 // the frames that had come from the host at the last look
}

// noteClock notes the answer of h's agent, which has come at the time arrived.
func (h *host) noteClock(data []byte, arrived int64) {
	if len(data) != 16 || h.clock == nil {
		return
	}
	asked, at := int64(binary.BigEndian.Uint64(data)), int64(binary.BigEndian.Uint64(data[8:]))
	if asked > arrived {
		return
	}
	h.clock.add(ClockSample{At: at, Offset: (asked+arrived)/2 - at, Error: (arrived-asked)/2 + 1})
}

// running reports whether the host may have live PEs.
func (h *host) running() bool { return h.started && !h.done && !h.gone }

// mayBeLost reports whether h's agent is to be there.
func (h *host) mayBeLost() bool {
	return h.link != nil && h.started && !h.done && !h.ended && !h.gone
}

// behind reports whether h is other, or is reached through it.
func (h *host) behind(other *host) bool {
	return h == other || slices.Contains(h.via, other)
}

// updateClockOffset lowers the offset of h's clock to that of a frame, if it is less. sentAt is by h's clock, arrived
// by the launcher's.
func (h *host) updateClockOffset(sentAt, arrived int64) {
	if sentAt != 0 && (h.clockOffset == nil || arrived-sentAt < *h.clockOffset) {
		offset := arrived - sentAt
		h.clockOffset = &offset
	}
}

// hostOf returns the host of a PE.
func hostOf(hosts []*host, pe int) *host {
	at := slices.IndexFunc(hosts, func(h *host) bool { return pe < h.First+h.PEs })
	return hosts[max(at, 0)]
}
