package pgas

// A Context is an ordering and completion domain: its fences and quiets concern what was issued on it
// and nothing else (OpenSHMEM 1.6, section 9.5). The default context of a World serves any number of
// goroutines. A private one belongs to one goroutine at a time and takes no lock on its way to another
// host.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Context is an ordering and completion domain of a World.
type Context struct {
	near  heapPointers  // heaps of the PEs of this host, by PE - first, if plain loads and stores may be used
	first int           // the PE that near[0] belongs to
	words heapPointers  // as near, for atomics: empty also where a NIC must execute them
	doors []*boot.State // the doorbells of the PEs of this host

	w      *World
	via    []transport.Channel // what carries an access to each PE when there is no pointer
	local  transport.Channel   // to the PEs of this host
	remote transport.Channel   // to the others; nil when there are none
	nic    bool                // atomics to this host travel by remote, its data does not
	owed   atomic.Pointer[error]
	closed atomic.Bool
}

// ContextOption says how a context will be used.
type ContextOption func(*contextOptions)

type contextOptions struct{ private bool }

// Private promises that one goroutine at a time uses the context.
func Private(o *contextOptions) { o.private = true }

// NewContext opens a context. It is not collective.
func (w *World) NewContext(opts ...ContextOption) (*Context, error) {
	var o contextOptions
	for _, opt := range opts {
		opt(&o)
	}
	c, err := w.newContext(o.private)
	if err != nil {
		return nil, fmt.Errorf("opening a context: %w", err)
	}
	w.contexts.add(c)
	return c, nil
}

func (w *World) newContext(private bool) (*Context, error) {
	c := &Context{w: w, via: make([]transport.Channel, w.job.NPEs)}
	c.openWindow()
	var err error
	if c.local, err = w.shm.Channel(private); err != nil {
		return nil, err
	}
	if w.far != nil {
		if c.remote, err = w.far.Channel(private); err != nil {
			return nil, err
		}
	}
	w.route(c)
	return c, nil
}

// route fills in how c gets to each PE.
func (w *World) route(c *Context) {
	c.nic = w.job.Settings.AMO == boot.AMONIC && c.remote != nil
	for pe := range c.via {
		switch {
		case w.shm.Heap(pe) == nil:
			c.via[pe] = c.remote
		case c.nic:
			c.via[pe] = &splitChannel{Channel: c.local, words: c.remote}
		default:
			c.via[pe] = c.local
		}
	}
	if w.opts.NoFastPath {
		c.near, c.words = nil, nil
	}
	if c.nic {
		c.words = nil
	}
}

// World returns the World that c is a context of.
func (c *Context) World() *World { return c.w }

// Fence orders, for each PE, the puts, signals and atomics issued on c before it against those issued
// after it. It does not wait, and says nothing about gets (OpenSHMEM 1.6, shmem_fence).
func (c *Context) Fence() {
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
	if err := c.remote.Quiet(c.w.ctx, pe); err != nil {
		c.owed.CompareAndSwap(nil, &err)
	}
}

// FencePE is Fence for one PE.
func (c *Context) FencePE(pe int) {
	via := c.far("FencePE", pe)
	shm.FullFence()
	if via != c.local {
		c.fenceFar(pe)
	}
}

// Quiet returns when everything issued on c is complete: puts and atomics visible at their targets,
// non-blocking gets in their destinations (OpenSHMEM 1.6, shmem_quiet). It returns the first failure
// of a peer since the last call that reported one, or ctx's error.
func (c *Context) Quiet(ctx context.Context) error {
	shm.FullFence()
	if c.remote == nil {
		return nil
	}
	return c.quietFar(ctx, -1)
}

// QuietPE is Quiet for what was issued to one PE.
func (c *Context) QuietPE(ctx context.Context, pe int) error {
	via := c.far("QuietPE", pe)
	shm.FullFence()
	if via == c.local {
		return nil
	}
	return c.quietFar(ctx, pe)
}

func (c *Context) quietFar(ctx context.Context, pe int) error {
	c.w.block(blockedIn{boot.InQuiet, pe, 0})
	defer c.w.unblock()
	err := c.remote.Quiet(ctx, pe)
	if owed := c.owed.Swap(nil); owed != nil {
		err = firstError(*owed, err)
	}
	if err != nil {
		return fmt.Errorf("quiet: %w", err)
	}
	return nil
}

// Close waits for what was issued on c and ends it. The default context is closed by World.Close.
func (c *Context) Close() error {
	if c == c.w.def {
		misuse("Context.Close", "the default context ends with its World")
	}
	err := c.Quiet(c.w.ctx)
	c.w.contexts.remove(c)
	return firstError(err, c.close())
}

func (c *Context) close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.near, c.words = nil, nil
	var err error
	if c.remote != nil {
		err = c.remote.Close()
	}
	return firstError(c.local.Close(), err)
}

// splitChannel sends atomics through the NIC and data through memory: with the nic domain of atomics
// even a PE of this host is updated by its NIC, since CPU and NIC are not atomic to each other.
type splitChannel struct {
	transport.Channel
	words transport.Channel
}

func (s *splitChannel) Atomic(ctx context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64) (uint64, error) {
	return s.words.Atomic(ctx, pe, op, at, operand, cond)
}

func (s *splitChannel) Post(pe int, op transport.Op, at transport.Word, operand uint64) {
	s.words.Post(pe, op, at, operand)
}

// PutSignal's signal is an atomic too: the data is stored first, then the NIC updates the word.
func (s *splitChannel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	s.Put(pe, dst, src)
	shm.FullFence()
	s.words.PutSignal(pe, 0, nil, sig, op, value)
}

func (s *splitChannel) Quiet(ctx context.Context, pe int) error { return s.words.Quiet(ctx, pe) }

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
