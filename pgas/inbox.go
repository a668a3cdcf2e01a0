package pgas

// Where notes arrive. Notified accesses leave notes in the ring of their target (transport/shm/notequeue.go), and
// package notify takes them from there for the requests of the program.
//
// A ring is bounded, so an initiator that has a note for a full one waits. Two PEs that fill each other's rings
// must not wait for ever. So while an initiator needs room, a PE empties its ring into the inbox in every wait
// in the runtime, and so does a PE that waits for room itself. The order of arrival stays: notes are taken from
// the inbox before the ring.
//
// The inbox is bounded too, by PGAS_NOTES_MAX: notes beyond that stay in the ring, and initiators wait. jam.go
// describes what happens if their target waits for something else meanwhile.

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Note is what a notified access leaves at its target.
type Note = transport.Note

// Stamp is the source and the tag of a Note.
type Stamp = transport.Stamp

// Inbox is the notes that have arrived at this PE, in the order of their arrival. It is for package notify:
// programs wait for notes by its requests.
type Inbox struct {
	ring     *shm.NoteQueue
	held     []Note // out of the ring, and not taken
	first    int    // of them
	node     *Node
	overflow transport.Overflow // has notes that have found no room; nil: none does
	matcher  Matcher
	most     int // notes that it keeps, with those of its Matcher
	jam      jam
}

// A Matcher gives the notes of an Inbox to those who wait for them.
type Matcher interface {
	// Unmatched is the notes that it has taken and that nobody has waited for.
	Unmatched() []Note
}

// Inbox is where the notes for this PE are.
func (w *World) Inbox() *Inbox {
	w.made("World.Inbox")
	return w.n.inbox
}

func (n *Node) openInbox() {
	n.inbox = &Inbox{ring: n.shm.NoteQueue(n.job.PE), node: n, most: n.job.Settings.NotesMax}
	if n.inbox.most == 0 {
		n.inbox.most = boot.DefaultNotesMax
	}
}

// setRemote gives b the transport to other hosts, which may keep notes that have found no room.
func (b *Inbox) setRemote(t transport.Transport) {
	b.overflow, _ = t.(transport.Overflow)
}

// Matcher is the one that takes the notes of b: open makes it when there is none.
func (b *Inbox) Matcher(open func() Matcher) Matcher {
	b.Lock()
	defer b.Unlock()
	if b.matcher == nil {
		b.matcher = open()
	}
	return b.matcher
}

// Lock keeps other goroutines of the PE from b, and from what belongs to its Matcher. Nobody waits under it.
func (b *Inbox) Lock() {
	b.ring.Lock()
	if b.node.sched != nil {
		b.node.sched.AboutToReadNotes()
	}
}

// Unlock ends what Lock began.
func (b *Inbox) Unlock() { b.ring.Unlock() }

// Take takes the note that has arrived first, and reports false if there is none. The data of what was put
// is in its place then. The caller has locked b.
func (b *Inbox) Take(n *Note) bool {
	if b.first < len(b.held) {
		*n = b.held[b.first]
		if b.first++; b.first == len(b.held) {
			b.held, b.first = b.held[:0], 0
		}
		return true
	}
	return b.ring.Take(n) || b.ring.Overflowed() && b.refill() && b.ring.Take(n)
}

// refill lets notes into the ring that have found no room.
func (b *Inbox) refill() bool {
	if b.overflow != nil {
		b.overflow.Refill()
	}
	return true
}

// Next is the number of the next note that is to arrive. The caller has locked b, and taken all there is.
func (b *Inbox) Next() uint64 { return b.ring.Next() }

// Await returns when the note with that number has arrived, even if it has been taken since. It may return early
// while notes are refused.
func (b *Inbox) Await(ctx context.Context, number uint64) error {
	if b.jam.refused.Load() == number+1 {
		return b.awaitRoom(ctx)
	}
	at, v := shm.ArrivalWord(number)
	_, err := b.node.await(ctx, b.node.wordCond(at, GE, v, false), blockedIn{op: boot.InNotify, peer: -1})
	return err
}

