package launch

// What launcher and agent tell each other: frames over the agent's standard input and output. So the launcher needs
// no network besides a command that starts the agent on its host (ssh, ip netns exec, docker exec), and either
// side sees at once that the other is gone.
//
//	frame  kind[1] length[4] content[length]
//
// Before its first frame the agent prints the greeting: a remote shell may have printed a banner before.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Bounds of what is read: a frame, and the banner of a remote shell.
const (
	maxFrame  = 16 << 20
	maxBanner = 64 << 10
)

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

// config is what an agent needs to prepare.
type config struct {
	Protocol int // of the segment and the frames
	ID       string
	Hosts    []boot.Host // none: toHosts has told them
	Host     int
	Program  string
	Args     []string // with the name
	Dir      string
	Env      []string      // on top of the agent's own
	Unbound  bool          // PEs run on any CPU
	Stats    bool          // what PEs are blocked in is looked at all the time
	Profiles bool          // PEs send profiles of themselves
	Record   bool          // PEs record what they do (package record)
	Live     bool          // the launcher asks what PEs are doing while they run
	Events   int           // that a PE may record; 0: there is no trace
	Secret   []byte        // of the job; jobs of one host have none
	FanOut   int           // of the tree of the exchange's servers
	Serve    string        // the address at which this agent serves the exchange to other hosts; none: boot.ListenOn finds it
	Hash     bool          // whether to read the whole program
	Staged   string        // hash of the program in the agent's own directory, if it was staged there; Program names the original
	Stall    time.Duration // nothing moves for so long: the launcher is told; 0: it is not
	Sweep    bool          // nothing of the above: kill what is left of job ID on its host Host, and end
}

// ready is an agent's answer to config.
type ready struct {
	Hash   string // of the program
	Memory uint64 // of this host
	Room   boot.HeapRoom
	Addrs  []string // of the exchange on this host, for other hosts
	SentAt int64    // boot.Clock of this host

	Clock   string // see clockID
	Machine string // see hostCPUs
	CPUs    []int
}

// start is sent to every agent when all are ready.
type start struct {
	HeapMax uint64
	Parent  []string // addresses of the exchange on the parent host
	Cores   int      // CPUs that the host has for itself
}

// death says how a PE ended.
type death struct {
	PE        int
	Process   int
	Status    syscall.WaitStatus
	NeverLeft bool      // it had joined the job and did not leave it
	Table     []blocked // of its host, at that moment

	Reason     boot.EndReason // as the PE published it
	Peer       int            // the PE that it has lost, or -1
	FailedAt   int64          // boot.Clock of its host when it failed
	SentAt     int64          // boot.Clock of its host when this was sent
	ByLauncher bool           // killed by a signal that the launcher had sent

	OutOfMemory string // why the kernel has killed it for want of memory; "" if it has not

	Accused *boot.Accusation // other PEs have lost it; if Process is 0, its process may live
}

// failed reports whether the PE failed: its status is not 0, or it has not left the job.
func (d death) failed() bool { return d.Status != 0 || d.NeverLeft }

// failedHow returns the value of boot.Header.FailedHow for d.
func (d death) failedHow() uint64 {
	switch {
	case d.Accused != nil && d.Process == 0:
		return d.Accused.How()
	case d.blamedPE() != d.PE:
		return boot.LostHow
	}
	return uint64(d.Status)
}

// globalExit is a call of World.GlobalExit: by which PE, and with which status.
type globalExit struct {
	PE     int
	Status int
}

// blocked is a PE's Blocked page at some moment.
type blocked struct {
	PE      int
	Op      boot.BlockedOp
	Peer    int
	Seq     uint64
	Team    uint32
	ForNsec int64
	Exited  bool
	Name    string // of the word or the lock in the program; empty: not known
	Site    string // of the program's call; empty: not known
	Stalled uint32 // not 0: nothing moves in it (boot.Blocked.Stalled)

	Ends   bool           // the PE has published that it ends
	Reason boot.EndReason // of that
}

// sender writes frames. Any number of goroutines may use it.
type sender struct {
	mu     sync.Mutex
	w      io.Writer
	failed error // of the first write that failed: what follows half a frame would be misread
}

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

func decode(content []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(content)).Decode(v)
}

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

var errNoGreeting = errors.New("too much output before an agent's greeting")

// skipToAny reads up to and including the first of marks, and returns it.
func skipToAny(r *bufio.Reader, marks ...string) (string, error) {
	matched := make([]int, len(marks))
	for range maxBanner {
		b, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		for i, mark := range marks {
			switch {
			case b == mark[matched[i]]:
				matched[i]++
			case b == mark[0]:
				matched[i] = 1
			default:
				matched[i] = 0
			}
			if matched[i] == len(mark) {
				return mark, nil
			}
		}
	}
	return "", errNoGreeting
}
