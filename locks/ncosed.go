package locks

// N-CoSED (n-cosed 3.2): exclusive and shared locking by one word, split into the tail of a queue of writers
// and a count of readers. A lock that is free, or that only readers hold, costs one atomic. ncosed_queue.go
// has the protocol.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// NCoSEDState is an N-CoSED lock in symmetric memory, free when it is zero.
//
//pgas:symmetric views
type NCoSEDState struct {
	Word NCoSEDWord // the words in the home's copy
	Node NCoSEDNode // the node of each PE on itself
}

// NCoSEDOptions are the same on all PEs.
type NCoSEDOptions struct {
	Home int // the PE that has the word
	// Limit is the number of readers, in sequence or at once, after which the count starts again. The next reader
	// is a writer for a moment then, so it waits for all readers inside. So readers that wait for each other
	// inside must not reach the limit. 0: 2^30.
	Limit int
}

const (
	nCoSEDLimit = 1 << 30 // the largest Limit: there is room for as many readers that have seen the count
	nCoSEDMost  = 1<<31 - 1
)

// NCoSED is a lock for readers and writers: first come, first served, where all readers between two writers count as
// one arrival. Goroutines of a PE may hold it in shared mode at once.
type NCoSED struct {
	mutex
	queue   ncosedQueue
	readers readers
}

var _ RWLock = (*NCoSED)(nil)

// NewNCoSED makes this PE's handle of the lock at ref.
func NewNCoSED(w *pgas.World, ref NCoSEDStateRef, o NCoSEDOptions) *NCoSED {
	checkHome("NewNCoSED", w, o.Home)
	if o.Limit < 0 || o.Limit > nCoSEDLimit {
		hook.Misuse("NewNCoSED", "limit %d: it is from 1 to %d, or 0 for that", o.Limit, nCoSEDLimit)
	}
	if o.Limit == 0 {
		o.Limit = nCoSEDLimit
	}
	ref = ref.On(w.Context())
	nodes := []NCoSEDNodeRef{ref.Node()}
	l := &NCoSED{mutex: newMutex(w, ref.Ref(), "N-CoSED lock"), queue: ncosedQueue{w: w, home: o.Home, state: ref.Word(), nodes: nodes, limit: int64(o.Limit)}}
	l.queue.mine = l.queue.id(w.PE(), 0)
	return l
}

// AllocNCoSED allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocNCoSEDState.
func AllocNCoSED(ctx context.Context, w *pgas.World, o NCoSEDOptions) (*NCoSED, error) {
	return allocate(ctx, w, AllocNCoSEDState, func(ref NCoSEDStateRef) (*NCoSED, error) { return NewNCoSED(w, ref, o), nil })
}

// Lock blocks until this PE holds the lock alone. A PE that gave up and comes back before it has been skipped keeps its
// place in the queue. Errors: those of the interface Lock.
func (l *NCoSED) Lock(ctx context.Context) error {
	return l.lock(ctx, l, "for an N-CoSED lock")
}

// TryLock takes the lock if no PE holds it or waits for it.
func (l *NCoSED) TryLock() bool { return l.tryLock(l) }

// Unlock grants the lock to the readers that came before the next writer, all at once, and to that writer when they
// have left. It never waits for another PE to act.
func (l *NCoSED) Unlock() { l.unlock(l, "NCoSED.Unlock") }

func (l *NCoSED) acquire(ctx context.Context, way *passage) error { return l.queue.lock(ctx, way) }

func (l *NCoSED) try() bool { return l.queue.try() }

func (l *NCoSED) release() { l.queue.leave(l.queue.mine) }

// RLock blocks until this PE holds the lock in shared mode, at once unless a writer came before. Errors: those of the
// interface Lock.
func (l *NCoSED) RLock(ctx context.Context) error {
	return l.readers.lock(ctx, &l.mutex, l, "to read under an N-CoSED lock")
}

// share takes the lock in shared mode. A reader that finds the count of readers full is a writer for a moment.
func (l *NCoSED) share(ctx context.Context, way *passage) error {
	for {
		full, err := l.queue.share(ctx, way)
		if err != nil || !full {
			return err
		}
		l.queue.unshare()
		if err := l.Lock(ctx); err != nil {
			return err
		}
		l.Unlock()
	}
}

// TryRLock takes the lock in shared mode if no writer holds it or waits. When the count of readers has to start again,
// that needs a moment without readers.
func (l *NCoSED) TryRLock() bool {
	checkMade(l.w)
	mustHaveAll(l.w)
	if !l.readers.gate.tryEnter() {
		return false
	}
	defer l.readers.gate.leave()
	for {
		ok, full := l.queue.tryShare()
		if ok {
			l.readers.acquired(&l.mutex)
			l.use.Count(false, -1)
			return true
		}
		if !full {
			panicIfPeerDead(l.w)
			return false
		}
		if !l.TryLock() {
			return false
		}
		l.Unlock()
	}
}

// RUnlock ends the hold of a reader. The last reader grants the lock to the next writer.
func (l *NCoSED) RUnlock() { l.readers.unlock(&l.mutex, l, "NCoSED.RUnlock") }

func (l *NCoSED) unshare() { l.queue.unshare() }

// Holder returns the writer that held the lock a moment ago.
func (l *NCoSED) Holder() (pe int, held bool) {
	id := l.queue.holder()
	if id == 0 {
		return 0, false
	}
	_, pe = l.queue.nodeOf(id)
	return pe, true
}

// Waiting returns the number of PEs that were seen waiting, to write or to read. A PE that does both counts twice.
func (l *NCoSED) Waiting() int { return l.queue.waiters() }
