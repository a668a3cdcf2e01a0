package pgas

// A Context is an ordering and completion domain: its fences and quiets concern what was issued on it
// and nothing else (OpenSHMEM 1.6, section 9.5). The default context of a World serves any number of
// goroutines. A private one belongs to one goroutine at a time and takes no lock on its way to another
// host.

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Context is an ordering and completion domain of a team. Its PE numbers are the team's.
type Context struct {
	bases       heapPointers  // heaps of PEs of this host, by PE - first, if plain loads and stores may be used
	firstPE     int           // the PE that near[0] belongs to
	atomicBases heapPointers  // as near, for atomics: empty also where a NIC must execute them
	doorbells   []*boot.State // the doorbells of the PEs of near

	w            *World
	team         *Team
	routes       []*route       // what carries an access to each PE when there is no pointer; nil: always remote
	mem          *shm.Channel   // to the PEs of this host
	local        *route         // mem
	remote       *route         // to the others; nil when there are none
	byCPU        bool           // atomics to this host never travel by remote
	nic          bool           // atomics to this host travel by remote, its data does not
	owedBells    *owedDoorbells // with nic: of the PEs of this host; one for all that use remote
	borrowed     bool           // the channels belong to another context
	sharesRemote bool           // remote belongs to the default context
	pendingErr   atomic.Pointer[error]
	quiets       atomic.Uint32 // that went to other hosts
	closed       atomic.Bool
}

// ContextOption says how a context will be used.
type ContextOption func(*contextOptions)

type contextOptions struct{ exclusive, byCPU bool }

// Private promises that only the goroutine that opened the context uses it
// (OpenSHMEM 1.6, SHMEM_CTX_PRIVATE).
func Private() ContextOption { return func(o *contextOptions) { o.exclusive = true } }

// Serialized promises that no two goroutines use the context at the same time
// (OpenSHMEM 1.6, SHMEM_CTX_SERIALIZED).
func Serialized() ContextOption { return func(o *contextOptions) { o.exclusive = true } }

// NoStore promises that nobody relies on the context's Fence and Quiet for the program's own stores to
// symmetric memory (through Ptr and Local). It changes nothing here: on one host a put is such a store
// too, and puts stay ordered (OpenSHMEM 1.6, SHMEM_CTX_NOSTORE).
func NoStore() ContextOption { return func(*contextOptions) {} }

// ByCPU makes the CPU execute the context's atomics on words of this host, also in a job whose atomics are
// the network's. Those of the CPU and those of the network are then not atomic to each other: a word that
// both update needs a protocol that knows it. What such a context sends to other hosts travels with what
// the default one sends: a Quiet of either completes both, and two of them cost no more than one.
func ByCPU() ContextOption { return func(o *contextOptions) { o.byCPU = true } }

// NewContext opens a context of all PEs. It is not collective (OpenSHMEM 1.6, shmem_ctx_create).
func (w *World) NewContext(opts ...ContextOption) (*Context, error) {
	return w.Team().NewContext(opts...)
}

// NewContext opens a context whose PE numbers are those of t. It is not collective. It ends with its
// Close, with t, or with the World (OpenSHMEM 1.6, shmem_team_create_ctx).
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

func (t *Team) newContext(o contextOptions) (*Context, error) {
	w := t.w
	c := &Context{w: w, team: t, byCPU: o.byCPU}
	c.mem = w.n.Shm.Open()
	c.local = newRoute(c.mem)
	if w.n.Remote != nil {
		if err := c.openRemote(o); err != nil {
			return nil, err
		}
	}
	c.openRoutes()
	return c, nil
}

// openRemote gives c a channel to other hosts. A context by the CPU is about this host, so that it has no
// channel of its own unless the transport makes a difference.
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
	return nil
}

// viewOf is base's ordering domain with the PE numbers of t.
func (t *Team) viewOf(base *Context) *Context {
	c := &Context{w: t.w, team: t, mem: base.mem, local: base.local, remote: base.remote, owedBells: base.owedBells, borrowed: true}
	c.openRoutes()
	return c
}

