package pgas

// A Context is an ordering and completion domain: its fences and quiets cover the operations issued on it
// and no others (OpenSHMEM 1.6, section 9.5). Any number of goroutines may use the default context of a World. A
// private context belongs to one goroutine, and its operations to other hosts take no lock.

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/checked"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/strands"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Context is an ordering and completion domain of a team. Its PE numbers are those of the team.
type Context struct {
	bases     heapPointers  // heaps of this host's PEs, by PE - firstPE, if plain loads and stores may be used
	firstPE   int           // the PE that bases[0] belongs to
	doorbells []*boot.State // the doorbells of the PEs of bases
	words     []wordTable   // heaps of the same PEs for atomics; also empty if the NIC executes atomics
	firstWord uintptr       // the index of firstPE for words of 8 bytes

	w            *World
	quietSlowly  *atomic.Bool // a quiet has more to do than to fence: n.QuietSlowly of w's node, or slowly
	team         *Team
	routes       []*route                   // the route to each PE, for accesses off the fast path; nil: always remote
	mem          *shm.Channel               // channel to the PEs of this host
	local        *route                     // the route over mem: PEs of this host
	remote       *route                     // the route to PEs of other hosts; nil if there are none
	byCPU        bool                       // remote never carries atomics to this host
	nic          bool                       // remote carries atomics to this host, but not puts and gets
	owedBells    *owedDoorbells             // doorbells that nic leaves to a quiet; shared as remote is
	borrowed     bool                       // the channels belong to another context
	sharesRemote bool                       // remote belongs to the default context
	leftErr      *atomic.Pointer[leftError] // the error of an access or a fence that returns none; shared by a domain
	quiets       atomic.Uint32              // how many quiets remote has had
	closed       atomic.Bool
	watch        *watcher // sees the use of the context; nil: nothing is checked
}

// slowly is the quietSlowly of contexts whose quiets are never just a fence.
var slowly = func() *atomic.Bool { b := new(atomic.Bool); b.Store(true); return b }()

// ContextOption describes how a context will be used.
type ContextOption func(*contextOptions)

type contextOptions struct{ exclusive, private, byCPU bool }

// Private promises that one goroutine uses the context: the one that uses it first. Another may close it when that one
// has ended. Where accesses are checked (PGAS_CHECK=1), every use by another goroutine panics with *UsageError
// (OpenSHMEM 1.6, SHMEM_CTX_PRIVATE).
func Private() ContextOption {
	return func(o *contextOptions) { o.exclusive, o.private = true, true }
}

// Serialized promises that no two goroutines use the context at the same time. Where accesses are checked
// (PGAS_CHECK=1), an operation during another one panics with *UsageError (OpenSHMEM 1.6, SHMEM_CTX_SERIALIZED).
func Serialized() ContextOption { return func(o *contextOptions) { o.exclusive = true } }

// NoStore promises that the program does not rely on the context's Fence and Quiet for its own stores to
// symmetric memory (through Ptr and Local). It has no effect in this runtime: a put to a PE of the same host is such
// a store too, and puts stay ordered (OpenSHMEM 1.6, SHMEM_CTX_NOSTORE).
func NoStore() ContextOption { return func(*contextOptions) {} }

// ByCPU makes the CPU execute the context's atomics on words of this host, also in a job in which the NIC executes
// atomics (PGAS_AMO=nic). Atomics of the CPU and of the NIC are not atomic to each other: a word that both update needs
// a protocol that allows for it. Operations of such a context to other hosts share the channel of the default context:
// a Quiet of either context completes both, and a Quiet of both costs no more than one.
func ByCPU() ContextOption { return func(o *contextOptions) { o.byCPU = true } }

// NewContext opens a context of all PEs. It is not collective. It returns an error if the World is closed, or if the
// transport to other hosts has no resources for another context (OpenSHMEM 1.6, shmem_ctx_create).
func (w *World) NewContext(opts ...ContextOption) (*Context, error) {
	return w.Team().NewContext(opts...)
}

// NewContext opens a context whose PE numbers are those of t. It is not collective. The context ends with its own
// Close, with t, or with the World. NewContext returns an error if the World is closed, or if the transport to other
// hosts has no resources for another context (OpenSHMEM 1.6, shmem_team_create_ctx).
func (t *Team) NewContext(opts ...ContextOption) (*Context, error) {
	t.alive("NewContext")
	if t.w.n.Closed.Load() {
		return nil, fmt.Errorf("opening a context: %w", node.ErrClosed)
	}
	var o contextOptions
	for _, opt := range opts {
		opt(&o)
	}
	c, err := t.newContext(o)
	if err != nil {
		return nil, fmt.Errorf("opening a context: %w", err)
	}
	t.w.contexts.add(c)
	t.w.n.Debugf("opens a context of team %s", t.g.Name)
	return c, nil
}

