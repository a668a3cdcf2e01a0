// Package locks has the locks of the literature on remote memory access, each as one file over package
// pgas that reads like its paper:
//
//	Spin, SpinRW   foMPI-Spin and foMPI-RW: one word, tried again and again     fompi.go
//	DMCS           a queue of PEs                                               dmcs.go
//	RMAMCS         a tree of such queues, along the topology                    rmamcs.go
//	RMARW          readers beside it, by a distributed counter                  rmarw.go
//	ALock          two queues: PEs of the lock's host do not use the network    alock.go
//	Table          any number of those, spread over the hosts                   table.go
//	NCoSED         one word for writers and readers                             ncosed.go
//	DQNL, SRSL     its paper's baselines: a queue; a PE that serves             dqnl.go, srsl.go
//	Service        any number of NCoSED locks, by name                          service.go
//	Fenced         any of them, with tokens for what is outside the job         fenced.go
//
// A lock lives in symmetric memory, in a struct of its own (DMCSState, …) that may be a field of a marked struct of a
// program. New… makes a PE's handle of it; Alloc… allocates a lock and makes the handle. All PEs make their handles
// with the same options. A PE makes one handle for each lock, and its goroutines share that.
//
// What differs between the protocols is in the files above. Around them: mutex.go has what Lock, TryLock and Unlock do
// in all of them, localgate.go how the goroutines of a PE share a handle, poll.go the loops that poll. Files of their
// own have the queues, trees and counters of a protocol (dmcs_queue.go, fompi_rw.go, ncosed_queue.go, rmamcs_tree.go,
// rmarw_counter.go), the servers (service_directory.go, service_host.go, srsl_server.go), and the choice of parameters
// by measurement (tune.go).
//
//ci:long
package locks

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// Lock is mutual exclusion between the PEs of a job.
//
// Goroutines of a PE may share a Lock: they queue locally, first come, first served, and one of them at a time
// acts for the PE. The lock belongs to the PE: another goroutine may unlock it, and a goroutine that locks it
// twice waits for itself. Where accesses are checked (PGAS_CHECK=1), to free the memory of a lock that this PE holds,
// in whatever mode, or to close the World with it, panics with *pgas.UsageError, which says where the lock was taken.
type Lock interface {
	// Lock blocks until this PE holds the lock. Writes of earlier holders are visible then. Errors, after each of
	// which this PE does not hold the lock: *pgas.PeerError if a PE of the job dies, and the cause of ctx's end,
	// after which other PEs still get the lock.
	Lock(ctx context.Context) error
	// TryLock takes the lock if that needs no waiting, and reports whether it did. It panics with *pgas.PeerError
	// if a PE of the job is known to be dead, since the lock may never be free again, and if it needs the
	// memory of a PE that is lost.
	TryLock() bool
	// Unlock completes what this PE has issued on its default context, and then releases the lock. It panics
	// with *pgas.UsageError if this PE does not hold the lock, and with *pgas.PeerError if a PE is lost that it
	// has to notify.
	Unlock()
	// Holder returns a PE that held the lock a moment ago. It is for diagnosis: it reads every PE's memory. It
	// panics with *pgas.PeerError if a PE cannot be read, or has died while it took or released the lock.
	Holder() (pe int, held bool)
	// Waiting returns the number of PEs that were seen waiting. It is for diagnosis: it reads every PE's
	// memory. A PE that cannot be read does not count.
	Waiting() int
}

// RWLock is a Lock that may be held in shared mode, by any number of readers at once. Lock and Unlock are
// for writers, and Holder returns a writer.
type RWLock interface {
	Lock
	// RLock blocks until this PE holds the lock in shared mode. Errors: those of Lock.
	RLock(ctx context.Context) error
	// TryRLock is TryLock for a reader.
	TryRLock() bool
	// RUnlock is Unlock for a reader.
	RUnlock()
}