// openRoutes fills in how c gets to each PE.
func (c *Context) openRoutes() {
	w := c.w
	if w.n.Sched != nil {
		return // the simulator sees everything
	}
	c.nic = w.n.Job.Settings.AMO == boot.AMONIC && c.remote != nil && !c.byCPU
	if c.nic && c.owedBells == nil {
		c.owedBells = newOwedDoorbells(w.n.Job.Segment)
	}
	c.openTables()
	near := c.local
	if c.nic {
		near = newRoute(&splitChannel{Channel: c.mem, atomics: c.remote.Channel, owedBells: c.owedBells})
	}
	for _, pe := range c.team.g.PEs {
		if w.n.Shm.Heap(pe) == nil {
			c.routes = append(c.routes, c.remote)
		} else {
			c.routes = append(c.routes, near)
		}
	}
	if w.opts.NoFastPath || w.check != nil {
		c.bases, c.atomicBases = nil, nil
	}
	if c.nic {
		c.atomicBases = nil
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

// Fence orders, for each PE, the puts, signals and atomics issued on c before it against those issued
// after it. It does not wait, and says nothing about gets (OpenSHMEM 1.6, shmem_fence).
func (c *Context) Fence() {
	c.mustBeOpen("Fence")
	shm.FullFence()
	if c.remote != nil {
		c.fenceRemote(-1)
	}
}

// fenceRemote is the fence of what travels by c.remote. Where that is atomics of this host too, a later
// store could overtake them: then only their completion is a fence. What it finds lost is reported by
// the next Quiet, since a fence returns nothing.
func (c *Context) fenceRemote(pe int) {
	if !c.nic {
		c.remote.Fence(pe)
		return
	}
	if err := c.remote.Quiet(c.w.n.Ctx, pe); err != nil {
		c.pendingErr.CompareAndSwap(nil, &err)
	}
	c.owedBells.ringOwed(pe)
}

// FencePE is Fence for one PE.
func (c *Context) FencePE(pe int) {
	via, to := c.routeTo("FencePE", pe)
	shm.FullFence()
	if via != c.local {
		c.fenceRemote(to)
	}
}

// Quiet returns when everything issued on c is complete: puts and atomics visible at their targets,
// non-blocking gets in their destinations (OpenSHMEM 1.6, shmem_quiet). It returns the first failure
// of a peer since the last call that reported one, or ctx's error.
func (c *Context) Quiet(ctx context.Context) error {
	// This is Context.refuses by hand: a call would cost a quarter of a quiet.
	body, ok := ctx.(*bodyContext)
	if c == nil || c.w == nil || ok && body.ended.Load() || c.closed.Load() || c.w.n.Closed.Load() || !ok && otherEnded(ctx) {
		return c.refuseQuiet(ctx)
	}
	shm.FullFence()
	switch {
	case c.remote != nil:
		return c.quietRemote(ctx, -1)
	case c.pendingErr.Load() != nil:
		return c.takePendingErr()
	}
	return nil
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

var errContextClosed = errors.New("the context is closed")

// takePendingErr is what has been lost since the last call that reported it, of what no transport reports.
func (c *Context) takePendingErr() error {
	if c.pendingErr.Load() == nil {
		return nil
	}
	return fmt.Errorf("quiet: %w", *c.pendingErr.Swap(nil))
}

// QuietPE is Quiet for what was issued to one PE.
func (c *Context) QuietPE(ctx context.Context, pe int) error {
	via, to := c.routeTo("QuietPE", pe)
	if c.refuses(ctx) {
		return c.refuseQuiet(ctx)
	}
	shm.FullFence()
	if via == c.local {
		return c.takePendingErr()
	}
	return c.quietRemote(ctx, to)
}

func (c *Context) quietRemote(ctx context.Context, pe int) error {
	if c.quiets.Add(1)%node.ServeEvery == 0 {
		c.w.n.ProgressOnce()
	}
	c.w.n.Block(node.Blocked{Op: boot.InQuiet, Peer: pe})
	defer c.w.n.Unblock()
	err := c.remote.Quiet(ctx, pe)
	if c.nic {
		c.owedBells.ringOwed(pe)
	}
	if owed := c.pendingErr.Swap(nil); owed != nil {
		err = node.FirstError(*owed, err)
	}
	if err != nil {
		return fmt.Errorf("quiet%s: %w", callsite.At(), err)
	}
	return nil
}

// Close waits for what was issued on c and ends it. The default context is closed by World.Close.
func (c *Context) Close() error {
	c.mustBeOpen("Context.Close")
	if c == c.w.defaultCtx || c.borrowed {
		misuse("Context.Close", "the default context ends with its World: close what NewContext returned")
	}
	err := c.Quiet(c.w.n.Ctx)
	c.w.contexts.remove(c)
	return node.FirstError(err, c.close())
}

func (c *Context) close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.bases, c.atomicBases = nil, nil
	if c.borrowed {
		return nil
	}
	var err error
	if c.remote != nil && !c.sharesRemote {
		err = c.remote.Close()
	}
	return node.FirstError(c.local.Close(), err)
}