// newContext opens the channels of a context of t.
func (t *Team) newContext(o contextOptions) (*Context, error) {
	w := t.w
	c := &Context{w: w, team: t, byCPU: o.byCPU, leftErr: new(atomic.Pointer[leftError])}
	c.watch = c.newWatcher(o)
	c.mem = w.n.Shm.Open()
	c.local = newRoute(c.overMemory())
	c.local.record(w.n.Rec)
	if w.n.Remote != nil {
		if err := c.openRemote(o); err != nil {
			return nil, err
		}
	}
	c.local.watchBy(c.watch)
	if !c.sharesRemote {
		c.remote.watchBy(c.watch)
	}
	c.openRoutes()
	return c, nil
}

// overMemory returns the channel to the PEs of this host: c.mem, or what shows its operations to the race detector.
func (c *Context) overMemory() transport.Channel {
	if c.onStrands() {
		return strands.Over(c.mem, c.w.n.Shm, len(c.w.n.Job.Segment.States))
	}
	return c.mem
}

// onStrands reports whether the race detector sees the operations of c on PEs of this host as strands.
func (c *Context) onStrands() bool { return strands.Detected && c.w.opts.Strands }

// newWatcher returns the watcher of a new context, or nil if it has nothing to see.
func (c *Context) newWatcher(o contextOptions) *watcher {
	w := c.w
	var x watcher
	if w.check != nil && w.defaultCtx != nil && !o.byCPU {
		x.domain = checked.NewDomain(w.check, misuse, o.private, o.exclusive && !o.private)
	}
	if shared := w.defaultCtx; shared != nil && o.byCPU && shared.watch != nil {
		x.races, x.shared = shared.watch.races, true // a quiet of either may complete both
	} else {
		x.races = w.n.Races.NewContext()
	}
	if x == (watcher{}) {
		return nil
	}
	return &x
}

// openRemote gives c a channel to other hosts. A context with ByCPU serves atomics of this host, so it gets a channel
// of its own only if the transport distinguishes such channels.
func (c *Context) openRemote(o contextOptions) error {
	open := c.w.n.Remote.Channel
	if o.byCPU {
		t, ok := c.w.n.Remote.(transport.CPUChanneler)
		if !ok {
			c.remote, c.sharesRemote = c.w.defaultCtx.remote, true
			return nil
		}
		open = t.CPUChannel
	}
	ch, err := open(o.exclusive)
	if err != nil {
		return err
	}
	c.remote = newRoute(ch)
	c.remote.record(c.w.n.Rec)
	c.remote.bounce(&c.w.coherent)
	return nil
}

// viewOf returns a context of base's ordering domain with the PE numbers of t.
func (t *Team) viewOf(base *Context) *Context {
	c := &Context{
		w: t.w, team: t, mem: base.mem, local: base.local, remote: base.remote, owedBells: base.owedBells,
		leftErr: base.leftErr, watch: base.watch, borrowed: true,
	}
	c.openRoutes()
	return c
}

// openRoutes fills in the tables of the fast path and the route to each PE.
func (c *Context) openRoutes() {
	w := c.w
	c.quietSlowly = slowly
	if c.remote == nil && c.watch == nil && w.check == nil && !c.onStrands() {
		c.quietSlowly = &w.n.QuietSlowly
	}
	if w.n.Sched != nil {
		return // the simulator must see every access
	}
	c.nic = w.n.Job.Settings.AMO == boot.AMONIC && c.remote != nil && !c.byCPU
	if c.nic && c.owedBells == nil {
		c.owedBells = newOwedDoorbells(w.n.Job.Segment)
	}
	c.openTables()
	near := c.local
	if c.nic {
		near = newRoute(&splitChannel{Channel: c.mem, atomics: c.remote.unrecorded, owedBells: c.owedBells})
		near.record(w.n.Rec)
		near.watchBy(c.watch)
	}
	for _, pe := range c.team.g.PEs {
		if w.n.Shm.Heap(pe) == nil {
			c.routes = append(c.routes, c.remote)
		} else {
			c.routes = append(c.routes, near)
		}
	}
	if w.opts.NoFastPath || w.check != nil || w.n.Rec != nil || c.watch != nil || c.onStrands() {
		c.bases, c.words = nil, nil
	}
	if c.nic {
		c.words = nil
	}
}

// World returns the World that c is a context of.
func (c *Context) World() *World {
	c.mustBeOpen("Context.World")
	return c.w
}

