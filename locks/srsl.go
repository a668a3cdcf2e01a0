package locks

// SRSL (n-cosed 2.2.1), a baseline: send/receive-based server locking. One PE, the home, serves: it receives a message
// for each request, keeps the queue in memory of its own, and answers when it grants the lock. It serves while a
// goroutine of it is in Serve, which returns only when its context ends. PEs that want the lock wait while no goroutine
// serves.
//
//	Inbox i  of the home   the messages of PE i that the server has not handled yet: their sum.
//	                       Added to by PE i, subtracted from by the server
//	Answer   of a PE       [0] the server's answer to its writer, [1] to its reader. Set to pending by the
//	                       owner before it asks, set by the server
//	Writer   of the home   1 + the PE that has the lock alone, or 0. Written by the server, for Holder
//	Queued   of the home   the number of waiters. Written by the server, for Waiting
//
// What the paper leaves open: a message is an atomic that adds to the word of its sender, so none is lost and the
// memory is bounded: at most one writer and one reader of a PE ask at a time. A PE that unlocks and locks again may
// send both before the server reads its word; the server handles the unlock in a sum first. Of messages of several PEs
// that it finds together, it handles the unlocks first and then goes in the order of PEs. It reads the inbox twice, the
// second time for unlocks only: so it finds every unlock that was sent before a message of the first reading.
//
// Cancellation. A PE that gives up sends that, and waits for the answer: either the server has taken it out of the
// queue, or the lock had been granted before, and the PE holds it.
//
// Invariant: the server has handled all messages that a PE sent before its last answer.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// SRSLState is an SRSL lock in symmetric memory, free when it is zero, apart from its Inbox, which has a
// word for each PE.
//
//pgas:symmetric views
type SRSLState struct {
	Answer [2]int64 `pgas:"atomic"` // written by: owner, the server
	Writer int64    `pgas:"atomic"` // of the home's copy; written by: the server
	Queued int64    `pgas:"atomic"` // of the home's copy; written by: the server
}

// SRSLOptions are the same on all PEs.
type SRSLOptions struct {
	Home int // the PE that serves
}

// Messages: numbers added to the sender's word. The last one may be added any number of times.
const (
	msgLock int64 = 1 << (4 * iota)
	msgTry
	msgUnlock
	msgGiveUp
	msgLockShared
	msgTryShared
	msgGiveUpShared
	msgUnlockShared
)

// unlocks has the bits of the unlock messages, which are handled first.
const unlocks = msgUnlock | -msgUnlockShared

// The modes in which a PE asks, as Answer is indexed by them.
const (
	writerMode = iota
	readerMode
)

// Answers.
const (
	pending int64 = iota
	granted
	refused
	kept // the answer to a PE that gives up: the lock has been granted
)

// SRSL is a PE's handle.
type SRSL struct {
	mutex
	home    int
	state   SRSLStateRef
	inbox   pgas.AtomicSlice[int64]
	readers readers
}

var _ RWLock = (*SRSL)(nil)

// NewSRSL makes this PE's handle of the lock at ref. Inbox has a word for each PE.
func NewSRSL(w *pgas.World, ref SRSLStateRef, inbox pgas.Slice[int64], o SRSLOptions) *SRSL {
	checkHome("NewSRSL", w, o.Home)
	if inbox.Len() != w.NPEs() {
		hook.Misuse("NewSRSL", "the inbox has %s: it needs one for each of %s", plural.Count(inbox.Len(), "word"), plural.Count(w.NPEs(), "PE"))
	}
	c := w.Context()
	return &SRSL{mutex: newMutex(w, ref.Ref(), "SRSL lock"), home: o.Home, state: ref.On(c), inbox: pgas.AtomicsOf(inbox.On(c))}
}

// AllocSRSL allocates a lock and makes this PE's handle of it. It is collective. Errors: those of AllocSRSLState and
// pgas.Alloc.
func AllocSRSL(ctx context.Context, w *pgas.World, o SRSLOptions) (*SRSL, error) {
	s, err := AllocSRSLState(ctx, w, 1)
	if err != nil {
		return nil, err
	}
	inbox, err := pgas.Alloc[int64](ctx, w, w.NPEs())
	if err != nil {
		return nil, err
	}
	return NewSRSL(w, s.At(0), inbox.Range(0, w.NPEs()), o), nil
}

