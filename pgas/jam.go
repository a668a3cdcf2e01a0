package pgas

// Notes that nobody waits for. A PE keeps as many as PGAS_NOTES_MAX says, in its inbox and in the Matcher. When it
// has those, more stay in its ring, and who has a note for it waits for room. That ends when the program of the PE
// waits for some of them. If the PE is in waits of the runtime all the time instead, what it waits for may well be
// what the others could do if they had room: then nothing would ever go on. So after PGAS_PEER_TIMEOUT without
// room its waits end with a *NotesError, and so does its wait for room at another PE.

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// NotesError reports that a PE keeps as many notifications that nobody has waited for as it may, and that it has
// waited for something else for so long that others may wait for it for ever.
type NotesError struct {
	PE     int // that has them
	Host   string
	Kept   int           // notifications
	Oldest Stamp         // source and tag of the first of them
	Since  time.Duration // how long there has been no room for others
	Target int           // where the PE has no room for a notification of its own, or -1
}

func (e *NotesError) Error() string {
	s := fmt.Sprintf("PE %d on %s keeps %d notifications that nobody has waited for, the oldest from PE %d with tag %d, and has had no room for more for %v",
		e.PE, e.Host, e.Kept, e.Oldest.Source(), e.Oldest.Tag(), e.Since.Round(time.Millisecond))
	if e.Target >= 0 {
		s = fmt.Sprintf("there is no room for a notification at PE %d, and ", e.Target) + s
	}
	return s + "; wait for each with a notify.Request, leave them out where nobody needs them, or set PGAS_NOTES_MAX to keep more"
}

// A jam is the time in which an inbox keeps all that it may and others want room. begin and end are called under the
// lock of the ring.
type jam struct {
	refused atomic.Uint64 // 1 + the number of the note that has not been taken since it would be one too many; 0: none
	since   atomic.Int64  // when it began, as World.Now has it, and 1; 0: there is none
}

func (j *jam) begin(w *World) {
	if j.since.Load() == 0 {
		j.since.Store(int64(w.Now()) + 1)
	}
}

func (j *jam) end() {
	if j.since.Load() != 0 || j.refused.Load() != 0 {
		j.since.Store(0)
		j.refused.Store(0)
	}
}

// kept is how many notes are out of the ring that nobody has waited for. The caller has locked b.
func (b *Inbox) kept() int {
	n := len(b.held) - b.first
	if b.matcher != nil {
		n += len(b.matcher.Unmatched())
	}
	return n
}

// Kept is how many notes are out of the ring that nobody has waited for.
func (b *Inbox) Kept() int {
	b.ring.Lock()
	defer b.ring.Unlock()
	return b.kept()
}

// Refuse is for a Matcher that has taken a note that nobody waits for. It reports false if the note may be kept;
// otherwise the note has not been taken, nor may others be. The caller has locked b.
func (b *Inbox) Refuse() bool {
	if b.kept() < b.most {
		return false
	}
	b.ring.Untake()
	b.jam.begin(b.w)
	b.jam.refused.Store(b.ring.Next() + 1)
	return true
}

// Room is for a Matcher that has given a note to somebody: whoever waits for room may hope for some. The caller has
// locked b.
func (b *Inbox) Room() { b.jam.end() }

// patienceForNotes is how long a jam may last. In virtual time a PE that waits for room asks for it again every few
// nanoseconds.
func (b *Inbox) patienceForNotes() time.Duration {
	if b.w.sched != nil {
		return time.Millisecond
	}
	return b.w.patience()
}

// jammed is a *NotesError if the jam lasts too long.
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
	d := b.w.Now() - time.Duration(since-1)
	if d < b.patienceForNotes() {
		return nil
	}
	e := &NotesError{PE: b.w.job.PE, Host: b.w.Host(), Kept: b.kept(), Since: d, Target: -1}
	if b.matcher != nil && len(b.matcher.Unmatched()) > 0 {
		e.Oldest = b.matcher.Unmatched()[0].Stamp
	} else {
		e.Oldest = b.held[b.first].Stamp
	}
	return e
}

// awaitRoom is a moment of a wait for a note behind one that has been refused: only other goroutines of the PE can
// make room. It fails when that takes too long.
func (b *Inbox) awaitRoom(ctx context.Context) error {
	if err := b.w.broken(ctx); err != nil {
		return err
	}
	if b.w.sched != nil {
		b.w.sched.Yield()
		return nil
	}
	b.w.state.Sleep(b.w.state.Door.Load(), nap)
	return nil
}

// pollJammed panics when the program has polled for too long for what can only come behind a note that has been
// refused.
func (b *Inbox) pollJammed() {
	if err := b.jammed(); err != nil {
		panic(err)
	}
}

// noRoomAt is err of a wait for room at pe.
func noRoomAt(pe int, err error) error {
	var full *NotesError
	if !errors.As(err, &full) {
		return err
	}
	with := *full
	with.Target = pe
	return &with
}
