package pgas

// The lock of the specification: a queue of PEs, as Mellor-Crummey and Scott built it. Each waits for a
// word of its own memory, so it can sleep, and is woken by the one before it.
//
//	tail  of the home's copy   1 + the last PE of the queue; 0: the lock is free
//	next  of a PE's own copy   1 + the PE behind it; written by that PE, read by the owner
//	turn  of a PE's own copy   1: its turn has come, or had; written by the PE before it, read by the owner
//	                           and by the PE behind it; set to 0 by the owner before it comes again
//
// The home is chosen by a hash of the offset, so that the tails of many locks are spread over the job.
//
// A PE has one place in the queue, whatever number of its goroutines want the lock: what they do among
// themselves is in lock_seat.go. Somebody whose deadline passes leaves the place, never the queue. So
// the queue itself knows nothing of deadlines: a place that nobody of its PE wants any more is kept by a
// goroutine, which passes the lock on when the turn comes.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/locklocal"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Lock is a field type: one lock of the whole job, free when it is zero. It is only ever accessed through
// a LockRef (OpenSHMEM 1.6, section 9.14).
type Lock struct{ _ [3]uint64 }

// The words of a Lock.
const (
	lockTail = 8 * iota
	lockNext
	lockTurn
)

// LockRef refers to a lock of symmetric memory: one lock, whichever PE looks at it. Any number of
// goroutines may use it. It belongs to the PE: another goroutine of the PE may unlock it, and one that
// locks it twice waits for itself.
type LockRef struct {
	w   *World
	off uintptr
}

// LockOf is element i of s.
func LockOf(s Sym[Lock], i int) LockRef {
	r := s.At(i)
	return LockRef{r.ctx.w, r.off}
}

// placed returns l with its offset in the heap, without generation. With checking it panics with *UsageError if
// l's allocation does not live (check.go).
func (l LockRef) placed(op string) LockRef {
	if l.w == nil {
		misuse(op, "a zero LockRef (it was made by no Alloc): take it from LockOf, or from a record")
	}
	if l.off>>generationShift != 0 {
		l.off = uintptr(l.w.check.place(op, l.off, node.SizeOf[Lock]()))
	}
	return l
}

// Lock waits until the lock is this PE's. PEs get it in the order in which they came, and so do the
// goroutines of a PE, which share its place in the queue. What holders before did is visible: puts and
// atomics on their default contexts, and their own stores. An error means that the lock was not got: ctx
// ended, or *PeerError. A deadline disturbs nobody else's place (OpenSHMEM 1.6, shmem_set_lock).
func (l LockRef) Lock(ctx context.Context) error {
	l = l.placed("Lock")
	if l.w.refuses(ctx) {
		return l.w.refusal(ctx, "waiting for "+l.name())
	}
	o, me := l.w.locks.Join(l.off)
	if o == locklocal.Wait {
		o = l.awaitDirective(ctx, me)
	}
	var err error
	switch o {
	case locklocal.Have:
		return nil
	case locklocal.Gone:
		err = context.Cause(ctx)
	case locklocal.Enter:
		err = l.enterFirst(ctx)
	case locklocal.Follow:
		err = l.follow(ctx, -1)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s%s: %w", l.name(), callsite.At(), err)
	}
	return nil
}

// TryLock takes the lock if it is free, without waiting, and reports whether it did
// (OpenSHMEM 1.6, shmem_test_lock, which has 0 for success). It panics with *PeerError if the PE that the
// lock's tail is on is lost, or if the lock is not free and a PE of the job is dead: it may never be free again.
func (l LockRef) TryLock() bool {
	l = l.placed("TryLock")
	l.open("TryLock")
	if !l.w.locks.Try(l.off) {
		return false
	}
	me := l.prepare()
	old, err := l.update(l.Home(), lockTail, transport.CompareSwap, me, 0)
	switch {
	case err != nil:
		l.w.leaveToProxy(l)
		panic(err)
	case old != 0:
		l.w.locks.Left(l.off)
		if err := l.w.n.PeerFailure(); err != nil {
			panic(err) // a caller that tries again and again would never learn that the holder is dead
		}
		return false
	}
	l.takeFree()
	return true
}

