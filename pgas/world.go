package pgas

// A World is one PE's view of its job, and holds all of its state. The package has no state, so several PEs can run in
// one process, as tests do under the race detector.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/lockrecord"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/internal/bounce"
	"github.com/gopgas/gopgas/pgas/internal/coll"
	"github.com/gopgas/gopgas/pgas/internal/locklocal"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/internal/profiles"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/internal/symheap"
	"github.com/gopgas/gopgas/pgas/topo"
)

// World is one PE of a job. Its methods panic with *UsageError if it is nil or zero.
type World struct {
	n    node.Node
	opts private.Options

	defaultCtx *Context
	contexts   contextSet
	closers    closers // what AtClose has registered
	profiles   *profiles.Profiles
	races      *processRaces // looks for races with other processes; nil: nothing does

	coherent bounce.Memory // what must not reach the transport to other hosts

	check  *checker // what checking knows of the program; nil: nothing is checked
	locks  locklocal.Table
	groups *coll.Set
	team   *Team // the team of all PEs
	shared *Team // the team of the PEs of this host

	treeMu sync.Mutex
	tree   *topo.Tree // the machine's tree; nil before the first call that needs it

	body   *bodyContext // the context of Main's body; nil: the program is not one of Main
	leaves atomic.Bool  // Close runs, or has run, and not Abandon
	closed bool         // teardown has closed all
	keeps  atomic.Bool  // a part of the program has asked for the memory that outlives the PEs

	heapUse heapUse
	lockUse lockrecord.Use

	allocMu sync.Mutex // guards the fields below
	heap    *symheap.Heap
}

// openWith joins the job described by job. It is collective: it returns when all PEs have called it. It returns the
// World with an error, too.
func openWith(ctx context.Context, job *boot.Job, opts private.Options) (*World, error) {
	mustHaveContext("Open", ctx)
	w := &World{opts: opts, tree: opts.Tree, heap: symheap.New(job.Segment.Header.HeapMax)}
	w.n.NotesFull = w.notesFull
	if opts.Check || job.Settings.Check {
		w.check = &checker{w: w}
		w.n.Learned = w.check.signals.Learn
	}
	w.n.Open(job, opts.Goroutines)
	w.groups = coll.NewSet(&w.n, opts.Common, publicErrors())
	defer w.n.EndJoining()
	if err := w.openRemote(ctx); err != nil {
		w.n.End(node.ErrClosed)
		if job.Exchange != nil {
			job.Exchange.Close()
		}
		w.closed = true
		return w, err
	}
	w.n.StartRecording()
	w.lockUse.Rec, w.lockUse.ReadTree, w.lockUse.PE = w.n.Rec, w.readLockLevels, job.PE
	if w.check != nil {
		w.startChecking()
	}
	if err := w.openRaces(opts.Races); err != nil {
		return w, errors.Join(err, w.teardown())
	}
	w.leavePlace()
	if err := w.openTeams(); err != nil {
		return w, errors.Join(err, w.teardown())
	}
	if err := w.Sync(ctx); err != nil {
		return w, errors.Join(fmt.Errorf("joining the job: %w", err), w.teardown())
	}
	w.introduce()
	return w, nil
}

// openRaces makes this PE look for races with the others of its job, if that is wanted. PEs that are goroutines share
// job. It returns an error if there is no room for what that needs.
func (w *World) openRaces(job *racecheck.Job) (err error) {
	switch {
	case job != nil:
		w.n.Races = job.Join(w.n.Job.PE, w.offsetOf, w.n.PlaceName)
	case w.n.Sched != nil:
	case !w.n.Job.Segment.Header.AgreeOnRaces(w.n.Job.Settings.Race):
		has := "PE %d does not have PGAS_CHECK=race, and another PE of its host does"
		if w.n.Job.Settings.Race {
			has = "PE %d has PGAS_CHECK=race, and another PE of its host does not"
		}
		return fmt.Errorf(has+": set the same for every process", w.n.Job.PE)
	case w.n.Job.Settings.Race:
		w.races, err = openProcessRaces(&w.n, w.heap, w.offsetOf)
	}
	return err
}

// openRemote opens the transport to other hosts, if the job has any.
func (w *World) openRemote(ctx context.Context) error {
	if w.opts.Remote == nil {
		if len(w.n.Job.Hosts) > 1 {
			return errors.New("this job has several hosts, but no transport was given to reach them")
		}
		return nil
	}
	t, err := w.opts.Remote(ctx, w.n.Job)
	if err == nil {
		w.n.SetRemote(t)
	}
	return err
}

