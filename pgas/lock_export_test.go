package pgas

// What tests of the lock must see to make events happen in an order.

import (
	"github.com/gopgas/gopgas/pgas/internal/locklocal"
)

// LockTail is 1 + the last PE of the lock's queue, or 0.
func LockTail(l LockRef) uint64 {
	home := l.Home()
	return Atomic[uint64]{ctx: l.w.defaultCtx, off: l.off + lockTail}.Fetch(home)
}

// LockLine is how many goroutines of this PE stand in line at the lock.
func LockLine(l LockRef) (n int) {
	l.w.locks.With(l.placed("LockLine").off, func(s *locklocal.Queue) { n = len(s.Line) })
	return n
}

// LockHome is the PE that the lock's tail is on.
func LockHome(l LockRef) int { return l.Home() }