// Team returns the team whose PE numbers c uses (OpenSHMEM 1.6, shmem_ctx_get_team).
func (c *Context) Team() *Team {
	c.mustBeOpen("Context.Team")
	return c.team
}

// Fence orders, for each PE, the puts, signals and atomics issued on c before it before those issued after it. It
// orders nothing between two PEs, and no gets. It completes nothing and does not wait, except for atomics to this host
// that the NIC executes (PGAS_AMO=nic). It panics with *UsageError if c is closed (OpenSHMEM 1.6, shmem_fence).
func (c *Context) Fence() {
	c.mustNotBeClosed("Fence")
	if c.watch != nil {
		c.watch.fence(-1)
	}
	shm.StoreFence()
	if c.onStrands() {
		c.local.Fence(-1)
	}
	if c.remote != nil {
		c.fenceRemote(-1)
	}
}

// fenceRemote orders the operations that c.remote carries to pe, or to every PE if pe < 0. If those include atomics to
// this host, a later store could overtake them, so only their completion orders them. A fence returns no error: the
// next Quiet reports a lost PE.
func (c *Context) fenceRemote(pe int) {
	if !c.nic {
		c.remote.Fence(pe)
		return
	}
	if err := c.remote.Quiet(c.w.n.Ctx, pe); err != nil {
		c.leaveError(err, false)
	}
	c.owedBells.ringOwed(pe)
}

// FencePE orders the operations issued on c to PE pe, as Fence does for every PE. It panics with *UsageError if pe is
// out of range.
func (c *Context) FencePE(pe int) {
	via, to := c.routeTo("FencePE", pe)
	if c.watch != nil {
		c.watch.fence(to)
	}
	shm.StoreFence()
	if c.onStrands() {
		via.Fence(to)
	}
	if via != c.local {
		c.fenceRemote(to)
	}
}

// Quiet blocks until all operations issued on c are complete: puts, signals and atomics are visible at their targets,
// and the destinations of gets and fetching atomics that do not wait are filled. It returns *PeerError if a PE was lost
// with operations of c, the cause of ctx if ctx ends first, and an error if c or the World is closed. A loss is told to
// each goroutine whose operation it may have taken: every later Quiet of c returns the *PeerError too, and a QuietPE
// does for the lost PE (OpenSHMEM 1.6, shmem_quiet).
func (c *Context) Quiet(ctx context.Context) error { return quietStores(c, ctx, (*Context).quiet) }

// quietStores is Quiet in the common case, in which a fence of this CPU's stores completes everything; slow is for all
// others. It inlines: what a call puts on the stack would have to leave the CPU before the fence.
//
//gcassert:inline
func quietStores(c *Context, ctx context.Context, slow func(*Context, context.Context) error) error {
	if body, ok := ctx.(*bodyContext); ok && !body.ended.Load() && !c.quietSlowly.Load() {
		shm.FullFence()
		return nil
	}
	return slow(c, ctx)
}

// MustQuiet is Quiet for a caller that cannot go on without it: it waits until the end of the World, and panics with
// the error that Quiet would return: with the *PeerError itself if there is one in it. With a nil or zero c it panics
// as Quiet does.
func (c *Context) MustQuiet() { mustQuietStores(c, (*Context).mustQuiet) }

// mustQuietStores is to MustQuiet as quietStores is to Quiet.
//
//gcassert:inline
func mustQuietStores(c *Context, slow func(*Context)) {
	if c.quietSlowly.Load() {
		slow(c)
		return
	}
	shm.FullFence()
}

// mustQuiet is MustQuiet off its fast path.
//
//go:noinline
func (c *Context) mustQuiet() {
	err := c.quiet(c.w.n.Ctx)
	if peer, ok := errors.AsType[*PeerError](err); ok {
		panic(peer) // itself, as operations do whose target is lost
	}
	if err != nil {
		panic(err)
	}
}

// quiet is Quiet off its fast path.
//
//go:noinline
func (c *Context) quiet(ctx context.Context) error {
	if c != nil && c.watch != nil {
		c.watch.domain.Use("Quiet")()
	}
	return c.complete(ctx)
}

// complete is quiet for the runtime, which any goroutine may call.
func (c *Context) complete(ctx context.Context) error {
	if c == nil || c.w == nil || c.refuses(ctx) {
		return c.refuseQuiet(ctx)
	}
	c.w.n.Learn() // what gets have brought
	last := c.watch.issued()
	shm.FullFence()
	if c.onStrands() {
		_ = c.local.Quiet(ctx, -1) // what it returns is that ctx has ended: the operations are complete
	}
	if c.remote != nil {
		return c.quietRemote(ctx, -1)
	}
	c.watch.quieted(ctx, -1, last)
	return c.quietError()
}

