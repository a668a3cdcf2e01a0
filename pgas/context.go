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
	near  heapPointers  // heaps of PEs of this host, by PE - first, if plain loads and stores may be used
	first int           // the PE that near[0] belongs to
	words heapPointers  // as near, for atomics: empty also where a NIC must execute them
	doors []*boot.State // the doorbells of the PEs of near

	w      *World
	team   *Team
	via    []*route     // what carries an access to each PE when there is no pointer; nil: always remote
	mem    *shm.Channel // to the PEs of this host
	local  *route       // mem
	remote *route       // to the others; nil when there are none
	byCPU  bool         // atomics to this host never travel by remote
	nic    bool         // atomics to this host travel by remote, its data does not
	bells  *bells       // with nic: of the PEs of this host; one for all that use remote
	view   bool         // the channels belong to another context
	lent   bool         // remote belongs to the default context
	owed   atomic.Pointer[error]
	quiets atomic.Uint32 // that went to other hosts
	closed atomic.Bool
}

// ContextOption says how a context will be used.
type ContextOption func(*contextOptions)

type contextOptions struct{ alone, byCPU bool }

// Private promises that only the goroutine that opened the context uses it
// (OpenSHMEM 1.6, SHMEM_CTX_PRIVATE).
func Private(o *contextOptions) { o.alone = true }

// Serialized promises that no two goroutines use the context at the same time
// (OpenSHMEM 1.6, SHMEM_CTX_SERIALIZED).
func Serialized(o *contextOptions) { o.alone = true }

// NoStore promises that nobody relies on the context's Fence and Quiet for the program's own stores to
// symmetric memory (through Ptr and Local). It changes nothing here: on one host a put is such a store
// too, and puts stay ordered (OpenSHMEM 1.6, SHMEM_CTX_NOSTORE).
func NoStore(*contextOptions) {}

// ByCPU makes the CPU execute the context's atomics on words of this host, also in a job whose atomics are
// the network's. Those of the CPU and those of the network are then not atomic to each other: a word that
// both update needs a protocol that knows it. What such a context sends to other hosts travels with what
// the default one sends: a Quiet of either completes both, and two of them cost no more than one.
func ByCPU(o *contextOptions) { o.byCPU = true }

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
		if err := c.openFar(o); err != nil {
			return nil, err
		}
	}
	c.route()
	return c, nil
}

// openFar gives c a channel to other hosts. A context by the CPU is about this host, so that it has no
// channel of its own unless the transport makes a difference.
func (c *Context) openFar(o contextOptions) error {
	open := c.w.n.Remote.Channel
	if o.byCPU {
		t, ok := c.w.n.Remote.(transport.CPUChanneler)
		if !ok {
			c.remote, c.lent = c.w.def.remote, true
			return nil
		}
		open = t.CPUChannel
	}
	ch, err := open(o.alone)
	if err != nil {
		return err
	}
	c.remote = newRoute(ch)
	return nil
}

// viewOf is base's ordering domain with the PE numbers of t.
func (t *Team) viewOf(base *Context) *Context {
	c := &Context{w: t.w, team: t, mem: base.mem, local: base.local, remote: base.remote, bells: base.bells, view: true}
	c.route()
	return c
}

// route fills in how c gets to each PE.
func (c *Context) route() {
	w := c.w
	if w.n.Sched != nil {
		return // the simulator sees everything
	}
	c.nic = w.n.Job.Settings.AMO == boot.AMONIC && c.remote != nil && !c.byCPU
	if c.nic && c.bells == nil {
		c.bells = newBells(w.n.Job.Segment)
	}
	c.openWindow()
	near := c.local
	if c.nic {
		near = newRoute(&splitChannel{Channel: c.mem, words: c.remote.Channel, bells: c.bells})
	}
	for _, pe := range c.team.g.PEs {
		if w.n.Shm.Heap(pe) == nil {
			c.via = append(c.via, c.remote)
		} else {
			c.via = append(c.via, near)
		}
	}
	if w.opts.NoFastPath || w.check != nil {
		c.near, c.words = nil, nil
	}
	if c.nic {
		c.words = nil
	}
}

// World returns the World that c is a context of.
func (c *Context) World() *World {
	c.made("Context.World")
	return c.w
}

// Team returns the team whose PE numbers c uses (OpenSHMEM 1.6, shmem_ctx_get_team).
func (c *Context) Team() *Team {
	c.made("Context.Team")
	return c.team
}

// Fence orders, for each PE, the puts, signals and atomics issued on c before it against those issued
// after it. It does not wait, and says nothing about gets (OpenSHMEM 1.6, shmem_fence).
func (c *Context) Fence() {
	c.made("Fence")
	shm.FullFence()
	if c.remote != nil {
		c.fenceFar(-1)
	}
}

// fenceFar is the fence of what travels by c.remote. Where that is atomics of this host too, a later
// store could overtake them: then only their completion is a fence. What it finds lost is reported by
// the next Quiet, since a fence returns nothing.
func (c *Context) fenceFar(pe int) {
	if !c.nic {
		c.remote.Fence(pe)
		return
	}
	if err := c.remote.Quiet(c.w.n.Ctx, pe); err != nil {
		c.owed.CompareAndSwap(nil, &err)
	}
	c.bells.ringOwed(pe)
}

// FencePE is Fence for one PE.
func (c *Context) FencePE(pe int) {
	via, to := c.far("FencePE", pe)
	shm.FullFence()
	if via != c.local {
		c.fenceFar(to)
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
		return c.quietFar(ctx, -1)
	case c.owed.Load() != nil:
		return c.debt()
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
	c.made("Quiet")
	if c.w.refuses(ctx) {
		return c.w.refusal(ctx, "quiet")
	}
	return fmt.Errorf("quiet: %w", errContextClosed)
}

var errContextClosed = errors.New("the context is closed")

// debt is what has been lost since the last call that reported it, of what no transport reports.
func (c *Context) debt() error {
	if c.owed.Load() == nil {
		return nil
	}
	return fmt.Errorf("quiet: %w", *c.owed.Swap(nil))
}

// QuietPE is Quiet for what was issued to one PE.
func (c *Context) QuietPE(ctx context.Context, pe int) error {
	via, to := c.far("QuietPE", pe)
	if c.refuses(ctx) {
		return c.refuseQuiet(ctx)
	}
	shm.FullFence()
	if via == c.local {
		return c.debt()
	}
	return c.quietFar(ctx, to)
}

func (c *Context) quietFar(ctx context.Context, pe int) error {
	if c.quiets.Add(1)%node.ServeEvery == 0 {
		c.w.n.ProgressOnce()
	}
	c.w.n.Block(node.Blocked{Op: boot.InQuiet, Peer: pe})
	defer c.w.n.Unblock()
	err := c.remote.Quiet(ctx, pe)
	if c.nic {
		c.bells.ringOwed(pe)
	}
	if owed := c.owed.Swap(nil); owed != nil {
		err = node.FirstError(*owed, err)
	}
	if err != nil {
		return fmt.Errorf("quiet%s: %w", callsite.At(), err)
	}
	return nil
}

// Close waits for what was issued on c and ends it. The default context is closed by World.Close.
func (c *Context) Close() error {
	c.made("Context.Close")
	if c == c.w.def || c.view {
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
	c.near, c.words = nil, nil
	if c.view {
		return nil
	}
	var err error
	if c.remote != nil && !c.lent {
		err = c.remote.Close()
	}
	return node.FirstError(c.local.Close(), err)
}
