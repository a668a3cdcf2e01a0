package node

import (
	"context"
	"sync/atomic"
	"time"
)

// congestion is the state of a note queue that is full while initiators want room in it. The caller of begin and end
// has locked the queue.
type congestion struct {
	refused atomic.Uint64 // 1 + the number of the note that has not been taken since it would be one too many; 0: none
	Since   atomic.Int64  // 1 + the time of Node.Now at which it began; 0: there is none
}

func (j *congestion) begin(n *Node) {
	if j.Since.Load() == 0 {
		j.Since.Store(int64(n.Now()) + 1)
	}
}

func (j *congestion) end() {
	if j.Since.Load() != 0 || j.refused.Load() != 0 {
		j.Since.Store(0)
		j.refused.Store(0)
	}
}

// kept returns how many notes outside the shared queue no request has taken. The caller has locked b.
func (b *NoteQueue) kept() int {
	n := len(b.held) - b.first
	if b.matcher != nil {
		n += len(b.matcher.Unmatched())
	}
	return n
}

// Kept returns how many notes outside the shared queue no request has taken.
func (b *NoteQueue) Kept() int {
	b.Ring.Lock()
	defer b.Ring.Unlock()
	return b.kept()
}

// Refuse decides about a note that a Matcher has taken and that no request waits for. It returns false if the
// Matcher may keep the note. Otherwise it puts the note back, and no other may be taken. The caller has locked b.
func (b *NoteQueue) Refuse() bool {
	if b.kept() < b.most {
		return false
	}
	b.Ring.Untake()
	b.Congestion.begin(b.node)
	b.Congestion.refused.Store(b.Ring.Next() + 1)
	return true
}

// Room ends the congestion when a Matcher has given a note to a request and so has room for another. The caller has
// locked b.
func (b *NoteQueue) Room() { b.Congestion.end() }

// congestionTimeout returns how long congestion may last before it is an error. It is shorter in virtual time, where a PE that waits for room
// asks every few nanoseconds.
func (b *NoteQueue) congestionTimeout() time.Duration {
	if b.node.Sched != nil {
		return time.Millisecond
	}
	return b.node.CycleTimeout()
}

// congestionError returns the *NotesError that NotesFull makes if congestion has lasted too long, or nil.
func (b *NoteQueue) congestionError() error {
	if b == nil || b.Congestion.Since.Load() == 0 {
		return nil
	}
	return b.checkCongestion()
}

func (b *NoteQueue) checkCongestion() error {
	b.Ring.Lock()
	defer b.Ring.Unlock()
	since := b.Congestion.Since.Load()
	if since == 0 {
		return nil
	}
	if b.kept() < b.most {
		b.Congestion.end()
		return nil
	}
	d := b.node.Now() - time.Duration(since-1)
	if d < b.congestionTimeout() {
		return nil
	}
	oldest := b.held
	if b.matcher != nil && len(b.matcher.Unmatched()) > 0 {
		oldest = b.matcher.Unmatched()
	} else {
		oldest = oldest[b.first:]
	}
	return b.node.NotesFull(b.kept(), oldest[0].Stamp, d)
}

// awaitSpace waits for a moment, in a wait for a note behind a refused one: only other goroutines of the PE can
// make room. It fails when that takes too long.
func (b *NoteQueue) awaitSpace(ctx context.Context) error {
	if err := b.node.EndedError(ctx); err != nil {
		return err
	}
	if b.node.Sched != nil {
		b.node.Sched.Yield()
		return nil
	}
	b.node.State.Sleep(b.node.State.Doorbell.Load(), MinSleep)
	return nil
}

// panicIfCongested panics when the program has polled for too long for a note behind a refused one.
func (b *NoteQueue) panicIfCongested() {
	if err := b.congestionError(); err != nil {
		panic(err)
	}
}
