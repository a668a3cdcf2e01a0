package node

// The life of a Node: it joins its job, gets its transport to other hosts, ends its waits and closes what it has
// opened.

import (
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Open makes n the PE that job describes, and joins the job. The PEs of the job are goroutines of one process or
// processes.
func (n *Node) Open(job *boot.Job, goroutines bool) {
	n.Job, n.FirstPE, n.joined = job, job.Host().First, time.Now()
	n.clockAtJoin = boot.Clock()
	if job.Record == nil && job.Settings.Stats { // no agent reads it, but the program may
		job.Record = record.New(job.NPEs, job.PE, 1, 0).PE(job.PE)
	}
	i := job.PE - n.FirstPE
	n.State, n.Heap = job.Segment.States[i], job.Segment.Heap(i)
	n.HeapBase = base{BasePointer(n.Heap)}
	n.Shm = shm.Open(job.Segment)
	n.Policy = waitPolicyOf(job, goroutines)
	if !goroutines && job.Settings.Spin != boot.NeverSpin {
		n.contention = job.Contention()
	}
	n.Dedicated = job.Segment.Header.Local <= job.Segment.Header.Cores
	n.CacheBytes = lastCacheBytes("/sys/devices/system/cpu/cpu0/cache")
	n.stall.after = time.Duration(job.Segment.Header.StallAfter.Load())
	n.Ctx, n.cancel = context.WithCancelCause(context.Background())
	n.waiters.init()
	n.openNoteQueue()
	n.Block(Blocked{Op: boot.InInit, Peer: -1})
	job.Join()
}

// SetRemote gives n the transport to other hosts.
func (n *Node) SetRemote(t transport.Transport) {
	n.Remote = t
	n.progresser, _ = t.(transport.Progresser)
	n.Notes.setRemote(t)
	n.waiters.init() // again: the transport may want more processors
	if n.Sched, _ = t.(transport.Scheduler); n.Sched != nil {
		n.Policy.spins = -1 // it sees every look of a wait
	}
}

// End makes every wait of n fail with cause from now on.
func (n *Node) End(cause error) {
	n.cancel(cause) // first: a call that is refused because of Closed asks for the cause
	n.Closed.Store(true)
	n.QuietSlowly.Store(true)
	n.State.Wake() // a goroutine that still waits for something
}

// Quiesced waits for reads under way that use the channels, and reports whether they have ended.
func (n *Node) Quiesced() bool { return n.Sched != nil || n.awaitPeeks() }

// Leave says that this PE leaves the job together with the others. The caller closes its channels next.
func (n *Node) Leave() {
	if d, ok := n.Remote.(transport.Drainer); ok {
		n.leaver = d
		d.Leave()
	}
}

// Close closes the channels, the transport and the exchange of n. After Leave it first waits, for as long as a PE may
// be silent, until the others have closed their channels to this PE.
func (n *Node) Close() error {
	if n.contention != nil && n.contention.Losses() > 0 {
		n.Debugf("waiters have lost %d time slices to other programs", n.contention.Losses())
	}
	errs := []error{n.closeChannels()}
	if n.Remote != nil {
		if d := n.leaver; d != nil {
			ctx, cancel := context.WithTimeout(context.Background(), n.CycleTimeout())
			d.Drain(ctx)
			cancel()
		}
		errs = append(errs, n.Remote.Close())
	}
	if n.Job.Exchange != nil {
		errs = append(errs, n.Job.Exchange.Close())
	}
	return FirstError(errs...)
}
