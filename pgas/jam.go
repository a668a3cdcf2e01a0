package pgas

// Notes that no request waits for. A PE keeps up to PGAS_NOTES_MAX of them, in its inbox and in the Matcher.
// Further ones stay in its ring, and initiators wait for room. There is room again when the program of the PE
// takes some of them. If the PE waits for something else instead, this may be what the initiators do next: a
// deadlock. So after PGAS_PEER_TIMEOUT without room its waits end with a *NotesError, and so does its wait for
// room at another PE.

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// NotesError reports that a PE keeps the maximal number of notifications that no request has waited for, and has
// waited for something else for so long that it may be deadlocked with initiators that wait for room.
type NotesError struct {
	PE     int // the PE that keeps them
	Host   string
	Kept   int           // notifications
	Oldest Stamp         // source and tag of the first of them
	Since  time.Duration // how long there has been no room for others
	Target int           // where the PE has no room for a notification of its own, or -1
}

func (e *NotesError) Error() string {
	s := fmt.Sprintf("PE %d on %s keeps %d notifications that no request has waited for, the oldest from PE %d with tag %d, and has had no room for more for %v",
		e.PE, e.Host, e.Kept, e.Oldest.Source(), e.Oldest.Tag(), e.Since.Round(time.Millisecond))
	if e.Target >= 0 {
		s = fmt.Sprintf("there is no room for a notification at PE %d, and ", e.Target) + s
	}
	return s + "; wait for each with a notify.Request, leave them out where no PE needs them, or set PGAS_NOTES_MAX to keep more"
}

// A jam is the time during which an inbox is full and initiators want room. begin and end are called under the lock
// of the ring.
type jam struct {
	refused atomic.Uint64 // 1 + the number of the note that has not been taken since it would be one too many; 0: none
	since   atomic.Int64  // when it began, as World.Now has it, and 1; 0: there is none
}

func (j *jam) begin(n *Node) {
	if j.since.Load() == 0 {
		j.since.Store(int64(n.now()) + 1)
	}
}

func (j *jam) end() {
	if j.since.Load() != 0 || j.refused.Load() != 0 {
		j.since.Store(0)
		j.refused.Store(0)
	}
}

// kept returns how many notes outside the ring no request has taken. The caller has locked b.
func (b *Inbox) kept() int {
	n := len(b.held) - b.first
	if b.matcher != nil {
		n += len(b.matcher.Unmatched())
	}
	return n
}

// Kept returns how many notes outside the ring no request has taken.
func (b *Inbox) Kept() int {
	b.ring.Lock()
	defer b.ring.Unlock()
	return b.kept()
}

// Refuse decides about a note that a Matcher has taken and that no request waits for. It returns false if the
// Matcher may keep the note. Otherwise it puts the note back, and no other may be taken. The caller has locked b.
func (b *Inbox) Refuse() bool {
	if b.kept() < b.most {
		return false
	}
	b.ring.Untake()
	b.jam.begin(b.node)
	b.jam.refused.Store(b.ring.Next() + 1)
	return true
}

// Room ends the jam, when a Matcher has given a note to a request and so has room for another. The caller has
// locked b.
func (b *Inbox) Room() { b.jam.end() }

// patienceForNotes returns how long a jam may last. It is shorter in virtual time, where a PE that waits for room
// asks every few nanoseconds.
func (b *Inbox) patienceForNotes() time.Duration {
	if b.node.sched != nil {
		return time.Millisecond
	}
	return b.node.patience()
}

// jammed returns a *NotesError if the jam has lasted too long.
func (b *Inbox) jammed() error {
	if b == nil || b.jam.since.Load() == 0 {
		return nil
	}
	return b.lookAtJam()
}

func (b *Inbox) lookAtJam() error {
	b.ring.Lock()
	defer b.ring.Unlock()
	since := b.jam.since.Load()
	if since == 0 {
		return nil
	}
	if b.kept() < b.most {
		b.jam.end()
		return nil
	}
	d := b.node.now() - time.Duration(since-1)
	if d < b.patienceForNotes() {
		return nil
	}
	e := &NotesError{PE: b.node.job.PE, Host: b.node.hostName(b.node.job.PE), Kept: b.kept(), Since: d, Target: -1}
	if b.matcher != nil && len(b.matcher.Unmatched()) > 0 {
		e.Oldest = b.matcher.Unmatched()[0].Stamp
	} else {
		e.Oldest = b.held[b.first].Stamp
	}
	return e
}

// awaitRoom waits for a moment, in a wait for a note behind a refused one: only other goroutines of the PE can
// make room. It fails when that takes too long.
func (b *Inbox) awaitRoom(ctx context.Context) error {
	if err := b.node.broken(ctx); err != nil {
		return err
	}
	if b.node.sched != nil {
		b.node.sched.Yield()
		return nil
	}
	b.node.state.Sleep(b.node.state.Doorbell.Load(), nap)
	return nil
}

// pollJammed panics when the program has polled for too long for a note behind a refused one.
func (b *Inbox) pollJammed() {
	if err := b.jammed(); err != nil {
		panic(err)
	}
}

// noRoomAt adds the target to err, the error of a wait for room at pe.
func noRoomAt(pe int, err error) error {
	var full *NotesError
	if !errors.As(err, &full) {
		return err
	}
	with := *full
	with.Target = pe
	return &with
}