// Lock blocks until the server grants the lock. It needs the server also to give up. Errors: those of the interface
// Lock.
func (l *SRSL) Lock(ctx context.Context) error {
	return l.lock(ctx, l, "for an SRSL lock")
}

// TryLock asks the server for the lock, which answers at once whether it grants it.
func (l *SRSL) TryLock() bool { return l.tryLock(l) }

// Unlock sends the unlock to the server.
func (l *SRSL) Unlock() { l.unlock(l, "SRSL.Unlock") }

// acquire waits for the server, which does not say whether it has found the lock free.
func (l *SRSL) acquire(ctx context.Context, way *passage) error {
	way.behind(-1)
	return l.ask(ctx, writerMode, msgLock, msgGiveUp)
}

func (l *SRSL) try() bool { return l.askOnce(writerMode, msgTry) }

func (l *SRSL) release() { l.send(msgUnlock) }

// RLock blocks until the server grants the lock in shared mode. Errors: those of the interface Lock.
func (l *SRSL) RLock(ctx context.Context) error {
	return l.readers.lock(ctx, &l.mutex, l, "to read under an SRSL lock")
}

func (l *SRSL) share(ctx context.Context, way *passage) error {
	way.behind(-1)
	return l.ask(ctx, readerMode, msgLockShared, msgGiveUpShared)
}

// TryRLock is TryLock in shared mode.
func (l *SRSL) TryRLock() bool {
	checkMade(l.w)
	mustHaveAll(l.w)
	if !l.readers.gate.tryEnter() {
		return false
	}
	defer l.readers.gate.leave()
	if !l.askOnce(readerMode, msgTryShared) {
		panicIfPeerDead(l.w)
		return false
	}
	l.readers.acquired(&l.mutex)
	l.use.Count(false, -1)
	return true
}

// RUnlock sends the unlock to the server.
func (l *SRSL) RUnlock() { l.readers.unlock(&l.mutex, l, "SRSL.RUnlock") }

func (l *SRSL) unshare() { l.send(msgUnlockShared) }

// Holder returns the writer that held the lock a moment ago, unless it has sent its unlock since.
func (l *SRSL) Holder() (pe int, held bool) {
	for {
		writer := l.state.Writer().Fetch(l.home)
		if writer == 0 || l.inbox.At(int(writer-1)).Fetch(l.home)&msgUnlock != 0 {
			return 0, false
		}
		if l.state.Writer().Fetch(l.home) == writer {
			return int(writer - 1), true
		}
	}
}

// Waiting returns the number of writers and readers in the server's queue.
func (l *SRSL) Waiting() int { return int(l.state.Queued().Fetch(l.home)) }

// send adds m to this PE's word of the inbox. It uses a fetching atomic, which leaves this PE at once.
func (l *SRSL) send(m int64) { l.inbox.At(l.w.PE()).FetchAdd(l.home, m) }

// ask sends m and waits for the answer. If ctx ends, it sends giveUp, and waits on. Errors, after which the lock is not
// held: *pgas.PeerError if a PE of the job dies, and the cause of ctx's end.
func (l *SRSL) ask(ctx context.Context, mode int, m, giveUp int64) error {
	answer := l.state.Answer(mode)
	answer.Swap(l.w.PE(), pending)
	l.send(m)
	_, err := answer.WaitUntil(ctx, pgas.NE, pending)
	if err == nil {
		return nil
	}
	l.send(giveUp)
	a, lost := answer.WaitUntil(context.Background(), pgas.GE, refused)
	if lost != nil {
		return lost
	}
	if a == kept {
		return nil
	}
	return err
}

// askOnce sends m and reports whether the server granted the lock.
func (l *SRSL) askOnce(mode int, m int64) bool {
	answer := l.state.Answer(mode)
	answer.Swap(l.w.PE(), pending)
	l.send(m)
	a, err := answer.WaitUntil(context.Background(), pgas.NE, pending)
	if err != nil {
		panicPeerError(err)
	}
	return a == granted
}
