package pgas

// The lock of the specification: a queue of PEs, as Mellor-Crummey and Scott built it. Each PE waits for a word of
// its own memory, so it can sleep, and its predecessor wakes it.
//
//	tail  of the home's copy   1 + the last PE of the queue; 0: the lock is free
//	next  of a PE's own copy   1 + the successor; written by the successor, read by the owner
//	turn  of a PE's own copy   1: the PE has, or had, its turn; written by the predecessor, read by the owner and by
//	                           the successor; set to 0 by the owner before it enters the queue again
//
// The home is chosen by a hash of the offset, so that the tails of many locks are spread over the job.
//
// A PE has one place in the queue, whatever number of its goroutines want the lock: package locklocal orders them. A
// goroutine whose deadline passes gives up its place among the goroutines of the PE; the PE stays in the queue. So
// the queue itself knows nothing of deadlines: if no goroutine of the PE wants its place any more, a proxy (a
// goroutine of the runtime) waits for the turn and passes the lock on.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/locklocal"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Lock is a field type: one lock of the whole job, free when it is zero. It is only ever accessed through a LockRef
// (OpenSHMEM 1.6, section 9.14).
type Lock struct{ _ [3]uint64 }

// The words of a Lock.
const (
	lockTail = 8 * iota
	lockNext
	lockTurn
)

// LockRef refers to a lock of symmetric memory. It is the same lock on every PE. Any number of goroutines may use it.
// The PE holds the lock: another goroutine of the PE may unlock it, and a goroutine that locks it twice waits for
// itself. The methods panic with *UsageError if the LockRef is zero. So do Free of its memory and World.Close on a PE
// that holds the lock.
type LockRef struct {
	w   *World
	off uintptr
}

// LockOf returns element i of s. It panics with *UsageError if i is out of range.
func LockOf(s Sym[Lock], i int) LockRef {
	r := s.At(i)
	return LockRef{r.ctx.w, r.off}
}

// placed returns l with its offset in the heap, without generation. With checking (PGAS_CHECK=1) it panics with
// *UsageError if l's allocation has been freed (check.go).
func (l LockRef) placed(op string) LockRef {
	if l.w == nil {
		misuse(op, "a zero LockRef (it was made by no Alloc): take it from LockOf, or from a record")
	}
	if l.off>>generationShift != 0 {
		l.off = uintptr(l.w.check.place(op, l.off, node.SizeOf[Lock]()))
	}
	return l
}

// Lock blocks until this PE holds the lock. PEs get it in the order in which they entered its queue, and so do the
// goroutines of a PE, which share its place in the queue. What earlier holders did is visible to the holder: puts and
// atomics on their default contexts, and their own stores. A caller whose deadline passes does not change the places
// of other PEs.
//
// After an error the caller does not hold the lock. The errors are the cause of ctx, *PeerError if a PE of the job is
// lost, *NotesError if this PE has had no room for notifications for too long, and an error that says that the World
// is closed (OpenSHMEM 1.6, shmem_set_lock).
func (l LockRef) Lock(ctx context.Context) error {
	if l.w.lockFree(ctx, l.off) {
		return nil
	}
	return l.lock(ctx)
}

// lock is Lock off its fast path.
func (l LockRef) lock(ctx context.Context) error {
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
	case locklocal.Granted:
		l.w.lockUse.Count(true, l.w.PE())
	case locklocal.Withdrawn:
		err = context.Cause(ctx)
	case locklocal.Enter:
		err = l.enterFirst(ctx)
	case locklocal.Follow:
		err = l.follow(ctx, -1)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s%s: %w", l.name(), callsite.At(), err)
	}
	l.held()
	return nil
}

// held records that this PE holds the lock.
func (l LockRef) held() {
	l.w.n.BeginHold(uint64(l.off))
	if l.w.check != nil {
		l.w.check.locks.Add(uint64(l.off), "", 1)
	}
}

// TryLock takes the lock if it is free, without waiting for a holder, and reports whether it did (OpenSHMEM 1.6,
// shmem_test_lock, which returns 0 for success). It panics with *PeerError if the home PE, which has the lock's tail,
// is lost, or if the lock is not free and a PE of the job is dead: the lock may then never be free again. It panics
// with *UsageError if the World is closed.
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
			panic(err) // otherwise a caller that polls TryLock would never learn that the holder is dead
		}
		return false
	}
	l.takeFree()
	l.held()
	return true
}