// recoverPeer, deferred, turns a panic with *pgas.PeerError, by which an operation says that its target is lost, into
// an error. Any other panic is a bug of the program, such as the use of a World that it has closed, and goes on.
func recoverPeer(err *error) {
	if p := recover(); p != nil {
		*err = peerErrorIn(p)
	}
}

// peerErrorIn returns the *pgas.PeerError that p, the value of a panic, is or wraps. If there is none, it panics with
// p.
func peerErrorIn(p any) error {
	err, _ := p.(error)
	if peer, ok := errors.AsType[*pgas.PeerError](err); ok {
		return peer
	}
	panic(p)
}

// panicPeerError panics with the *pgas.PeerError that is in err, as operations do.
func panicPeerError(err error) { panic(peerErrorIn(err)) }

// notHeld panics with *pgas.UsageError: the program unlocks a lock that it has not locked.
func notHeld(op string) {
	hook.UsageError(op, "this PE does not hold the lock: only what has been locked can be unlocked, and once")
}

// checkUsable panics with *pgas.UsageError if a lock's handle was never made, or if ctx is nil.
func checkUsable(ctx context.Context, w *pgas.World) {
	if w == nil || ctx == nil {
		unusable(w)
	}
}

// checkMade panics with *pgas.UsageError if w, of a lock's handle, is nil.
func checkMade(w *pgas.World) {
	if w == nil {
		unusable(w)
	}
}

// unusable panics with *pgas.UsageError about a zero handle if w is nil, and about a nil context.Context otherwise.
func unusable(w *pgas.World) {
	if w == nil {
		hook.UsageError("lock", "a zero handle of a lock (it was made by no New or Alloc): use what they return")
	}
	hook.UsageError("lock", "the context.Context is nil: give the one of the program, or context.Background()")
}

// peekAll returns the copies of word on all PEs; word is on the default context. A copy that cannot be read is 0.
func peekAll(w *pgas.World, word pgas.Atomic[int64]) []int64 {
	all := make([]int64, w.NPEs())
	for pe := range all {
		word.FetchNB(pe, &all[pe])
	}
	_ = w.Quiet(context.Background()) // waits report a lost PE; diagnosis does not
	return all
}

// readAll is peekAll for callers that need the word of each PE. It panics with *pgas.PeerError if a copy cannot be
// read.
func readAll(w *pgas.World, word pgas.Atomic[int64]) []int64 {
	all := make([]int64, w.NPEs())
	for pe := range all {
		word.FetchNB(pe, &all[pe])
	}
	w.MustQuiet()
	return all
}

// pauseBetweenSteps sleeps for stepPause, in which a PE that is between two steps of a protocol can take the next one.
// It panics with *pgas.PeerError if a PE is dead: that PE may have died between two steps.
func pauseBetweenSteps(w *pgas.World) {
	if err := w.Sleep(context.Background(), stepPause); err != nil {
		panicPeerError(err)
	}
}

const stepPause = 1000 // in nanoseconds

// mustHaveAll panics with *pgas.PeerError if a PE of the job is known to be lost. A lock that is free needs no wait,
// and the memory of a home on this host outlives it: without this, PEs would go on with a lock whose home is dead.
func mustHaveAll(w *pgas.World) {
	if err := w.Lost(-1); err != nil {
		panic(err)
	}
}

// panicIfPeerDead panics with *pgas.PeerError if a PE of the job is known to be dead. Otherwise a caller that tries a
// lock repeatedly would never learn that its holder is dead.
func panicIfPeerDead(w *pgas.World) {
	if err := w.Sleep(endedContext, 0); !errors.Is(err, context.Canceled) {
		panicPeerError(err)
	}
}

// endedContext is a context that has ended: World.Sleep with it only checks for a death.
var endedContext = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// count returns the number of words for which pred holds.
func count(words []int64, pred func(int64) bool) (n int) {
	for _, v := range words {
		if pred(v) {
			n++
		}
	}
	return n
}