// PE returns this PE's number, from 0 (OpenSHMEM 1.6, shmem_my_pe).
func (w *World) PE() int { return w.n.Job.PE }

// NPEs returns the number of PEs of the job (OpenSHMEM 1.6, shmem_n_pes).
func (w *World) NPEs() int { return w.n.Job.NPEs }

// Host returns the name of the host that this PE runs on.
func (w *World) Host() string {
	w.mustBeOpen("World.Host")
	return w.n.Job.Host().Name
}

// Hosts returns the names of the job's hosts, in PE order.
func (w *World) Hosts() []string {
	w.mustBeOpen("World.Hosts")
	var names []string
	for i, h := range w.n.Job.Hosts {
		if i == 0 || h.Name != w.n.Job.Hosts[i-1].Name { // a simulated host is one for each of its PEs
			names = append(names, h.Name)
		}
	}
	return names
}

// HostOf returns the name of the host that pe runs on. It panics with *UsageError if pe is out of range.
func (w *World) HostOf(pe int) string {
	w.mustBeOpen("HostOf")
	if pe < 0 || pe >= w.n.Job.NPEs {
		misuse("HostOf", "PE %d is out of range: this job has PEs 0 to %d", pe, w.n.Job.NPEs-1)
	}
	return w.n.HostName(pe)
}

// TransportTo returns how pe is reached: "self", the name of a transport, or "" if there is no such PE
// (OpenSHMEM 1.6, shmem_pe_accessible).
func (w *World) TransportTo(pe int) string {
	w.mustBeOpen("TransportTo")
	switch {
	case pe < 0 || pe >= w.n.Job.NPEs:
		return ""
	case pe == w.n.Job.PE:
		return "self"
	case w.n.Shm.Heap(pe) != nil:
		return w.n.Shm.Name()
	}
	return w.n.Remote.Name()
}

// Context returns the default context. References to an allocation use it unless On gives another one.
func (w *World) Context() *Context {
	w.mustBeOpen("World.Context")
	return w.defaultCtx
}

// Fence calls Fence of the default context.
func (w *World) Fence() { w.Context().Fence() }

// Quiet calls Quiet of the default context, and returns its errors.
func (w *World) Quiet(ctx context.Context) error {
	return quietStores(w.defaultCtx, ctx, (*Context).quiet)
}

// MustQuiet calls MustQuiet of the default context.
func (w *World) MustQuiet() { mustQuietStores(w.defaultCtx, (*Context).mustQuiet) }

// Checks reports whether this PE checks its accesses to symmetric memory (PGAS_CHECK=1). Libraries above pgas ask it
// before they check what would cost time otherwise.
func (w *World) Checks() bool {
	w.mustBeOpen("World.Checks")
	return w.check != nil
}

// HeapUsage describes how a symmetric heap is used. It is the same on every PE.
type HeapUsage struct {
	InUse  uint64 // bytes in live blocks, padding included
	High   uint64 // the most bytes from the heap's start that were ever in use
	Max    uint64 // bytes that the heap may grow to: PGAS_HEAP_MAX
	Blocks int    // number of live blocks
}

// HeapUsage returns how the symmetric heap is used.
func (w *World) HeapUsage() HeapUsage {
	w.mustBeOpen("HeapUsage")
	w.allocMu.Lock()
	defer w.allocMu.Unlock()
	return HeapUsage(w.heap.Usage)
}

// Close leaves the job. It is collective: it blocks until all operations that this PE has issued are complete and all
// PEs have called it. It runs the functions of AtClose and ends every context; references may not be used afterwards. A
// second Close does nothing. It panics with *UsageError if this PE holds a lock.
//
// It returns *PeerError if a PE is lost, for which it does not wait, *MismatchError if another PE calls
// another collective, the error of a function of AtClose, or the error of giving back the channels
// (OpenSHMEM 1.6, shmem_finalize).
func (w *World) Close() error {
	w.mustBeOpen("World.Close")
	if context.Cause(w.n.Ctx) != nil {
		return nil
	}
	w.mustHoldNone("World.Close", 0, math.MaxUint64)
	w.leaves.Store(true)
	err := node.FirstError(w.groups.Wait(w.n.Ctx), w.closers.run())
	err = node.FirstError(err, w.completeAll(w.n.Ctx))
	w.races.flush()
	if err = node.FirstError(err, w.leaveTogether()); err == nil {
		err = w.races.end()
	}
	w.reportNotes()
	w.n.Debugf("leaves the job, having used %d bytes of its heap at most", w.heap.Usage.High-boot.ReservedBytes)
	w.n.Job.Leave()
	if err == nil {
		w.n.Leave()
	}
	return node.FirstError(err, w.teardown())
}

