package frame

// What frames hold that is no row of a table and no state of a PE: what an agent, and a relay, is told, and its
// answers.

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Config is what an agent needs to prepare.
type Config struct {
	Protocol int // the protocol of the segment and the frames
	ID       string
	Hosts    []boot.Host // the hosts of the job; none: ToHosts has said them
	Host     int
	Program  string
	Args     []string // the arguments, with the program's name
	Dir      string
	Env      []string      // what is added to the agent's environment
	Unbound  bool          // PEs run on any CPU
	Stats    bool          // what PEs are blocked in is looked at all the time
	Profiles bool          // PEs send profiles of themselves
	Record   bool          // PEs record what they do (package record)
	Live     bool          // the launcher asks what PEs are doing while they run
	Events   int           // the most events that a PE may record; 0: there is no trace
	Secret   []byte        // the secret of the job; jobs of one host have none
	FanOut   int           // the fan-out of the tree of the exchange's servers
	Serve    string        // where this agent serves the exchange to other hosts; "": join.ListenOn finds it
	Hash     bool          // the agent reads the whole program, for its hash
	Staged   string        // the hash of the program, if it was staged to the agent's directory
	Stall    time.Duration // the time for which nothing moves until the launcher is told; 0: it is not
	Sweep    bool          // nothing else is asked for: kill what has Mark, and end
	Mark     string        // the mark of the processes of this host: see boot.JobMark
	Term     int           // the number of this term, from 1 on, if the agent stays for another; else 0
	Grace    time.Duration // how long PEs that stay for another term may take to leave this one
}

// Ready is an agent's answer to config.
type Ready struct {
	Hash   string // the hash of the program
	Memory uint64 // boot.HostMemory
	Room   boot.HeapRoom
	Addrs  []string // the addresses of the exchange on this host, for other hosts
	SentAt int64    // boot.Clock of this host

	Clock   string // see ClockID
	Machine string // see hostCPUs
	CPUs    []int
}

// Start is sent to every agent when all are ready.
type Start struct {
	HeapMax uint64
	Parent  []string // the addresses of the exchange on the parent host
	Cores   int      // CPUs that the host has for itself
}

// GlobalExit is a call of World.GlobalExit: by which PE, and with which status.
type GlobalExit struct {
	PE     int
	Status int
}

// RelayConfig is what a relay starts.
type RelayConfig struct {
	Protocol int
	Hosts    []boot.Host // the hosts of the job
	Argv     []string    // the words of the command of an agent on {host}
	Input    string      // the input of that command
	Host     uint32      // the relay's own host, whose agent it runs as well
	Rest     []Subtree
}

// Subtree is a host that a relay starts, and those for which that one relays.
type Subtree struct {
	Host uint32
	Rest []Subtree
}

func HostNumber(host uint32) []byte { return binary.BigEndian.AppendUint32(nil, host) }

// Check returns an error if a launcher of this version cannot have sent cfg.
func (cfg RelayConfig) Check() error {
	if cfg.Protocol != Protocol {
		return ErrOtherVersion
	}
	for _, c := range append([]Subtree{{Host: cfg.Host}}, cfg.Rest...) {
		if int64(c.Host) >= int64(len(cfg.Hosts)) {
			return ErrOtherVersion
		}
	}
	return nil
}

var ErrOtherVersion = errors.New("this is another version of pgasrun than the launcher's: install the same on every host")
