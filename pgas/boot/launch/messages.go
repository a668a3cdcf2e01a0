package launch

// What frames hold that is no row of a table and no state of a PE: what an agent, and a relay, is told, and its answers.

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
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

// globalExit is a call of World.GlobalExit: by which PE, and with which status.
type globalExit struct {
	PE     int
	Status int
}

// relayConfig is what a relay starts.
type relayConfig struct {
	Protocol int
	Hosts    []boot.Host // of the job
	Argv     []string    // of the command of an agent on {host}
	Input    string      // of that command
	Host     uint32      // the relay's own, of which it runs the agent too
	Rest     []subtree
}

// subtree is a host that a relay starts, and those for which that one relays.
type subtree struct {
	Host uint32
	Rest []subtree
}

func hostNumber(host uint32) []byte { return binary.BigEndian.AppendUint32(nil, host) }

// check returns an error if a launcher of this version cannot have sent cfg.
func (cfg relayConfig) check() error {
	if cfg.Protocol != protocol {
		return errOtherVersion
	}
	for _, c := range append([]subtree{{Host: cfg.Host}}, cfg.Rest...) {
		if int64(c.Host) >= int64(len(cfg.Hosts)) {
			return errOtherVersion
		}
	}
	return nil
}

var errOtherVersion = errors.New("this is another version of pgasrun than the launcher's: install the same on every host")
