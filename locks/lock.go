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
//	DQNL, SRSL     what it is compared with: a queue; a PE that serves          dqnl.go, srsl.go
//	Service        any number of NCoSED locks, by name                          service.go
//
// A lock lives in symmetric memory, in a struct of its own (DMCSState, …) that may be a field of an
// annotated struct of a program. New… makes a PE's handle of it, Alloc… allocates one and does so. All PEs
// make their handles with the same options, and each PE one for each lock, which its goroutines share.
package locks

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/pgas"
)

// Lock is mutual exclusion between the PEs of a job.
//
// Goroutines of a PE may share a Lock: they take turns on this PE, in the order in which they came, and
// one of them at a time stands for the PE. The lock belongs to the PE: another goroutine may unlock it, and
// one that locks it twice waits for itself.
type Lock interface {
	// Lock waits until the lock is this PE's. Writes of holders before are visible. An error means that
	// the lock is not held: ctx has ended, or a *pgas.PeerError. Others still get it, whatever became of
	// who waited here.
	Lock(ctx context.Context) error
	// TryLock takes the lock if it can be had without waiting, and reports whether it did. If it did not, and a
	// PE of the job is dead, it panics with *pgas.PeerError: the lock may never be free again. It also does so if
	// it needs the memory of a PE that is lost.
	TryLock() bool
	// Unlock completes what this PE has issued on its default context, and then gives the lock away. It
	// panics with *pgas.UsageError if this PE does not hold the lock, and with *pgas.PeerError if a PE that
	// it has to tell is lost.
	Unlock()
	// Holder returns a PE that held the lock a moment ago. It is for diagnosis: it reads every PE's memory. It
	// panics with *pgas.PeerError if one cannot be read any more, or died while it took or released the lock.
	Holder() (pe int, held bool)
	// Waiting returns the number of PEs that were seen waiting. It is for diagnosis: it reads every PE's
	// memory. A PE that cannot be read any more does not count.
	Waiting() int
}

// RWLock is a Lock that may be held in shared mode, by any number of readers at once. Lock and Unlock are
// those of writers. Holder is a writer.
type RWLock interface {
	Lock
	// RLock waits until the lock is shared with this PE, as Lock does.
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

// peerErrorIn is the *pgas.PeerError that p, a panic's value, is or wraps. If there is none, the panic goes on.
func peerErrorIn(p any) error {
	err, _ := p.(error)
	if peer, ok := errors.AsType[*pgas.PeerError](err); ok {
		return peer
	}
	panic(p)
}

// panicPeerError panics with the *pgas.PeerError that is in err, as operations do.
func panicPeerError(err error) { panic(peerErrorIn(err)) }

// mustQuiet completes what this PE has issued on its default context. What cannot be completed now never
// can: it panics with the *pgas.PeerError then.
func mustQuiet(w *pgas.World) {
	if err := w.Quiet(context.Background()); err != nil {
		panicPeerError(err)
	}
}

// notHeld panics: the program unlocks what it has not locked.
func notHeld(op string) {
	panic(&pgas.UsageError{Op: op, Msg: "this PE does not hold the lock: only what has been locked can be unlocked, and once"})
}

// checkUsable panics with *pgas.UsageError if a lock's handle was never made, or if ctx is nil.
func checkUsable(ctx context.Context, w *pgas.World) {
	checkMade(w)
	if ctx == nil {
		panic(&pgas.UsageError{Op: "lock", Msg: "the context.Context is nil: give the one of the program, or context.Background()"})
	}
}

// checkMade panics with *pgas.UsageError if w, of a lock's handle, is nil.
func checkMade(w *pgas.World) {
	if w == nil {
		panic(&pgas.UsageError{Op: "lock", Msg: "a zero handle of a lock (it was made by no New or Alloc): use what they return"})
	}
}

// peekAll reads word's copies on all PEs; word is on the default context. Those that cannot be read are zero.
func peekAll(w *pgas.World, word pgas.Atomic[int64]) []int64 {
	all := make([]int64, w.NPEs())
	for pe := range all {
		word.FetchNB(pe, &all[pe])
	}
	_ = w.Quiet(context.Background()) // a lost PE is told by what waits, not by a look
	return all
}

// readAll calls peekAll where the answer needs the word of each PE. It panics with *pgas.PeerError if one
// cannot be read.
func readAll(w *pgas.World, word pgas.Atomic[int64]) []int64 {
	all := make([]int64, w.NPEs())
	for pe := range all {
		word.FetchNB(pe, &all[pe])
	}
	mustQuiet(w)
	return all
}

// pauseBetweenSteps waits for a moment in which a PE between two steps can take the next one. It panics with
// *pgas.PeerError if a PE is dead: that PE may have been between two steps.
func pauseBetweenSteps(w *pgas.World) {
	if err := w.Sleep(context.Background(), stepPause); err != nil {
		panicPeerError(err)
	}
}

const stepPause = 1000 // nanoseconds

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

// count is the number of words for which is holds.
func count(words []int64, pred func(int64) bool) (n int) {
	for _, v := range words {
		if pred(v) {
			n++
		}
	}
	return n
}