// refuses reports whether a quiet must fail at once: ctx has ended, or c or its World is closed.
func (c *Context) refuses(ctx context.Context) bool {
	return hasEnded(ctx) || c.closed.Load() || c.w.n.Closed.Load()
}

// refuseQuiet returns the error of a refused quiet.
//
//go:noinline
func (c *Context) refuseQuiet(ctx context.Context) error {
	c.mustBeOpen("Quiet")
	if c.w.refuses(ctx) {
		return c.w.refusal(ctx, "quiet")
	}
	return fmt.Errorf("quiet: %w", errContextClosed)
}

var errContextClosed = errors.New("the context is closed: use it before its Close, and before that of its World")

// leftError is the error of an access or a fence that returns none.
type leftError struct {
	err  error
	once bool // the error is returned once, since its reason can end, and the program can go on
}

// leaveError leaves err for later quiets of c, unless there is one already: for the next one if once is set, else for
// all.
func (c *Context) leaveError(err error, once bool) {
	c.leftErr.CompareAndSwap(nil, &leftError{err, once})
	c.w.n.QuietSlowly.Store(true)
}

// quietError returns what takeLeftError does, as the error of a quiet.
func (c *Context) quietError() error {
	if left := c.takeLeftError(); left != nil {
		return fmt.Errorf("quiet%s: %w", callsite.At(), left)
	}
	return nil
}

// takeLeftError returns the error that an access or a fence has left, or nil. Unless it is told once it stays: several
// goroutines may have lost something, and each has its own quiet.
func (c *Context) takeLeftError() error {
	left := c.leftErr.Load()
	if left == nil {
		return nil
	}
	if left.once {
		c.leftErr.CompareAndSwap(left, nil)
	}
	return left.err
}

// QuietPE blocks until all operations issued on c to PE pe are complete, as Quiet does for every PE. Its errors are
// those of Quiet. It panics with *UsageError if pe is out of range or c is closed.
func (c *Context) QuietPE(ctx context.Context, pe int) error {
	via, to := c.routeTo("QuietPE", pe)
	if c.refuses(ctx) {
		return c.refuseQuiet(ctx)
	}
	c.w.n.Learn()
	last := c.watch.issued()
	shm.FullFence()
	if via == c.local {
		if c.onStrands() {
			_ = via.Quiet(ctx, to)
		}
		c.watch.quieted(ctx, to, last)
		return c.quietError()
	}
	return c.quietRemote(ctx, to)
}

// quietRemote blocks until all operations that c.remote carries to pe, or to every PE if pe < 0, are complete.
func (c *Context) quietRemote(ctx context.Context, pe int) error {
	if c.quiets.Add(1)%node.ServeEvery == 0 {
		c.w.n.ProgressOnce()
	}
	mark := c.w.n.Block(node.Blocked{Op: boot.InQuiet, Peer: pe}.Within(ctx))
	defer c.w.n.Unblock(mark)
	issued, last := c.remote.landings.Issued(), c.watch.issued()
	err := c.remote.Quiet(ctx, pe)
	if err == nil || !hasEnded(ctx) {
		c.watch.quieted(ctx, pe, last)
	}
	if err == nil {
		c.remote.landings.Land(pe, issued)
	}
	if c.nic {
		c.owedBells.ringOwed(pe)
	}
	if left := c.takeLeftError(); left != nil {
		err = node.FirstError(left, err)
	}
	if err != nil {
		return fmt.Errorf("quiet%s: %w", callsite.At(), err)
	}
	return nil
}

// Close quiets c and ends it. References on c may not be used afterwards. It returns the errors of Quiet, or the error
// of giving back the channels. A Close of a context that is closed, by Close, Team.Destroy or World.Close, does nothing
// and returns nil. Close panics with *UsageError if c is the default context of the World or of a team: those end with
// World.Close (OpenSHMEM 1.6, shmem_ctx_destroy).
func (c *Context) Close() error {
	c.mustBeOpen("Context.Close")
	if c == c.w.defaultCtx || c.borrowed {
		misuse("Context.Close", "the default context ends with its World: close what NewContext returned")
	}
	if c.closed.Load() {
		return nil
	}
	return c.end()
}

// end ends a context that NewContext returned.
func (c *Context) end() error {
	err := c.complete(c.w.n.Ctx)
	c.w.contexts.remove(c)
	return node.FirstError(err, c.close())
}

// close ends c and its channels, without a quiet.
func (c *Context) close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.bases, c.words, c.quietSlowly = nil, nil, slowly
	if c.borrowed {
		return nil
	}
	c.watch.close()
	var err error
	if c.remote != nil && !c.sharesRemote {
		err = c.remote.Close()
	}
	return node.FirstError(c.local.Close(), err)
}