// Poll is for who looks for notes again and again instead of waiting: it lets others run where PEs do not
// run by themselves.
func (b *Inbox) Poll() {
	b.node.poll()
	if b.jam.refused.Load() != 0 {
		b.pollJammed()
	}
}

// makeRoom empties the ring if somebody waits for room in it.
func (b *Inbox) makeRoom() {
	if b.ring.SpaceRequested() {
		b.empty()
	}
}

// empty moves notes from the ring to the inbox until the inbox has as many as it may keep.
func (b *Inbox) empty() {
	b.ring.Lock()
	defer b.ring.Unlock()
	kept := b.kept()
	if kept >= b.most {
		if b.ring.SpaceRequested() {
			b.jam.begin(b.node)
		}
		return // the request for room stays set: initiators that find the ring full need not ask again
	}
	b.jam.end()
	b.ring.ClearRequest() // before it is empty: who finds it full after that asks again
	for n := (Note{}); kept < b.most && (b.ring.Take(&n) || b.ring.Overflowed() && b.refill() && b.ring.Take(&n)); kept++ {
		b.hold(n)
	}
}

// hold adds n to the notes out of the ring. It drops the ones already taken when they are half of the slice.
func (b *Inbox) hold(n Note) {
	if len(b.held) == cap(b.held) && 2*b.first >= len(b.held) {
		b.held = b.held[:copy(b.held, b.held[b.first:])]
		b.first = 0
	}
	b.held = append(b.held, n)
}

// leftover is the notes that nobody has waited for.
func (b *Inbox) leftover() []Note {
	b.empty()
	b.ring.Lock()
	defer b.ring.Unlock()
	var left []Note
	if b.matcher != nil {
		left = b.matcher.Unmatched()
	}
	return append(left, b.held[b.first:]...)
}

// reportNotes says which notes nobody has waited for when the World ends. Their data has arrived, so it is
// no error, but the program that sent them expected more.
func (w *World) reportNotes() {
	const most = 3
	left := w.n.inbox.leftover()
	if len(left) == 0 {
		return
	}
	var which []string
	for _, n := range left[:min(most, len(left))] {
		which = append(which, fmt.Sprintf("from PE %d with tag %d (%d bytes)", n.Source(), n.Tag(), n.Bytes))
	}
	if len(left) > most {
		which = append(which, "…")
	}
	fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: nobody waited for %d of the notifications that arrived: %s; wait for each with a notify.Request, or leave the notification out where nobody needs it\n",
		w.n.job.PE, w.Host(), len(left), strings.Join(which, ", "))
}

// A roomWait is the wait of a notified access for room at its target.
type roomWait struct{ tries int }

// waitForRoom is between two attempts to leave a note at pe of the job. It reports false if there is no
// hope; the access is then lost, which the next quiet of c reports.
func (c *Context) waitForRoom(pe int, r *roomWait) bool {
	const (
		yields  = 50
		mostNap = time.Millisecond
	)
	w := c.w
	if r.tries == 0 {
		w.n.block(blockedIn{op: boot.InNotify, peer: pe})
	}
	r.tries++
	w.n.inbox.empty()
	if err := w.n.broken(w.n.ctx); err != nil {
		err = noRoomAt(pe, err)
		c.owed.CompareAndSwap(nil, &err)
		return false
	}
	switch {
	case w.n.sched != nil:
		w.n.sched.Yield()
	case r.tries <= yields:
		w.n.yield()
	default:
		// Nobody rings when there is room, but who wants some here does.
		door := w.n.state.Doorbell.Load()
		if !w.n.inbox.ring.SpaceRequested() || w.n.inbox.jam.since.Load() != 0 {
			w.n.state.Sleep(door, min(mostNap, time.Duration(r.tries-yields)*20*time.Microsecond))
		}
	}
	return true
}

// gotRoom ends the wait.
func (c *Context) gotRoom(r *roomWait) {
	if r.tries > 0 {
		c.w.n.unblock()
	}
}
