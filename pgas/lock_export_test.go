package pgas

// What tests of the lock must see to make events happen in an order.

// LockTail is 1 + the last PE of the lock's queue, or 0.
func LockTail(l LockRef) uint64 {
	home := l.Home()
	return Atomic[uint64]{ctx: l.w.def, off: l.off + lockTail}.Fetch(home)
}

// LockLine is how many goroutines of this PE stand in line at the lock.
func LockLine(l LockRef) (n int) {
	l.w.locks.at(l.placed("LockLine").off, func(s *seat) { n = len(s.line) })
	return n
}

// LockHome is the PE that the lock's tail is on.
func LockHome(l LockRef) int { return l.Home() }
