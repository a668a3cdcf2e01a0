package pgas

// A World is one PE's view of its job, and everything hangs off it: there is no package state, so
// several PEs can live in one process (which is how tests run them under the race detector).

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/topo"
	"github.com/gopgas/gopgas/pgas/transport"
)

// World is one PE of a job.
type World struct {
	n    Node
	opts Options

	def      *Context
	contexts contextSet

	check  *checker // nil: nothing is checked
	locks  lockSet
	groups groupSet
	team   *Team // of all PEs
	host   *Team // of the PEs of this host

	treeMu sync.Mutex
	tree   *topo.Tree // nil until asked for

	collective sync.Mutex // guards what follows
	heap       *heap
}

// Options change how a World is put together. The zero value is what programs want.
type Options struct {
	// Goroutines: the PEs of the job are goroutines of this process.
	Goroutines bool
	// NoFastPath sends every access through a transport, where it can be seen.
	NoFastPath bool
	// Check checks every access, as PGAS_CHECK=1 does.
	Check bool
	// Remote opens the transport to PEs that this host's memory does not reach; required when the
	// job has several hosts.
	Remote func(ctx context.Context, job *boot.Job) (transport.Transport, error)
	// Tree is the topology if it is known beforehand.
	Tree *topo.Tree
	// Common is shared by the PEs of a process that are each alone on their hosts, as the job says.
	Common *Common
}

// errClosed is why operations on a closed World fail.
var errClosed = errors.New("the World is closed")

// OpenWith joins the job described by job. Every PE must do so; it returns when all have. Programs
// use Main or Init; this is for launchers and tests.
func OpenWith(ctx context.Context, job *boot.Job, opts Options) (*World, error) {
	given("Open", ctx)
	w := &World{opts: opts, tree: opts.Tree, heap: newHeap(job.Segment.Header.HeapMax)}
	w.n.open(job, opts.Goroutines)
	w.groups = groupSet{n: &w.n, common: opts.Common, errors: publicErrors()}
	defer w.n.unblock()
	if err := w.openRemote(ctx); err != nil {
		return nil, err
	}
	if opts.Check || job.Settings.Check {
		w.startChecking()
	}
	w.leavePlace()
	if err := w.openTeams(); err != nil {
		return nil, errors.Join(err, w.teardown())
	}
	if err := w.Sync(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("joining the job: %w", err), w.teardown())
	}
	w.introduce()
	return w, nil
}

func (w *World) openRemote(ctx context.Context) error {
	if w.opts.Remote == nil {
		if len(w.n.job.Hosts) > 1 {
			return errors.New("this job has several hosts, but no transport was given to reach them")
		}
		return nil
	}
	t, err := w.opts.Remote(ctx, w.n.job)
	if err == nil {
		w.n.setRemote(t)
	}
	return err
}

// PE is this PE's number, from 0.
func (w *World) PE() int { return w.n.job.PE }

// NPEs is the number of PEs of the job.
func (w *World) NPEs() int { return w.n.job.NPEs }

// Host is the name of the host that this PE runs on.
func (w *World) Host() string {
	w.made("World.Host")
	return w.n.job.Host().Name
}

// Hosts are the names of the job's hosts, in PE order.
func (w *World) Hosts() []string {
	w.made("World.Hosts")
	var names []string
	for i, h := range w.n.job.Hosts {
		if i == 0 || h.Name != w.n.job.Hosts[i-1].Name { // a simulated host is one for each of its PEs
			names = append(names, h.Name)
		}
	}
	return names
}

// HostOf is the name of the host that pe runs on.
func (w *World) HostOf(pe int) string {
	w.made("HostOf")
	if pe < 0 || pe >= w.n.job.NPEs {
		misuse("HostOf", "PE %d is out of range: this job has PEs 0 to %d", pe, w.n.job.NPEs-1)
	}
	return w.n.hostName(pe)
}

// hostName returns the name of the host of a PE of the job.
func (n *Node) hostName(pe int) string { return n.job.Hosts[n.job.HostOf(pe)].Name }

// stateOf is the page of pe, which is on this host.
func (n *Node) stateOf(pe int) *boot.State { return n.job.Segment.States[pe-n.first] }

// TransportTo says how pe is reached: "self", a transport's name, or "" if there is no such PE
// (OpenSHMEM 1.6, shmem_pe_accessible).
func (w *World) TransportTo(pe int) string {
	w.made("TransportTo")
	switch {
	case pe < 0 || pe >= w.n.job.NPEs:
		return ""
	case pe == w.n.job.PE:
		return "self"
	case w.n.shm.Heap(pe) != nil:
		return w.n.shm.Name()
	}
	return w.n.far.Name()
}

// Context is the default context, which the operations of references made by Alloc use.
func (w *World) Context() *Context {
	w.made("World.Context")
	return w.def
}

// Fence is Fence of the default context.
func (w *World) Fence() { w.Context().Fence() }

// Quiet is Quiet of the default context.
func (w *World) Quiet(ctx context.Context) error { return w.Context().Quiet(ctx) }

// HeapUsage tells how the symmetric heap is used.
func (w *World) HeapUsage() HeapUsage {
	w.made("HeapUsage")
	w.collective.Lock()
	defer w.collective.Unlock()
	return w.heap.use
}

// Close leaves the job: it is collective, waits for all PEs and for everything that this one issued,
// and ends every context. References may not be used afterwards. It does not wait for PEs that are
// known to be dead; it then returns their *PeerError.
func (w *World) Close() error {
	w.made("World.Close")
	if context.Cause(w.n.ctx) != nil {
		return nil
	}
	err := w.groups.wait(w.n.ctx)
	for _, c := range w.contexts.all() {
		err = firstError(err, c.Quiet(w.n.ctx))
	}
	err = firstError(err, w.def.Quiet(w.n.ctx), w.leaveTogether())
	w.reportNotes()
	w.n.debugf("leaves the job, having used %d bytes of its heap at most", w.heap.use.High-boot.ReservedBytes)
	w.n.job.Leave()
	return firstError(err, w.teardown())
}

// Abandon leaves the job without waiting for anybody: what an erroring PE does before it exits.
func (w *World) Abandon() error {
	w.made("World.Abandon")
	return w.teardown()
}

func (w *World) teardown() error {
	w.n.end(errClosed)
	if idle := w.locks.close(); idle != nil {
		w.n.awaitClosed(context.Background(), idle)
	}
	if !w.n.quiesced() {
		return nil // a read still blocks in the kernel for a host that is cut off, and its channel cannot be closed meanwhile
	}
	var errs []error
	for _, c := range w.contexts.all() {
		errs = append(errs, c.close())
	}
	if w.def != nil {
		errs = append(errs, w.def.close())
	}
	return firstError(append(errs, w.n.close())...)
}

// contextSet is the open contexts of a World besides the default one.
type contextSet struct {
	mu   sync.Mutex
	list []*Context
}

func (s *contextSet) add(c *Context) {
	s.mu.Lock()
	s.list = append(s.list, c)
	s.mu.Unlock()
}

func (s *contextSet) remove(c *Context) {
	s.mu.Lock()
	s.list = slices.DeleteFunc(s.list, func(x *Context) bool { return x == c })
	s.mu.Unlock()
}

func (s *contextSet) all() []*Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}
