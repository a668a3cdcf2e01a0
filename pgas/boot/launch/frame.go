package launch

// What launcher and agent tell each other: frames over the agent's standard input and output. So the launcher needs
// no network besides a command that starts the agent on its host (ssh, ip netns exec, docker exec), and either
// side sees at once that the other is gone.
//
//	frame  kind[1] length[4] content[length]
//
// Before its first frame the agent prints the greeting: a remote shell may have printed a banner before it.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"sync"
)

// maxFrame bounds what a frame holds.
const maxFrame = 16 << 20

// kind names a frame. Upper case goes to the agent, lower case comes from it.
type kind byte

const (
	toConfig    kind = 'C' // config: the first frame
	toStart     kind = 'S' // start
	toInput     kind = 'I' // bytes for PE 0; the agent answers fromInputTaken
	toEOF       kind = 'E' // the end of PE 0's input
	toSignal    kind = 'G' // one byte: for every PE
	toTerminate kind = 'K' // the same, because the job ends for a reason that the launcher reports
	toFailed    kind = 'F' // death: of a PE on another host
	toTable     kind = 'T' // asks for fromTable
	toPing      kind = 'W' // nothing; the agent answers fromPing
	toClock     kind = 'Q' // the launcher's clock[8]; the agent answers fromClock
	toLive      kind = 'L' // nothing; the agent answers fromLive
	toStop      kind = 'Z' // nothing: stop every PE where it is; the agent answers fromStopped

	toRelay       kind = 'R' // relayConfig: the first frame to an agent that becomes a relay
	toHosts       kind = 'H' // []boot.Host: the first frame to an agent that a relay has started, of that
	toChild       kind = 'D' // host[4], then bytes for the standard input of its agent
	toChildSignal kind = 'X' // host[4], one byte: for the command of its agent

	fromChild       kind = 'c' // host[4], then bytes of the standard output of its agent's command
	fromChildErrors kind = 'q' // the same of its standard error
	fromChildStaged kind = 'p' // host[4], how many bytes of a file it has been sent[4]
	fromChildEnd    kind = 'y' // host[4], text: its agent's command has ended, and why

	fromReady      kind = 'r' // ready
	fromStarted    kind = 's' // nothing
	fromStdout     kind = 'o' // PE[4], then bytes of its standard output
	fromStderr     kind = 'e' // the same of its standard error
	fromProfile    kind = 'u' // PE[4], boot.ProfileKind[1], then bytes of that profile; without any, it is complete
	fromInputTaken kind = 't' // PE 0 has taken what toInput held
	fromDeath      kind = 'd' // death
	fromTable      kind = 'b' // []blocked
	fromAccused    kind = 'a' // boot.Accusation: a PE of this host reports that another does not answer
	fromGlobalExit kind = 'g' // globalExit: a PE ends the job; those of this host have been stopped
	fromStopped    kind = 'f' // nothing
	fromLostHost   kind = 'n' // PE[4]: the agent of the host that it is the first of has closed its connection to this one
	fromPing       kind = 'w' // nothing
	fromSignal     kind = 'i' // one byte: the agent has got it, and passes it to the launcher as if that had
	fromTrace      kind = 'v' // PETrace: a piece of what a PE of this host has recorded, before fromStats
	fromClock      kind = 'k' // what toClock held[8], the agent's clock[8]
	fromLive       kind = 'm' // []PEState: of the PEs of this host
	fromStats      kind = 'j' // []PEStats: of the PEs of this host, before fromDone
	fromStalled    kind = 'h' // one byte: 1 when every PE of this host is stalled, 0 when no longer
	fromLog        kind = 'l' // text for -v
	fromAbort      kind = 'x' // text: why the job cannot start on this host
	fromDone       kind = 'z' // nothing: every process is gone, all output is sent
)

// sender writes frames. Any number of goroutines may use it.
type sender struct {
	mu     sync.Mutex
	w      io.Writer
	failed error // of the first write that failed: what follows half a frame would be misread
}

// newSender returns a sender that writes frames to w.
func newSender(w io.Writer) *sender { return &sender{w: w} }

// bytes sends a frame of kind k that holds parts, one behind the other.
func (s *sender) bytes(k kind, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	b := make([]byte, 0, 5+n)
	b = binary.BigEndian.AppendUint32(append(b, byte(k)), uint32(n))
	for _, p := range parts {
		b = append(b, p...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		_, s.failed = s.w.Write(b)
	}
	return s.failed
}

// value sends v. Arguments and variables may hold any bytes, which gob preserves.
func (s *sender) value(k kind, v any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	return s.bytes(k, b.Bytes())
}

// decode decodes what value has sent.
func decode(content []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(content)).Decode(v)
}

// readFrame reads a frame.
func readFrame(r *bufio.Reader) (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes, more than %d", n, maxFrame)
	}
	content := make([]byte, n)
	_, err := io.ReadFull(r, content)
	return kind(head[0]), content, err
}

// protocol numbers the contract between launcher and agent. It changes with the frames and what they hold.
const protocol = 13
