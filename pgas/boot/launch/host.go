package launch

// One host as the launcher sees it: the command that runs its agent, and what the agent sends.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
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
	agent spawn.Line
	link  *spawn.Link
	via   *relayLink // through which the agent is reached; nil: the launcher has started it itself
	send  *frame.Sender

	ready          *frame.Ready
	started        bool // it has been told to start its PEs
	stopped        bool // its PEs have been stopped, to be killed
	done           bool // its agent has reported that no process is left
	ended          bool // its command has ended
	gone           bool // its command has ended, and no process is left
	lost           bool // its agent ended without that report, and another one kills what is left
	table          []frame.Blocked
	clockOffset    *int64     // the launcher's clock less the host's; nil: not known
	clock          *HostClock // for traces; nil: its agent has not answered
	stalled        bool       // every PE of it is stalled
	tableRequested bool       // the table has been requested, to be printed
	suspected      *suspicion

	frames  atomic.Int64 // that have come
	writing atomic.Bool  // what its PEs have printed is being written

	mu      sync.Mutex // guards what follows
	lastErr string     // the last line the command wrote to its standard error; of a crash or a known failure, the first
	pinned  bool       // lastErr is that first line
	remedy  string     // of that failure
}

// event is a frame from a host, or a change of its agent's command.
type event struct {
	host    *host
	kind    frame.Kind
	data    []byte
	arrived int64      // the launcher's clock
	err     error      // of agentExited, otherVersion and badFrame
	bytes   int        // of staged
	relay   *relayLink // of relayEnded
}

// Events that are not frames.
const (
	agentExited  frame.Kind = 0 // the agent's command has ended
	hostSwept    frame.Kind = 1 // the processes that it had left have been killed
	notAnAgent   frame.Kind = 2 // the command is no agent
	otherVersion frame.Kind = 7 // the command is an agent of another version: err
	badFrame     frame.Kind = 6 // the command has sent what no agent sends: err
	lostHost     frame.Kind = 8 // another agent has lost the host's, some time ago
	agentGreeted frame.Kind = 3 // the command is an agent, and reads its input
	relayEnded   frame.Kind = 5 // the command of a relay has ended; host is nil if the agent of its host had ended before
	staged       frame.Kind = 4 // a piece of a file has been sent to the host
)

// follow reads what the command of h's agent writes, until its end.
func (j *job) follow(h *host, l *spawn.Link) {
	h.link, h.send = l, frame.NewSender(l.In)
	var readers sync.WaitGroup
	readers.Go(func() { j.readErrors(h, l.Errs) })
	readers.Go(func() { j.readFrames(h, l.Out) })
	go func() {
		readers.Wait()
		j.post(event{host: h, kind: agentExited, err: l.Wait()})
	}()
}

// kill kills the command of h's agent, with the local processes that it has started.
func (h *host) kill() {
	if h.link != nil && !h.gone {
		h.link.Signal(unix.SIGKILL)
	}
}

// readFrames writes the output of h's PEs itself, so that a slow reader of the launcher's output slows only these,
// and posts all other frames.
func (j *job) readFrames(h *host, out io.Reader) {
	r := bufio.NewReaderSize(out, output.MaxLine)
	progress := func(n int) { j.post(event{host: h, kind: staged, bytes: n}) }
	text, err := spawn.AwaitGreeting(r, h.link.In, j.spec.files, progress)
	other := frame.CheckGreeting(text)
	if err != nil || other != nil {
		switch {
		case err == spawn.ErrNoGreeting:
			j.post(event{host: h, kind: notAnAgent})
		case err == nil:
			j.post(event{host: h, kind: otherVersion, err: other})
		}
		io.Copy(io.Discard, r)
		return
	}
	j.post(event{host: h, kind: agentGreeted})
	for {
		k, data, err := frame.Read(r)
		if err == nil && !fromAgent[k] {
			err = fmt.Errorf("a frame of unknown kind %q", k)
		}
		h.frames.Add(1)
		switch {
		case isEnd(err):
			return
		case err != nil:
			j.post(event{host: h, kind: badFrame, err: err})
			io.Copy(io.Discard, r)
			return
		case k == frame.FromStdout || k == frame.FromStderr:
			h.writing.Store(true)
			j.output(k, data)
			h.writing.Store(false)
		case k == frame.FromProfile:
			h.writing.Store(true)
			j.profile(data)
			h.writing.Store(false)
		case k == frame.FromTrace:
			h.writing.Store(true)
			j.trace(h, data)
			h.writing.Store(false)
		default:
			j.post(event{host: h, kind: k, data: data})
		}
	}
}

