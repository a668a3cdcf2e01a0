package node

import (
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// NoteQueue is the notes that have arrived at this PE, in the order of their arrival. It is for package notify:
// programs wait for notes by its requests.
type NoteQueue struct {
	Ring       *shm.NoteQueue
	held       []transport.Note // notes that have left the ring and are not taken yet
	first      int              // the index in held of the first note
	rec        *record.PE       // where notes are recorded; nil: nothing is recorded
	node       *Node
	overflow   transport.Overflow  // holds notes that have found no room; nil: nothing does
	sched      transport.Scheduler // must know that the queue is read; nil: PEs run by themselves
	matcher    Matcher
	most       int // the most notes that may be kept, the Matcher's included
	Congestion congestion
}

// A Matcher gives the notes of a queue to the requests that wait for them.
type Matcher = interface {
	// Unmatched returns the notes that it has taken and that no request has waited for.
	Unmatched() []transport.Note
}

func (n *Node) openNoteQueue() {
	n.Notes = &NoteQueue{Ring: n.Shm.NoteQueue(n.Job.PE), node: n, most: n.Job.Settings.NotesMax}
	if n.Notes.most == 0 {
		n.Notes.most = boot.DefaultNotesMax
	}
}

// setRemote gives b the transport to other hosts, which may keep notes that have found no room.
func (b *NoteQueue) setRemote(t transport.Transport) {
	b.overflow, _ = t.(transport.Overflow)
	b.sched, _ = t.(transport.Scheduler)
}

// Matcher is the one that takes the notes of b: open makes it when there is none.
func (b *NoteQueue) Matcher(open func() Matcher) Matcher {
	b.Lock()
	defer b.Unlock()
	if b.matcher == nil {
		b.matcher = open()
	}
	return b.matcher
}

// Lock keeps other goroutines of the PE from b, and from what belongs to its Matcher. Its holder does not wait.
func (b *NoteQueue) Lock() {
	b.node.Learn()
	b.Ring.Lock()
	if b.sched != nil {
		b.sched.AboutToReadNotes()
	}
}

// Unlock ends what Lock began.
func (b *NoteQueue) Unlock() { b.Ring.Unlock() }

// Take takes the note that has arrived first, and reports false if there is none. The data of what was put
// is in its place then. The caller has locked b.
func (b *NoteQueue) Take(n *transport.Note) bool {
	if b.first < len(b.held) {
		*n = b.held[b.first]
		if b.first++; b.first == len(b.held) {
			b.held, b.first = b.held[:0], 0
		}
		return true
	}
	return b.Ring.Take(n) || b.Ring.Overflowed() && b.pullOverflow() && b.Ring.Take(n)
}

// Matched records that a request has got n: an unexpected note if no request asked for it when it was found. To a
// detector of races the PE comes after what n proves from then on.
func (b *NoteQueue) Matched(n *transport.Note, unexpected bool) {
	b.Ring.Seen(n.Stamp)
	if b.node.Races != nil {
		b.node.Races.Got(b.node.Ctx, *n)
	}
	if b.rec != nil {
		b.count(unexpected)
	}
}

func (b *NoteQueue) count(unexpected bool) {
	b.rec.Add(record.NotesMatched, 1)
	if unexpected {
		b.rec.Add(record.NotesUnexpected, 1)
	}
}

// Probed tells the detectors of races that the program has seen n, which no request has got.
func (b *NoteQueue) Probed(n *transport.Note) {
	b.Ring.Seen(n.Stamp)
	b.node.Races.Probed(b.node.Ctx, *n)
}

// pullOverflow lets notes into the ring that have found no room.
func (b *NoteQueue) pullOverflow() bool {
	if b.overflow != nil {
		b.overflow.Refill()
	}
	return true
}

// Next is the number of the next note that is to arrive. The caller has locked b, and taken all there is.
func (b *NoteQueue) Next() uint64 { return b.Ring.Next() }

// drainIfWanted empties the queue in shared memory if an initiator waits for space in it.
func (b *NoteQueue) drainIfWanted() {
	if b.Ring.SpaceRequested() {
		b.Drain()
	}
}

// Drain moves notes from the ring to the inbox until the inbox has as many as it may keep.
func (b *NoteQueue) Drain() {
	b.Ring.Lock()
	defer b.Ring.Unlock()
	kept := b.kept()
	if kept >= b.most {
		if b.Ring.SpaceRequested() {
			b.Congestion.begin(b.node)
		}
		return // the request for room stays set: initiators that find the ring full need not ask again
	}
	b.Congestion.end()
	b.Ring.ClearRequest() // before it is empty: an initiator that finds it full after that asks again
	for n := (transport.Note{}); kept < b.most && (b.Ring.Take(&n) || b.Ring.Overflowed() && b.pullOverflow() && b.Ring.Take(&n)); kept++ {
		b.hold(n)
	}
}

// hold adds n to the notes out of the ring. It drops the ones already taken when they are half of the slice.
func (b *NoteQueue) hold(n transport.Note) {
	if len(b.held) == cap(b.held) && 2*b.first >= len(b.held) {
		b.held = b.held[:copy(b.held, b.held[b.first:])]
		b.first = 0
	}
	b.held = append(b.held, n)
}

// Unreceived returns the notes that no request has waited for.
func (b *NoteQueue) Unreceived() []transport.Note {
	b.Drain()
	b.Ring.Lock()
	defer b.Ring.Unlock()
	var left []transport.Note
	if b.matcher != nil {
		left = b.matcher.Unmatched()
	}
	return append(left, b.held[b.first:]...)
}

// congestion is the state of a note queue that is full while initiators want room in it. The caller of begin and end
// has locked the queue.
type congestion struct {
	refused atomic.Uint64 // 1 + the number of the note that has not been taken since it would be one too many; 0: none
	Since   atomic.Int64  // 1 + the time of Node.Now at which the congestion began; 0: there is none
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
