package locks

// The server of SRSL: how the home handles the messages that srsl.go sends.

import (
	"context"
	"slices"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// want is a request in the server's queue.
type want struct{ pe, mode int }

// server is the state of the home.
//
// Invariant: writer < 0 or readers == 0.
type server struct {
	*SRSL
	writer  int // the PE that holds the lock alone, or -1
	readers int
	queue   []want
	found   []int   // PEs with messages
	taken   []int64 // the messages of each PE
	answers []answer
}

type answer struct {
	to want
	a  int64
}

// Serve makes this PE, which must be the home, the server of the lock. It is called once, since only this call knows
// which PEs hold the lock or wait. Errors, one of which it always returns: the cause of ctx's end, and *pgas.PeerError
// if a PE of the job dies. It returns also when the World is closed while it waits for messages; a program should end
// ctx before that and wait for Serve. It panics with *pgas.UsageError on another PE than the home.
func (l *SRSL) Serve(ctx context.Context) (err error) {
	if l.w.PE() != l.home {
		hook.UsageError("SRSL.Serve", "this PE is not the home of the lock, which alone can serve")
	}
	defer recoverPeer(&err)
	s := &server{SRSL: l, writer: -1, taken: make([]int64, l.w.NPEs())}
	set := l.inbox.Until(pgas.NE, 0)
	for {
		if err := s.collect(ctx, set); err != nil {
			return err
		}
		for _, take := range []func(pe int, m int64){s.unlocks, s.asks, s.givesUp} {
			for pe, m := range s.taken {
				take(pe, m)
			}
		}
		s.grant()
		s.finish()
		l.w.MustQuiet()
	}
}

// finish publishes the result of the messages, and then answers them: a PE that has its answer sees the result. It does
// not wait for the answers to arrive.
func (s *server) finish() {
	for pe, m := range s.taken {
		if m != 0 {
			s.inbox.At(pe).FetchAdd(s.home, -m)
		}
	}
	clear(s.taken)
	s.state.Queued().Swap(s.home, int64(len(s.queue)))
	for _, x := range s.answers {
		s.state.Answer(x.to.mode).Set(x.to.pe, x.a)
	}
	s.answers = s.answers[:0]
}

// collect blocks until there are messages, and reads them and the unlocks that were sent before any of them. Messages
// stay in the inbox until they have been handled. Other messages that arrive between the two readings stay too: an
// unlock that was sent before one of them may have arrived too late for the second reading.
func (s *server) collect(ctx context.Context, set *pgas.WaitSet[int64]) (err error) {
	s.found, err = set.WaitSome(ctx, s.found[:0])
	if err != nil {
		return err
	}
	for _, pe := range s.found {
		s.taken[pe] = s.inbox.At(pe).Fetch(s.home)
	}
	s.found = set.TestSome(s.found[:0])
	for _, pe := range s.found {
		s.taken[pe] = s.taken[pe]&^unlocks | s.inbox.At(pe).Fetch(s.home)&unlocks
	}
	return nil
}

func (s *server) unlocks(_ int, m int64) {
	if m&msgUnlock != 0 {
		s.setWriter(-1)
	}
	s.readers -= int(m / msgUnlockShared)
}

// asks adds the requests of pe to the queue. It answers those of TryLock and TryRLock at once.
func (s *server) asks(pe int, m int64) {
	if m&msgTry != 0 {
		s.tryGrant(want{pe, writerMode})
	}
	if m&msgTryShared != 0 {
		s.tryGrant(want{pe, readerMode})
	}
	if m&msgLock != 0 {
		s.queue = append(s.queue, want{pe, writerMode})
	}
	if m&msgLockShared != 0 {
		s.queue = append(s.queue, want{pe, readerMode})
	}
}

func (s *server) givesUp(pe int, m int64) {
	if m&msgGiveUp != 0 {
		s.remove(want{pe, writerMode})
	}
	if m&msgGiveUpShared != 0 {
		s.remove(want{pe, readerMode})
	}
}

// tryGrant grants x if the lock admits it and the queue is empty.
func (s *server) tryGrant(x want) {
	if len(s.queue) > 0 || !s.admits(x) {
		s.answer(x, refused)
		return
	}
	s.admit(x)
}

// remove takes x out of the queue. If x is not in the queue, it has been granted.
func (s *server) remove(x want) {
	i := slices.Index(s.queue, x)
	if i < 0 {
		s.answer(x, kept)
		return
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	s.answer(x, refused)
}

// grant grants the requests at the head of the queue that the lock admits.
func (s *server) grant() {
	n := 0
	for n < len(s.queue) && s.admits(s.queue[n]) {
		s.admit(s.queue[n])
		n++
	}
	s.queue = slices.Delete(s.queue, 0, n)
}

func (s *server) admits(x want) bool { return s.writer < 0 && (x.mode == readerMode || s.readers == 0) }

func (s *server) admit(x want) {
	if x.mode == readerMode {
		s.readers++
	} else {
		s.setWriter(x.pe)
	}
	s.answer(x, granted)
}

func (s *server) setWriter(pe int) {
	s.writer = pe
	s.state.Writer().Swap(s.home, int64(pe)+1)
}

func (s *server) answer(to want, a int64) { s.answers = append(s.answers, answer{to, a}) }