// Unlock completes the operations of this PE's default context, and passes the lock to the PE or goroutine that has
// waited longest. Other contexts need a Quiet before it. It cannot be cancelled, since a lock that its holder has not
// passed on blocks all others. It returns *PeerError if the home, the successor, or the target of an operation is
// lost, and the other errors of Context.Quiet. It panics with *UsageError if this PE does not hold the lock, or if
// the World is closed (OpenSHMEM 1.6, shmem_clear_lock).
func (l LockRef) Unlock() error {
	if l.w.unlockFree(l.off) {
		return nil
	}
	return l.unlock()
}

// unlock is Unlock off its fast path.
func (l LockRef) unlock() error {
	l = l.placed("Unlock")
	l.open("Unlock")
	if !l.w.locks.Release(l.off) {
		misuse("Unlock", "this PE does not hold %s: only what Lock or TryLock has taken can be unlocked, and once", l.name())
	}
	l.w.n.EndHold(uint64(l.off))
	if l.w.check != nil {
		l.w.check.locks.Add(uint64(l.off), "", -1)
	}
	if err := node.FirstError(l.w.defaultCtx.Quiet(l.w.n.Ctx), l.passOn()); err != nil {
		return fmt.Errorf("unlocking %s: %w", l.name(), err)
	}
	return nil
}

// enterFirst enters the queue at its end and waits for the turn, unless ctx has ended.
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

// enter puts this PE at the end of the queue and returns its predecessor, or -1 if this PE holds the lock at once. It
// takes no ctx: after it, the caller must know whether the PE is in the queue.
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

// prepare clears this PE's words before it enters the queue, and returns the PE's number as the queue has it. No
// other PE reads the words at that time, so a word that is 0 already is not written.
func (l LockRef) prepare() uint64 {
	if next := l.own(lockNext); next.Load() != 0 {
		next.Store(0)
	}
	if turn := l.own(lockTurn); turn.Load() != 0 {
		turn.Store(0)
	}
	return uint64(l.w.PE()) + 1
}

// takeFree records that this PE has found the lock free and holds it. It sets the turn word only where PEs outnumber
// CPUs: there the successor reads it to see whether its predecessor still waits.
func (l LockRef) takeFree() {
	if l.w.n.Policy.Oversubscribed {
		l.own(lockTurn).Store(1)
	}
	l.w.locks.Acquired(l.off)
	l.w.lockUse.Count(false, -1)
}

// follow waits for the turn of this PE, which is in the queue, behind PE before; -1 means that the predecessor is not
// known.
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
	l.w.looked(ctx, uint64(l.off+lockTurn), wordSize)
	l.w.locks.Acquired(l.off)
	l.w.lockUse.Count(true, before)
	return nil
}

// myTurn returns the condition that this PE has its turn.
func (l LockRef) myTurn() node.Cond {
	return l.w.n.WordCond(node.Word8(uint64(l.off+lockTurn)), NE, 0, false)
}

// passOn gives the lock to the successor, or leaves it free, and lets the next goroutine of this PE enter the queue.
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
		l.w.n.YieldTo(next)
	}
	return nil
}

// successor returns the PE behind this one, or -1 if there was none, in which case the lock is free now.
func (l LockRef) successor() (int, error) {
	next := l.own(lockNext)
	if next.Load() == 0 {
		me := uint64(l.w.PE()) + 1
		if old, err := l.update(l.Home(), lockTail, transport.CompareSwap, 0, me); err != nil || old == me {
			return -1, err
		}
		// A successor has swapped the tail, and is about to write its number to next.
		c := l.w.n.WordCond(node.Word8(uint64(l.off+lockNext)), NE, 0, false)
		if _, err := l.w.n.Await(l.w.n.Ctx, c, node.Blocked{Op: boot.InLock, Peer: -1, Seq: uint64(l.off)}); err != nil {
			return -1, err
		}
	}
	return int(next.Load() - 1), nil
}

// Home returns the PE whose copy of the lock has the tail of the queue. It follows from the lock's offset in the
// heap, so the homes of many locks are spread over the job. A PE on the home's host waits for no network when it
// takes a free lock.
func (l LockRef) Home() int { return lockHome(l.placed("Home").off, l.w.n.Job.NPEs) }

// open panics with *UsageError if the World of l is closed.
func (l LockRef) open(op string) {
	if l.w.n.Closed.Load() {
		misuse(op, "%v", node.ErrClosed)
	}
}

// name returns the name of l in messages.
func (l LockRef) name() string { return l.w.n.PlaceName("the lock", uint64(l.off)) }