// fromAgent are the kinds of frames that an agent sends.
var fromAgent = map[frame.Kind]bool{
	frame.FromReady: true, frame.FromStarted: true, frame.FromStdout: true, frame.FromStderr: true, frame.FromProfile: true, frame.FromInputTaken: true, frame.FromDeath: true, frame.FromTable: true,
	frame.FromAccused: true, frame.FromGlobalExit: true, frame.FromStopped: true, frame.FromLostHost: true, frame.FromSignal: true, frame.FromPing: true, frame.FromStats: true, frame.FromStalled: true, frame.FromTrace: true, frame.FromClock: true, frame.FromLive: true, frame.FromLog: true, frame.FromAbort: true, frame.FromDone: true,
}

// isEnd reports whether err is the end of a stream, be it in the middle of a frame, and no fault of what was read.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed)
}

// profile hands a piece of a profile to the spec's function.
func (j *job) profile(data []byte) {
	const head = 5
	if len(data) < head || j.spec.Profiles == nil {
		return
	}
	pe, k := int(binary.BigEndian.Uint32(data)), boot.ProfileKind(data[4])
	if pe < j.npes && k.String() != "" {
		j.spec.Profiles(pe, k, data[head:])
	}
}

// streamOf are the streams whose pieces come in frames of a kind.
var streamOf = map[frame.Kind]Stream{frame.FromStdout: Stdout, frame.FromStderr: Stderr}

func (j *job) output(k frame.Kind, data []byte) {
	if len(data) < 4 {
		return
	}
	pe := int(binary.BigEndian.Uint32(data))
	if pe >= j.npes {
		return
	}
	said, _, _ := output.SplitBars(data[4:])
	if j.spec.Output != nil && len(said) > 0 {
		j.spec.Output(pe, streamOf[k], said)
	}
	if k == frame.FromStdout {
		j.stdout.Write(pe, data[4:])
		return
	}
	j.stderr.Write(pe, data[4:])
	j.tails.Add(pe, said)
}

// readErrors keeps the last line that the command itself (ssh, say) writes to its standard error. Of a traceback it
// keeps the first line, which says what happened; the last ones are registers. A failure that is known is kept too.
func (j *job) readErrors(h *host, errs io.Reader) {
	output.SplitLines(errs, func(piece []byte) {
		for line := range strings.Lines(string(piece)) {
			text := strings.TrimSpace(line)
			if text == "" {
				continue
			}
			h.noteError(text, j.spec.Agent[0])
			j.spec.Logf("host %s: %s", h.Name, text)
		}
	})
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
	if h.via != nil && h.via.host != h && h.ready == nil {
		how += fmt.Sprintf(" (started from host %s; with a higher -fan-out the launcher starts it itself)", h.via.host.Name)
	}
	switch {
	case h.ready == nil && remedy != "":
		return fmt.Errorf("host %s: `%v` %s: %s", h.Name, h.agent, how, remedy)
	case h.ready == nil:
		return fmt.Errorf("host %s: `%v` %s; it must run there without a question (check the host's name, -launch, and that pgasrun is at that path)", h.Name, h.agent, how)
	}
	return fmt.Errorf("host %s: the agent %s; its PEs are lost", h.Name, how)
}
