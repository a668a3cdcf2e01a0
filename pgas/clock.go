package pgas

// Time, randomness and scheduling, for protocols and for programs that are to run in the simulator too:
// there the clock is virtual, the numbers follow from a seed, and a PE runs until it waits. So a protocol
// imports neither time nor math/rand, starts no goroutine, and asks its World.

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Now is the time since this PE joined the job, or in the simulator since the job began. It never goes
// back. Clocks of different PEs agree in the simulator only.
func (w *World) Now() time.Duration {
	w.made("World.Now")
	return w.n.now()
}

func (n *Node) now() time.Duration {
	if n.sched != nil {
		return n.sched.Now()
	}
	return time.Since(n.joined)
}

// Random is a random number: in the simulator the next of this PE's own sequence, which follows from the
// seed.
func (w *World) Random() uint64 {
	w.made("World.Random")
	return w.n.random()
}

func (n *Node) random() uint64 {
	if n.sched != nil {
		return n.sched.Random()
	}
	return rand.Uint64()
}

// Yield lets other PEs run, and lets arrive what those of other hosts have sent. Whoever looks at something
// again and again instead of waiting for it calls it between looks.
func (w *World) Yield() {
	w.made("World.Yield")
	w.n.yieldAll()
}

// yieldAll lets other PEs run, and applies what has arrived from other hosts.
func (n *Node) yieldAll() {
	if n.sched != nil {
		n.sched.Yield()
		return
	}
	n.serve()
	n.yield()
}

// serve does what the service thread does, once, if there is one: who loops may keep the only CPU of its host
// from that thread, and from what it loops for. It costs some 400 ns.
func (n *Node) serve() {
	if n.waiter != nil {
		n.waiter.WaitDoorbell(n.state.Doorbell.Load()+1, 0) // not the door that is there: no wait
	}
}

// LetRun is for a PE that has just given PE pe what that waits for. Where PEs share CPUs it lets others run:
// pe has what everybody waits for, and may need this CPU to go on. Elsewhere it does nothing.
func (w *World) LetRun(pe int) {
	w.made("World.LetRun")
	w.n.yieldTo(pe)
}

// yieldTo yields the CPU if pe may need it to go on: PEs share CPUs, and pe is on this host.
func (n *Node) yieldTo(pe int) {
	if n.sched == nil && n.pace.crowded && n.shm.Heap(pe) != nil {
		n.yield()
	}
}

// poll is Yield where PEs do not run by themselves. What tests a condition without waiting calls it: a
// program that tests until it holds would keep the others from running.
func (n *Node) poll() {
	if n.sched != nil {
		n.sched.Yield()
		n.sched.AboutToRead()
	}
}

// looks comes before a plain look at a word of this PE's own copy that is no part of a wait, and before a
// store to one.
func (n *Node) looks() {
	if n.sched != nil {
		n.sched.AboutToRead()
	}
}

// Sleep blocks for d. It returns sooner when ctx ends, with its cause, and when a PE of the job dies, with a
// *PeerError: who looks for something now and then, and sleeps between looks, learns that it will not come.
func (w *World) Sleep(ctx context.Context, d time.Duration) error {
	w.made("World.Sleep")
	given("World.Sleep", ctx)
	return w.n.sleep(ctx, d)
}

func (n *Node) sleep(ctx context.Context, d time.Duration) error {
	if err := n.broken(ctx); err != nil {
		return err
	}
	if n.sched != nil {
		err := n.sched.Sleep(ctx, d)
		return firstError(n.failure(), err)
	}
	for d > longNap {
		if err := n.nap(ctx, longNap); err != nil {
			return err
		}
		d -= longNap
	}
	return n.nap(ctx, d)
}

// nap is a sleep that learns of deaths at its end.
func (n *Node) nap(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return n.failure()
	case <-ctx.Done():
		return n.broken(ctx)
	}
}

// WithTimeout is context.WithTimeout by the clock of Now: in the simulator, a deadline of another clock
// ends a wait only when nothing else can.
func (w *World) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	w.made("World.WithTimeout")
	given("World.WithTimeout", ctx)
	return w.n.withTimeout(ctx, d)
}

func (n *Node) withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if n.sched != nil {
		return n.sched.WithTimeout(ctx, d)
	}
	return context.WithTimeout(ctx, d)
}

// spawn runs f as another thread of control of this PE.
func (n *Node) spawn(f func()) {
	if n.sched != nil {
		n.sched.Go(f)
		return
	}
	go f()
}

// awaitClosed blocks until another thread of control of this PE has closed ch, or ctx ends.
func (n *Node) awaitClosed(ctx context.Context, ch <-chan struct{}) error {
	if n.sched == nil {
		select {
		case <-ch:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	closed := func() bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	for {
		if err := n.sched.Await(ctx, 0, 0, closed); !errors.Is(err, transport.ErrStalled) {
			return err
		}
	}
}

// awaitScheduled is await where a scheduler says who runs. When no PE can go on, it looks for the reason
// before it waits on.
func (n *Node) awaitScheduled(ctx context.Context, c cond, why blockedIn) (uint64, error) {
	n.block(why)
	defer n.unblock()
	lo, hi := c.span()
	var v uint64
	var ok bool
	ready := func() bool {
		n.inbox.makeRoom()
		if c.set == nil || !ok { // a look at a set takes what it finds
			v, ok = c.check()
		}
		return ok || n.failure() != nil || n.inbox.jammed() != nil
	}
	for {
		err := n.sched.Await(ctx, lo, hi, ready)
		switch {
		case errors.Is(err, transport.ErrStalled):
			err = n.explain(ctx, &c, ready)
		case err == nil && !ok:
			err = n.hopeless(ctx, c, false)
		case err != nil:
			err = firstError(n.failure(), err)
		}
		if c.set == nil {
			v, ok = c.check() // it may have changed since
		}
		if ok {
			err = nil // what came true at the last moment counts
		}
		if ok || err != nil {
			return v, err
		}
	}
}

// explain looks for the reason why no PE can go on: as often, and as far apart, as one that sleeps would,
// and as long as ready does not hold.
func (n *Node) explain(ctx context.Context, c *cond, ready func() bool) error {
	if c.party == nil {
		return n.hopeless(ctx, *c, true)
	}
	lo, hi := c.span()
	for _, d := range [...]time.Duration{firstLook, n.patience(), n.patience()} {
		if err := n.hopeless(ctx, *c, true); err != nil || ready() {
			return err
		}
		until, cancel := n.sched.WithTimeout(ctx, d)
		err := n.sched.Await(until, lo, hi, ready)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return n.hopeless(ctx, *c, true)
}

// span is where c's words are in the heap; nowhere if they are not in it.
func (c *cond) span() (lo, hi uint64) {
	switch {
	case c.word.Off == 0:
		return 0, 0
	case c.set != nil:
		return c.set.off, c.set.offset(c.set.n)
	}
	return c.word.Off, c.word.Off + uint64(c.word.Bytes)
}

// since is what a report of a blocked PE shows as its beginning.
func (n *Node) since() int64 {
	if n.sched != nil {
		return int64(n.sched.Now())
	}
	return time.Now().UnixNano()
}

// wall is the time for reports of how long PEs wait.
func (n *Node) wall() time.Time { return time.Unix(0, n.since()) }

// lasts says whether a wait can last where a scheduler says who runs, and notes that it shows: what only
// messages end, always ends.
func (n *Node) lasts(why blockedIn) bool {
	n.shown = why.op != boot.InGet && why.op != boot.InAtomic && why.op != boot.InQuiet
	return n.shown
}