// own returns a word of this PE's copy.
func (l LockRef) own(word uintptr) *atomic.Uint64 {
	l.w.n.AboutToRead()
	return (*atomic.Uint64)(l.w.n.Own(l.off + word))
}

// update applies op to a word of pe's copy and returns the old value. It always fetches: a fetching operation leaves
// for another host at once, where a posted one may wait to be gathered with others.
func (l LockRef) update(pe int, word uintptr, op transport.Op, v, cond uint64) (uint64, error) {
	c, off := l.w.defaultCtx, l.off+word
	if p, door := c.atomicAddr(pe, off); p != nil {
		if err := l.w.Lost(pe); err != nil {
			return 0, err // its memory outlives it, and no other PE may learn of its death from this lock
		}
		old := shm.Apply64((*uint64)(p), op, v, cond)
		door.Ring(uint64(off))
		return old, nil
	}
	via, to := c.routeTo("Lock", pe)
	return via.Atomic(l.w.n.Ctx, to, op, node.Word8(uint64(off)), v, cond)
}

// awaitDirective waits until the earlier goroutines of this PE have left the lock's local queue, and returns what the
// caller must do next. If ctx ends first, the caller leaves that queue.
func (l LockRef) awaitDirective(ctx context.Context, me *locklocal.Waiter) locklocal.Directive {
	mark := l.w.n.Block(node.Blocked{Op: boot.InLock, Peer: l.w.PE(), Seq: uint64(l.off)})
	defer l.w.n.Unblock(mark)
	if l.w.n.AwaitClosed(ctx, me.Wake) != nil {
		return l.w.locks.Leave(l.off, me)
	}
	return me.Directive
}

// leaveToProxy leaves this PE's place in the queue to a goroutine that waits for the lock, or else to a proxy.
func (w *World) leaveToProxy(l LockRef) {
	if w.locks.Abandon(l.off) {
		w.n.Debugf("leaves its place in the queue for %s, to be passed on when its turn comes", l.name())
		w.n.Spawn(func() { w.runProxy(l) })
	}
}

// runProxy waits for a turn that no goroutine of this PE wants any more, and passes the lock on: to a goroutine of
// this PE that has called Lock in the meantime, or else to the successor. It is no wait of the program, so hang
// reports do not show it.
func (w *World) runProxy(l LockRef) {
	defer w.locks.ProxyDone()
	if _, err := w.n.SleepUntil(w.n.Ctx, l.myTurn(), nil); err != nil {
		w.locks.Orphaned(l.off)
		return
	}
	w.looked(w.n.Ctx, uint64(l.off+lockTurn), wordSize)
	if w.locks.Inherit(l.off) {
		return
	}
	l.passOn() // the next call of this PE at the lock reports an error
}

// The common case of a lock: no other goroutine of the PE deals with it, it is free, and the heap of its home is mapped
// in this process. It takes two locked instructions to lock and three to unlock: the state of the lock in the PE, the
// tail of the queue, and when it is unlocked the state twice. Everything else goes the way above, from its beginning.

// lockFree takes the lock at off if that is the common case, and reports whether it has. Nothing waits for the tail, so
// no doorbell is rung.
func (w *World) lockFree(ctx context.Context, off uintptr) bool {
	home, own := w.lockCopies(off)
	if home == nil || w.refuses(ctx) || !w.locks.Take(off) {
		return false
	}
	if own.next.Load() != 0 {
		own.next.Store(0)
	}
	if own.turn.Load() != 0 {
		own.turn.Store(0)
	}
	if !home.tail.CompareAndSwap(0, uint64(w.n.Job.PE)+1) {
		w.locks.GiveBack(off)
		return false
	}
	if w.n.Policy.Oversubscribed {
		own.turn.Store(1) // as takeFree does
	}
	return true
}

// unlockFree unlocks the lock at off if that is the common case, and reports whether it has. Where all operations are
// stores to memory of this host, the locked instruction that changes the tail completes them. A successor is none of
// its business.
func (w *World) unlockFree(off uintptr) bool {
	home, own := w.lockCopies(off)
	if home == nil || w.n.Closed.Load() {
		return false
	}
	c := w.defaultCtx
	if c.remote != nil || c.leftErr.Load() != nil || own.next.Load() != 0 || !w.locks.Release(off) {
		return false
	}
	if home.tail.CompareAndSwap(uint64(w.n.Job.PE)+1, 0) {
		w.locks.Left(off)
		return true
	}
	w.locks.Acquired(off) // it is held still, and a successor has entered the queue
	return false
}
