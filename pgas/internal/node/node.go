package node

// A Node is one PE as the runtime sees it: its memory, its channels, how it waits and what it shows while it waits. It
// knows nothing of teams and of the program's contexts.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Node is one PE of a job.
type Node struct {
	Job      *boot.Job
	State    *boot.State // this PE's page in the host segment
	Heap     []byte      // this PE's own heap
	HeapBase base        // the address of Heap
	FirstPE  int         // first PE of this host

	Shm        *shm.Transport
	Remote     transport.Transport  // the transport to other hosts; nil on one host
	leaver     transport.Drainer    // Remote, after Leave, if it must be drained
	progresser transport.Progresser // Remote as a Progresser; nil if it needs no progress while waiting
	Sched      transport.Scheduler  // Remote as a Scheduler; nil if PEs run by themselves
	publishing bool                 // this PE shows what it is blocked in, though Sched runs it

	joined      time.Time
	clockAtJoin int64           // boot.Clock at joined
	Ctx         context.Context // ends with Close, for operations that take no context
	cancel      context.CancelCauseFunc
	Closed      atomic.Bool // set by Close or Abandon

	// QuietSlowly: quiets have more to do than to fence the stores of their CPU, because the World is closed, or an
	// error waits for a quiet. It stays set.
	QuietSlowly atomic.Bool

	hostChannel *shm.Channel      // the runtime's own channel to PEs of this host
	netChannel  transport.Channel // the runtime's own channel to PEs of other hosts; nil on one host
	flushes     atomic.Uint32
	peeks       sync.WaitGroup // reads of other hosts' memory that are under way

	Policy     waitPolicy
	waiters    waiterPool
	scanStarts scanStarts
	stall      stallWatch
	contention *boot.Contention // what the waiters know of other programs on their CPUs; nil: they do not ask

	Dedicated  bool // each PE of this host has a CPU of its own
	CacheBytes int  // the size of the last cache, as far as it is this machine's
	NICAtomics bool // NICs execute atomics: updates of this PE's words ring no doorbell
	Notes      *NoteQueue

	// NotesFull makes the error of a wait that is given up because Notes keeps too many notes. The error's type belongs
	// to the API above.
	NotesFull func(kept int, oldest transport.Stamp, since time.Duration) error

	Rec     *record.PE // what this PE records of itself; nil: nothing
	joining bool       // the PE waits for others to join
	words   wordNames  // the words that Rec names
	places  placeNames // the places in the program that Rec names
	Names   nameTable  // the names of what is in the heap, for messages

	Races *racecheck.PE // tells the detectors of races what this PE does; nil: there are none

	// Learned is called whenever this PE may learn how far others are: in waits, in collectives, and as it takes notes.
	// nil: no check asks.
	Learned func()
}

// ErrClosed is why operations on a closed World fail.
var ErrClosed = errors.New("the World is closed: make this call before World.Close, or before the body of Main returns")

// Learn notes that this PE may have learned how far others are.
func (n *Node) Learn() {
	if n.Learned != nil {
		n.Learned()
	}
}

// HostName returns the name of the host of a PE of the job.
func (n *Node) HostName(pe int) string { return n.Job.Hosts[n.Job.HostOf(pe)].Name }

// StateOf is the page of pe, which is on this host.
func (n *Node) StateOf(pe int) *boot.State { return n.Job.Segment.States[pe-n.FirstPE] }

// FirstError returns the first of errs that is not nil.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Debugf prints what this PE does to standard error if SHMEM_DEBUG is set. Only rare events call it.
func (n *Node) Debugf(format string, args ...any) {
	if n.Job.Settings.Debug {
		fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: %s\n", n.Job.PE, n.HostName(n.Job.PE), fmt.Sprintf(format, args...))
	}
}