// Unlock completes what this PE issued on its default context, and gives the lock to who waits longest.
// Other contexts need a Quiet before it. It panics with *UsageError if this PE does not hold the lock. It
// cannot be cancelled, since a lock that is not given back helps nobody; the error is a *PeerError
// (OpenSHMEM 1.6, shmem_clear_lock).
func (l LockRef) Unlock() error {
	l = l.placed("Unlock")
	l.open("Unlock")
	if !l.w.locks.Release(l.off) {
		misuse("Unlock", "this PE does not hold %s: only what Lock or TryLock has taken can be unlocked, and once", l.name())
	}
	if err := node.FirstError(l.w.defaultCtx.Quiet(l.w.n.Ctx), l.passOn()); err != nil {
		return fmt.Errorf("unlocking %s: %w", l.name(), err)
	}
	return nil
}

// enterFirst goes to the end of the queue and waits for the turn, unless ctx has ended.
func (l LockRef) enterFirst(ctx context.Context) error {
	if ctx.Err() != nil {
		l.w.locks.Left(l.off)
		return context.Cause(ctx)
	}
	before, err := l.enter()
	switch {
	case err != nil:
		l.w.leaveToProxy(l)
		return err
	case before < 0:
		l.takeFree()
		return nil
	}
	return l.follow(ctx, before)
}

// enter goes to the end of the queue and returns the PE before, or -1 if the lock is this PE's at once.
// ctx does not matter here: whether a PE stands in the queue must be known.
func (l LockRef) enter() (before int, err error) {
	me := l.prepare()
	old, err := l.update(l.Home(), lockTail, transport.Swap, me, 0)
	if err != nil || old == 0 {
		return -1, err
	}
	before = int(old - 1)
	_, err = l.update(before, lockNext, transport.Swap, me, 0)
	return before, err
}

// prepare makes this PE's words ready for the queue, and returns how it is called there. Nobody else looks at
// them meanwhile, so what need not be written is not.
func (l LockRef) prepare() uint64 {
	if next := l.own(lockNext); next.Load() != 0 {
		next.Store(0)
	}
	if turn := l.own(lockTurn); turn.Load() != 0 {
		turn.Store(0)
	}
	return uint64(l.w.PE()) + 1
}

// takeFree notes that the lock is this PE's, which has found it free. That it waits for no turn matters to the
// PE behind only where it may wait in vain for one that does not run.
func (l LockRef) takeFree() {
	if l.w.n.Policy.Oversubscribed {
		l.own(lockTurn).Store(1)
	}
	l.w.locks.Acquired(l.off)
}

// follow waits for the turn of this PE, which stands in the queue, behind PE before if that is known.
func (l LockRef) follow(ctx context.Context, before int) error {
	c := l.myTurn()
	if before >= 0 {
		c = c.WithPredecessor(l.w.defaultCtx.predecessorWord(before, l.off+lockTurn), 0)
	}
	_, err := l.w.n.Await(ctx, c, node.Blocked{Op: boot.InLock, Peer: before, Seq: uint64(l.off)})
	if err != nil {
		l.w.leaveToProxy(l)
		return err
	}
	l.w.locks.Acquired(l.off)
	return nil
}

func (l LockRef) myTurn() node.Cond {
	return l.w.n.WordCond(node.Word8(uint64(l.off+lockTurn)), NE, 0, false)
}

// passOn gives the lock to the PE behind, or leaves it free, and lets a goroutine of this PE enter again.
func (l LockRef) passOn() error {
	next, err := l.successor()
	if err == nil && next >= 0 {
		_, err = l.update(next, lockTurn, transport.Swap, 1, 0)
	}
	if err != nil {
		l.w.leaveToProxy(l)
		return err
	}
	l.w.locks.Left(l.off)
	if next >= 0 {
		l.w.YieldTo(next)
	}
	return nil
}

