package frame

// Frames, and what each kind of them holds.
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

	"github.com/gopgas/gopgas/pgas/boot"
)

// maxFrame bounds what a frame holds.
const maxFrame = 16 << 20

// Kind names a frame. Upper case goes to the agent, lower case comes from it.
type Kind byte

const (
	ToConfig    Kind = 'C' // config: the first frame
	ToStart     Kind = 'S' // start
	ToInput     Kind = 'I' // bytes for PE 0; the agent answers FromInputTaken
	ToEOF       Kind = 'E' // the end of PE 0's input
	ToSignal    Kind = 'G' // one byte: for every PE
	ToTerminate Kind = 'K' // the same, because the job ends for a reason that the launcher reports
	ToFailed    Kind = 'F' // death: of a PE on another host
	ToTable     Kind = 'T' // asks for FromTable
	ToPing      Kind = 'W' // nothing; the agent answers FromPing
	ToClock     Kind = 'Q' // the launcher's clock[8]; the agent answers FromClock
	ToLive      Kind = 'L' // nothing; the agent answers FromLive
	ToStop      Kind = 'Z' // nothing: stop every PE where it is; the agent answers FromStopped
	ToEndTerm   Kind = 'N' // nothing: end the term: PEs that stay for another leave it, others are killed

	ToRelay       Kind = 'R' // RelayConfig: the first frame to an agent that becomes a relay
	ToHosts       Kind = 'H' // []boot.Host: the first frame to an agent that a relay has started, of that
	ToChild       Kind = 'D' // host[4], then bytes for the standard input of its agent
	ToChildSignal Kind = 'X' // host[4], one byte: for the command of its agent

	FromChild       Kind = 'c' // host[4], then bytes of the standard output of its agent's command
	FromChildErrors Kind = 'q' // the same of its standard error
	FromChildStaged Kind = 'p' // host[4], how many bytes of a file it has been sent[4]
	FromChildEnd    Kind = 'y' // host[4], text: its agent's command has ended, and why

	FromReady      Kind = 'r' // ready
	FromStarted    Kind = 's' // nothing
	FromStdout     Kind = 'o' // PE[4], then bytes of its standard output
	FromStderr     Kind = 'e' // the same of its standard error
	FromProfile    Kind = 'u' // PE[4], boot.ProfileKind[1], then bytes of that profile; without any, it is complete
	FromInputTaken Kind = 't' // PE 0 has taken what ToInput held
	FromDeath      Kind = 'd' // death
	FromTable      Kind = 'b' // []blocked
	FromAccused    Kind = 'a' // boot.Accusation: a PE of this host reports that another does not answer
	FromGlobalExit Kind = 'g' // GlobalExit: a PE ends the job; those of this host have been stopped
	FromStopped    Kind = 'f' // nothing
	// PE[4]: the agent of the host that it is the first of has closed its connection to this one
	FromLostHost Kind = 'n'
	FromPing     Kind = 'w' // nothing
	FromSignal   Kind = 'i' // one byte: the agent has got it, and passes it to the launcher as if that had
	FromTrace    Kind = 'v' // PETrace: a piece of what a PE of this host has recorded, before FromStats
	FromClock    Kind = 'k' // what ToClock held[8], the agent's clock[8]
	FromLive     Kind = 'm' // []PEState: of the PEs of this host
	FromStats    Kind = 'j' // []PEStats: of the PEs of this host, before FromDone
	FromStalled  Kind = 'h' // one byte: 1 when every PE of this host is stalled, 0 when no longer
	FromLog      Kind = 'l' // text for -v
	FromAbort    Kind = 'x' // text: why the job cannot start on this host
	FromDone     Kind = 'z' // nothing: every process is gone, all output is sent
)

// direction is the way that frames of a kind go.
type direction uint8

const (
	toAgent   direction = iota + 1
	fromAgent           // to the launcher
	fromRelay           // to the launcher, about the command of another host's agent
)

// frames says of each kind which way it goes, and what its content is decoded into; nil stands for bytes.
var frames = map[Kind]struct {
	direction direction
	decode    func(content []byte) (any, error)
}{
	ToConfig: {toAgent, value[Config]}, ToStart: {toAgent, value[Start]}, ToInput: {toAgent, nil}, ToEOF: {toAgent, nil},
	ToSignal: {toAgent, nil}, ToTerminate: {toAgent, nil}, ToFailed: {toAgent, value[Death]}, ToTable: {toAgent, nil},
	ToPing: {toAgent, nil}, ToClock: {toAgent, nil}, ToLive: {toAgent, nil}, ToStop: {toAgent, nil}, ToEndTerm: {toAgent, nil},
	ToRelay: {toAgent, value[RelayConfig]}, ToHosts: {toAgent, value[[]boot.Host]}, ToChild: {toAgent, nil}, ToChildSignal: {toAgent, nil},

	FromChild: {fromRelay, nil}, FromChildErrors: {fromRelay, nil}, FromChildStaged: {fromRelay, nil}, FromChildEnd: {fromRelay, nil},

	FromReady: {fromAgent, value[Ready]}, FromStarted: {fromAgent, nil}, FromStdout: {fromAgent, nil}, FromStderr: {fromAgent, nil},
	FromProfile: {fromAgent, nil}, FromInputTaken: {fromAgent, nil}, FromDeath: {fromAgent, value[Death]},
	FromTable: {fromAgent, value[[]Blocked]}, FromAccused: {fromAgent, value[boot.Accusation]},
	FromGlobalExit: {fromAgent, value[GlobalExit]}, FromStopped: {fromAgent, nil}, FromLostHost: {fromAgent, nil}, FromPing: {fromAgent, nil},
	FromSignal: {fromAgent, nil}, FromTrace: {fromAgent, value[PETrace]}, FromClock: {fromAgent, nil},
	FromLive: {fromAgent, value[[]PEState]}, FromStats: {fromAgent, value[[]PEStats]}, FromStalled: {fromAgent, nil},
	FromLog: {fromAgent, nil}, FromAbort: {fromAgent, nil}, FromDone: {fromAgent, nil},
}

// FromAgent reports whether agents send frames of kind k to the launcher.
func FromAgent(k Kind) bool { return frames[k].direction == fromAgent }

// Value returns what the content of a frame of kind k is decoded into.
func Value(k Kind, content []byte) (any, error) {
	decode := frames[k].decode
	if decode == nil {
		return content, nil
	}
	return decode(content)
}

func value[T any](content []byte) (any, error) {
	var v T
	err := Decode(content, &v)
	return v, err
}

// Sender writes frames. Any number of goroutines may use it.
type Sender struct {
	mu     sync.Mutex
	w      io.Writer
	failed error // the error of the first write that failed: what follows half a frame would be misread
}

// NewSender returns a sender that writes frames to w.
func NewSender(w io.Writer) *Sender { return &Sender{w: w} }

// Send sends a frame of kind k that holds parts, one behind the other.
func (s *Sender) Send(k Kind, parts ...[]byte) error {
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

// SendValue sends v. Arguments and variables may hold any bytes, which gob preserves.
func (s *Sender) SendValue(k Kind, v any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	return s.Send(k, b.Bytes())
}

// Decode decodes what value has sent.
func Decode(content []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(content)).Decode(v)
}

// Read reads a frame.
func Read(r *bufio.Reader) (Kind, []byte, error) {
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
	return Kind(head[0]), content, err
}

// Protocol numbers the contract between launcher and agent. It changes with the frames and what they hold.
const Protocol = 17