// completeAll completes what this PE has issued on every context.
func (w *World) completeAll(ctx context.Context) (err error) {
	for _, c := range w.contexts.all() {
		err = node.FirstError(err, c.complete(ctx))
	}
	return node.FirstError(err, w.defaultCtx.Quiet(ctx))
}

// mustBeIdle panics with *UsageError if an operation that Free does not wait for may be under way to the allocation b,
// or to its memory on another PE. It checks that only if accesses are checked, and not after the death of a PE: quiets
// fail then.
func (w *World) mustBeIdle(op string, b fmt.Stringer) {
	if w.check == nil || w.n.PeerFailure() != nil {
		return
	}
	for _, c := range w.contexts.all() {
		if what := c.watch.onto(b); what != "" {
			misuse(op, "%s may be under way to this memory: call Quiet of that context before Free; %s", what, b)
		}
	}
	if at := w.check.requests.Onto(b); at != "" {
		misuse(op, "the non-blocking collective that was started at %s may be under way to this memory: "+
			"call Wait of its Request before Free; %s", at, b)
	}
}

// mustHoldNone panics with *UsageError if this PE holds a lock between two offsets. It checks nothing after the death
// of a PE: a lock cannot be passed on then. Locks besides those of the specification are known only if accesses are
// checked.
func (w *World) mustHoldNone(op string, lo, hi uint64) {
	if w.n.PeerFailure() != nil {
		return
	}
	name, at := "", ""
	own, ok := w.locks.Held(uintptr(lo), uintptr(hi))
	off := uint64(own)
	if w.check != nil {
		off, name, at, ok = w.check.locks.In(lo, hi)
		at = ", which it has taken at " + at
	}
	if ok && name == "" {
		name = w.n.PlaceName("the lock", off)
	}
	if ok {
		misuse(op, "this PE holds %s%s: every other PE that asks for it would wait for ever; call Unlock before %s", name, at, op)
	}
}

// Abandon leaves the job without waiting for other PEs, as a PE does that exits after an error. It runs the functions
// of AtClose. It returns their first error, or that of giving back the channels.
func (w *World) Abandon() error {
	w.mustBeOpen("World.Abandon")
	return w.teardown()
}

// teardown runs the functions of AtClose that have not run, ends all waits and closes contexts, channels and
// transports.
func (w *World) teardown() error {
	defer w.profiles.Stop()
	early := w.closers.run()
	w.n.End(node.ErrClosed)
	if idle := w.locks.Close(); idle != nil {
		w.n.AwaitClosed(context.Background(), idle)
	}
	if !w.n.Quiesced() {
		// A read blocks in the kernel for a host that is cut off, and its channel cannot be closed before it ends.
		return early
	}
	errs := []error{early}
	for _, c := range w.contexts.all() {
		errs = append(errs, c.close())
	}
	if w.defaultCtx != nil {
		errs = append(errs, w.defaultCtx.close())
	}
	w.closed = true
	return node.FirstError(append(errs, w.races.end(), w.n.Close())...)
}

// contextSet holds the open contexts of a World besides the default context.
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

// leaveTogether synchronizes all PEs for Close.
func (w *World) leaveTogether() error {
	w.n.PublishLeaving(callsite.Program())
	err := w.team.g.Sync(w.n.Ctx, coll.KindClose, coll.Plain, "close")
	if err != nil {
		w.team.g.LingerUntilTold()
	}
	return err
}

// heapUse is the use of the heap, for readers that may not wait for an allocation under way.
type heapUse struct{ inUse, high atomic.Uint64 }

// note notes that the heap has changed, and records it in rec unless that is nil. The caller has locked the heap.
func (h *heapUse) note(u symheap.Usage, rec *record.PE) {
	h.inUse.Store(u.InUse)
	h.high.Store(u.High - boot.ReservedBytes)
	if rec != nil {
		rec.Set(record.HeapInUse, u.InUse)
		rec.Set(record.HeapHigh, u.High-boot.ReservedBytes)
	}
}

// offsetOf returns where an address lies in this PE's own heap, and whether it does.
func (w *World) offsetOf(addr uintptr) (off uint64, ok bool) {
	if off := addr - uintptr(w.n.HeapBase.P); off < uintptr(len(w.n.Heap)) {
		return uint64(off), true
	}
	if w.check == nil {
		return 0, false
	}
	return w.check.OwnOffset(addr)
}