// successor is the PE behind this one, or -1 if there was none and the lock is free now.
func (l LockRef) successor() (int, error) {
	next := l.own(lockNext)
	if next.Load() == 0 {
		me := uint64(l.w.PE()) + 1
		if old, err := l.update(l.Home(), lockTail, transport.CompareSwap, 0, me); err != nil || old == me {
			return -1, err
		}
		// Somebody has swapped the tail and is about to say who it is.
		c := l.w.n.WordCond(node.Word8(uint64(l.off+lockNext)), NE, 0, false)
		if _, err := l.w.n.Await(l.w.n.Ctx, c, node.Blocked{Op: boot.InLock, Peer: -1, Seq: uint64(l.off)}); err != nil {
			return -1, err
		}
	}
	return int(next.Load() - 1), nil
}

// Home is the PE that keeps track of who came last. It follows from the lock's place in the heap, so that
// those of many locks are spread over the job. A PE of its host waits for no network to take a free lock.
func (l LockRef) Home() int {
	hash := uint64(l.placed("Home").off) / 8 * 0x9e3779b97f4a7c15 >> 32
	return int(hash * uint64(l.w.NPEs()) >> 32)
}

// open panics if the World of l is closed.
func (l LockRef) open(op string) {
	if l.w.n.Closed.Load() {
		misuse(op, "%v", node.ErrClosed)
	}
}

// name returns what messages call l.
func (l LockRef) name() string { return l.w.n.PlaceName("the lock", uint64(l.off)) }

// own is a word of this PE's copy.
func (l LockRef) own(word uintptr) *atomic.Uint64 {
	l.w.n.AboutToRead()
	return (*atomic.Uint64)(l.w.n.Own(l.off + word))
}

// update applies op to a word of pe's copy and returns the old value. It always fetches: that leaves for
// another host at once, where a posted update may wait for company.
func (l LockRef) update(pe int, word uintptr, op transport.Op, v, cond uint64) (uint64, error) {
	c, off := l.w.defaultCtx, l.off+word
	if p, door := c.atomicAddr(pe, off); p != nil {
		old := shm.Apply64((*uint64)(p), op, v, cond)
		door.Ring(uint64(off))
		return old, nil
	}
	via, to := c.routeTo("Lock", pe)
	return via.Atomic(l.w.n.Ctx, to, op, node.Word8(uint64(off)), v, cond)
}

// awaitDirective waits until the goroutines of this PE that came earlier are through.
func (l LockRef) awaitDirective(ctx context.Context, me *locklocal.Waiter) locklocal.Directive {
	l.w.n.Block(node.Blocked{Op: boot.InLock, Peer: l.w.PE(), Seq: uint64(l.off)})
	defer l.w.n.Unblock()
	if l.w.n.AwaitClosed(ctx, me.Wake) != nil {
		return l.w.locks.Leave(l.off, me)
	}
	return me.Told
}

// leaveToProxy leaves this PE's place in the queue to a goroutine that waits, or to a keeper.
func (w *World) leaveToProxy(l LockRef) {
	if w.locks.Abandon(l.off) {
		w.n.Debugf("leaves its place in the queue for %s, to be passed on when its turn comes", l.name())
		w.n.Spawn(func() { w.runProxy(l) })
	}
}

// runProxy waits for the turn that nobody wants any more, and passes it on: to a goroutine of this PE that
// has come in the meantime, or else to the PE behind. It is no wait of the program, so reports do not
// show it.
func (w *World) runProxy(l LockRef) {
	defer w.locks.ProxyDone()
	if _, err := w.n.SleepUntil(w.n.Ctx, l.myTurn(), false); err != nil {
		w.locks.Orphaned(l.off)
		return
	}
	if w.locks.Inherit(l.off) {
		return
	}
	l.passOn() // what went wrong is told to the next who asks
}
