package locks

// What all locks do alike around their protocols. A protocol says how PEs exclude each other; it runs for one
// goroutine of a PE at a time, which has passed the PE's gate.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/lockrecord"
	"github.com/gopgas/gopgas/pgas"
)

// A protocol is what a lock does between PEs. It may panic with *pgas.PeerError.
type protocol interface {
	acquire(ctx context.Context, way *passage) error // blocks until the lock is this PE's; on an error it is not
	try() bool                                       // takes the lock if that needs no waiting
	release()                                        // gives the lock away
}

// passage is how a PE has got a lock, for the counters of locks. A protocol writes to it when it has to wait.
type passage struct {
	waited bool
	from   int // the PE that passed it on, or -1 if that is not known
}

// behind notes that the PE waits for the lock behind PE from, or -1 if it is not known which.
func (p *passage) behind(from int) { p.waited, p.from = true, from }

// mutex is the part of a lock's handle that does not depend on the protocol.
type mutex struct {
	w    *pgas.World
	use  *lockrecord.Use // counts acquisitions; nil in a zero handle
	gate localGate       // the gate of this PE's writers
	way  passage         // how the goroutine inside the gate has got the lock

	record *lockRecord // nil if nothing is recorded or checked
}

// lockRecord is what is recorded of a lock, by the goroutine inside the gate.
type lockRecord struct {
	trace lockrecord.Trace
	began int64 // when the goroutine began to take the lock
}

// newMutex returns the mutex of a lock of some kind, of which ref is a part.
func newMutex[T any](w *pgas.World, ref pgas.Ref[T], kind string) mutex {
	if w == nil {
		return mutex{}
	}
	var record *lockRecord
	if w.Records() || w.Checks() {
		record = &lockRecord{trace: hook.TraceLock(ref, kind)}
	}
	return mutex{w: w, use: hook.LockUse(w), record: record}
}

// begins records that the goroutine begins to take the lock.
func (m *mutex) begins() {
	m.way.waited = false
	m.record.began = m.record.trace.Begin()
}

// acquired records that it has it.
func (m *mutex) acquired() {
	m.use.Count(m.way.waited, m.way.from)
	m.record.trace.Acquired(m.record.began, m.way.waited)
}

// lock runs p.acquire inside the gate. If it succeeds the goroutine stays inside until unlock. Behind "waiting", what
// begins the text of errors. Errors: those of p, *pgas.PeerError if p panics with it, and the cause of ctx's end.
func (m *mutex) lock(ctx context.Context, p protocol, what string) (err error) {
	checkUsable(ctx, m.w)
	if ctx.Err() != nil || !m.gate.tryEnter() { // tryEnter inlines
		if err := m.gate.enter(ctx); err != nil {
			return waitError(what, err)
		}
	}
	defer m.recoverPeer(&err)
	if m.record != nil {
		m.begins()
	}
	mustHaveAll(m.w)
	if err := p.acquire(ctx, &m.way); err != nil {
		m.gate.leave()
		return waitError(what, err)
	}
	m.gate.acquired()
	if m.record != nil {
		m.acquired()
	}
	return nil
}

// recoverPeer is recoverPeer for the goroutine inside the gate, which leaves it: the next one finds out by itself.
func (m *mutex) recoverPeer(err *error) {
	if p := recover(); p != nil {
		*err = peerErrorIn(p)
		m.gate.leave()
	}
}

// tryLock runs p.try inside the gate if no goroutine is there, and reports whether that succeeded. Where it would
// return false and a PE is dead, it panics with *pgas.PeerError; the next goroutine may enter then.
func (m *mutex) tryLock(p protocol) (ok bool) {
	checkMade(m.w)
	if !m.gate.tryEnter() {
		return false
	}
	defer func() {
		if !ok {
			m.gate.leave()
		}
	}()
	mustHaveAll(m.w)
	if ok = p.try(); !ok {
		panicIfPeerDead(m.w)
		return false
	}
	m.gate.acquired()
	if m.record != nil {
		m.way.waited = false
		m.acquired()
	}
	return true
}

// unlock completes what this PE has issued on its default context, runs p.release and opens the gate. It panics with
// *pgas.UsageError if this PE does not hold the lock, and with *pgas.PeerError if the operations cannot be
// completed or a PE that p has to tell is lost.
func (m *mutex) unlock(p protocol, op string) {
	m.gate.release(op)
	defer m.gate.leave()
	m.w.MustQuiet()
	if m.record != nil {
		m.record.trace.Released()
	}
	p.release()
}

// waitError says what the wait that ended with err was for.
func waitError(what string, err error) error { return fmt.Errorf("waiting %s: %w", what, err) }

// allocate allocates one lock in symmetric memory by alloc, and returns the handle of it that open makes. It is
// collective. Errors: those of alloc and open.
func allocate[S interface{ At(int) R }, R, L any](ctx context.Context, w *pgas.World, alloc func(context.Context, *pgas.World, int) (S, error), open func(ref R) (L, error)) (l L, err error) {
	s, err := alloc(ctx, w, 1)
	if err != nil {
		return l, err
	}
	return open(s.At(0))
}
