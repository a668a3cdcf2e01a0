package pgas

// A Node is one PE as the runtime sees it: its memory, its channels, how it waits and what it shows while it waits. It
// knows nothing of teams and of the program's contexts.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Node is one PE of a job.
type Node struct {
	job   *boot.Job
	state *boot.State // this PE's page in the host segment
	mine  []byte      // this PE's own heap
	heap0 heapPointer // where mine starts
	first int         // first PE of this host

	shm    *shm.Transport
	far    transport.Transport  // to other hosts; nil on one host
	waiter transport.Progresser // far, if it must be driven while waiting
	sched  transport.Scheduler  // far, if PEs do not run by themselves
	shown  bool                 // with sched: this PE shows what it is blocked in

	joined time.Time
	ctx    context.Context // ends with Close, for operations that take none
	cancel context.CancelCauseFunc
	closed atomic.Bool // by Close or Abandon

	hostChannel *shm.Channel      // the runtime's own, to PEs of this host
	netChannel  transport.Channel // the runtime's own, to the others; nil on one host
	flushes     atomic.Uint32
	peeks       sync.WaitGroup // looks at other hosts' memory that are under way

	pace    pace
	company company
	starts  startPlaces

	flags bool // a CPU for each PE of this host
	nic   bool // atomics are the NIC's: updates of the own words ring no doorbell
	inbox *Inbox
	names nameTable // of what is in the heap, for messages
}

// open makes n the PE that job describes, and joins the job. The PEs of the job are goroutines of one process or
// processes.
func (n *Node) open(job *boot.Job, goroutines bool) {
	n.job, n.first, n.joined = job, job.Host().First, time.Now()
	i := job.PE - n.first
	n.state, n.mine = job.Segment.States[i], job.Segment.Heap(i)
	n.heap0 = heapPointer{basePointer(n.mine)}
	n.shm = shm.Open(job.Segment)
	n.pace = paceOf(job, goroutines)
	n.flags = job.Segment.Header.Local <= job.Segment.Header.Cores
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	n.company.init()
	n.openInbox()
	n.block(blockedIn{op: boot.InInit, peer: -1})
	job.Join()
}

// setRemote gives n the transport to other hosts.
func (n *Node) setRemote(t transport.Transport) {
	n.far = t
	n.waiter, _ = t.(transport.Progresser)
	n.inbox.setRemote(t)
	n.company.init() // again: the transport may want more processors
	if n.sched, _ = t.(transport.Scheduler); n.sched != nil {
		n.pace.spins = -1 // it sees every look of a wait
	}
}

// end makes every wait of n fail with cause from now on.
func (n *Node) end(cause error) {
	n.closed.Store(true)
	n.cancel(cause)
	n.state.Wake() // a goroutine that still waits for something
}

// quiesced waits for reads under way that use the channels, and reports whether they have ended.
func (n *Node) quiesced() bool { return n.sched != nil || n.peeksEnd() }

// close closes the channels, the transport and the exchange of n.
func (n *Node) close() error {
	errs := []error{n.closeChannels()}
	if n.far != nil {
		errs = append(errs, n.far.Close())
	}
	if n.job.Exchange != nil {
		errs = append(errs, n.job.Exchange.Close())
	}
	return firstError(errs...)
}
