package containers

// A bounded queue in the memory of one member, its home. Producers and consumers are one-sided.
//
// Every item has a ticket, counted from the first item on. At the home there are:
//
//   - tail, the next ticket that no producer has, and whether the queue is closed
//   - claimed, the next ticket that no consumer has (only with ManyConsumers: a sole consumer keeps it to itself)
//   - freed, a ticket below which no consumer reads items any more
//   - a ring of items: ticket t has place t modulo its length
//   - a ring of words: word t modulo its length tells what has become of ticket t
//
// A producer:
//
//  1. knows that some ticket at or after its last one has room, which is below freed + capacity
//  2. fetch-adds tail by the number of its items: these are its tickets, a chunk
//  3. if other producers were faster, and a ticket has no room yet: waits for it, or gives it up
//  4. puts the items, fences, and sets the word of the chunk's first ticket to (ticket, live, number of items)
//
// The ring of words is so much longer than the capacity that every member can have one chunk without room (step 1).
// So a ticket that a producer gives up has a word of its own: the producer sets it to (ticket, dead, number), and a
// consumer skips it.
//
// A consumer at ticket h waits until the word of h is about h. With ManyConsumers it then takes some tickets of the
// chunk by a compare-swap of claimed, makes the rest a chunk of its own, gets the items, and sets the word to (h,
// freed, number); producers advance freed over such words. A sole consumer is the home, reads items in place, and
// advances freed itself.
//
// Closing sets a bit of tail, so that no producer succeeds later, and then gives up a ticket, which wakes the
// consumers.

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// ErrQueueClosed is what Push returns when the queue is closed, and Pop when it is closed and has no items left.
var ErrQueueClosed = errors.New("the queue is closed")

// Home makes the memory of member pe the home: of a queue, or of the numbers of Tickets. Without it that is member 0.
func Home(pe int) Option { return Option{"Home", func(s *settings) { s.home = pe }} }

// ManyConsumers lets every member pop items. Without it only the home may, at less cost.
func ManyConsumers() Option {
	return Option{"ManyConsumers", func(s *settings) { s.consumers = true }}
}

// queueMaxCapacity is the most items of a queue; tickets have many more bits.
const queueMaxCapacity = 1 << 30

// Queue is a bounded queue of plain values in the memory of one member. Items of one producer are popped in the order
// in which it pushed them.
//
// A consumer that has an item also sees what the item's producer put to the home before it pushed the item, by the
// default context of the members' team.
//
// On each member one goroutine at a time pushes, and one at a time pops: a second one panics with *UsageError, which
// names the lines of both. A goroutine that pushes, one that pops and any number that call Close, Len and Cap may do so
// at the same time, so a push that waits for room does not stop the pop that makes it.
//
// The loss of a PE is an error of every wait, of producers and of consumers, whichever PE it is.
type Queue[T any] struct {
	*queueMemory[T]
	home    int
	owner   bool // Free frees the memory
	tail    pgas.Atomic[uint64]
	claimed pgas.Atomic[uint64]
	freed   pgas.Atomic[uint64]
	words   pgas.AtomicSlice[uint64]

	closed atomic.Bool // this PE knows that the queue is closed

	pushing  exclusive // the rest up to the pops is of this PE's pushes
	next     ticket    // a ticket above those of all pushes of this PE
	limit    ticket    // a ticket below which there was room
	pushed   [1]T      // the item of a Push
	tails    [2]uint64
	scanning [queueScan]uint64

	popping exclusive // the rest is of this PE's pops
	front   ticket    // where to look for the next chunk
	popped  [1]T      // the item of a Pop
}

// queueMemory is the memory of a queue at each member, and its lengths.
type queueMemory[T any] struct {
	members  carry.Members
	many     bool
	capacity int
	batch    int // most items of a chunk
	memory   carry.Memory
	items    pgas.Slice[T]
	control  pgas.Slice[uint64]
	ring     int // length of the ring of words
	start    ticket
}

// Places of the words in control, each on a cache line that its neighbours' prefetching leaves alone.
const (
	queueTail    = 0
	queueClaimed = 16
	queueFreed   = 32
	queueWords   = 48
)

// NewQueue makes a queue of up to capacity items at member 0, or at another one (Home), whose only consumer is its home
// unless ManyConsumers is given. It is collective over all PEs of the World. Every PE reserves heap for the items,
// since the heap is symmetric; PEs other than the home do not touch it.
//
// It returns the errors of pgas.Alloc. It panics with *pgas.UsageError if the capacity is less than 1 or more than
// 2^30, if T is not plain, or the home is no member. Options: Over, Home, ManyConsumers.
func NewQueue[T any](ctx context.Context, w *pgas.World, capacity int, opts ...Option) (*Queue[T], error) {
	const op = "NewQueue"
	s := settingsOf(op, opts, "Home", "ManyConsumers")
	m, err := newQueueMemory[T](ctx, op, w, capacity, s, 0)
	if err != nil {
		return nil, err
	}
	if m.members.Team != nil {
		m.members.MustReach(op, s.home)
	}
	q := m.at(s.home)
	q.owner = true
	return q, nil
}

// Queues is a queue at each member. Of and Mine may be called by any goroutine of a member; each Queue has the rule of
// its type.
type Queues[T any] struct {
	*queueMemory[T]
	of []atomic.Pointer[Queue[T]]
}

// NewQueues makes a queue of up to capacity items at each member. It is collective over all PEs of the World. Its
// errors and panics are those of NewQueue. Options: Over, ManyConsumers.
func NewQueues[T any](ctx context.Context, w *pgas.World, capacity int, opts ...Option) (*Queues[T], error) {
	const op = "NewQueues"
	m, err := newQueueMemory[T](ctx, op, w, capacity, settingsOf(op, opts, "ManyConsumers"), 0)
	if err != nil {
		return nil, err
	}
	return &Queues[T]{queueMemory: m, of: make([]atomic.Pointer[Queue[T]], m.members.N)}, nil
}

// Of returns the queue at member pe. It is local. It panics with *pgas.UsageError if pe is out of range.
func (q *Queues[T]) Of(pe int) *Queue[T] {
	q.queueMemory.mustExist("Queues.Of")
	q.members.MustReach("Queues.Of", pe)
	if q.of[pe].Load() == nil {
		q.of[pe].CompareAndSwap(nil, q.at(pe))
	}
	return q.of[pe].Load()
}

// Mine returns the queue at this PE. It is local.
func (q *Queues[T]) Mine() *Queue[T] {
	q.queueMemory.mustExist("Queues.Mine")
	return q.Of(q.members.Me)
}

// Free frees the memory of the queues. It is collective over all PEs of the World.
func (q *Queues[T]) Free(ctx context.Context) error {
	if q == nil || q.queueMemory == nil {
		carry.Misuse("Queues.Free", "the container is nil or zero: make one with a New… function")
	}
	return q.free(ctx, "Queues.Free")
}

// Free frees the memory of the queue. It is collective over all PEs of the World. It panics with *pgas.UsageError for a
// queue of Queues.
func (q *Queue[T]) Free(ctx context.Context) error {
	if q == nil || q.queueMemory == nil {
		carry.Misuse("Queue.Free", "the container is nil or zero: make one with a New… function")
	}
	if !q.owner {
		carry.Misuse("Queue.Free", "the queue is one of Queues: free those")
	}
	return q.free(ctx, "Queue.Free")
}

// mustExist panics with *pgas.UsageError if the container is nil or zero, or this PE is no member.
func (m *queueMemory[T]) mustExist(op string) {
	if m == nil {
		carry.Misuse(op, "the container is nil or zero: make one with a New… function")
	}
	m.members.MustBeMember(op)
}

// newQueueMemory allocates the queues of a call of op, whose first ticket is start.
func newQueueMemory[T any](ctx context.Context, op string, w *pgas.World, capacity int, s settings, start ticket) (*queueMemory[T], error) {
	mem := &queueMemory[T]{members: carry.MembersOf(ctx, op, w, !s.over, s.team), many: s.consumers, capacity: capacity, start: start & ticketMask}
	if capacity < 1 || capacity > queueMaxCapacity {
		carry.Misuse(op, "a capacity of %d: give a number from 1 to %d", capacity, queueMaxCapacity)
	}
	mem.batch = min(max(capacity/max(mem.members.N, 1), 1), ticketMaxCount)
	mem.ring = powerOfTwo(capacity + mem.members.N*mem.batch + 1) // 1 is for Close
	if !s.over {
		if err := pgas.Agree(ctx, w, op, capacity, s.home, s.consumers); err != nil {
			return nil, err
		}
	}
	if err := carry.MustBePlain[T](ctx, w); err != nil {
		return nil, err
	}
	mem.memory.Members = &mem.members
	items := carry.Reserve[T](&mem.memory, powerOfTwo(capacity))
	control := carry.Reserve[uint64](&mem.memory, queueWords+mem.ring)
	if err := mem.memory.Allocate(ctx, s.over); err != nil || mem.members.Team == nil {
		return mem, err
	}
	mem.items = carry.Piece[T](&mem.memory, items, powerOfTwo(capacity))
	mem.control = carry.Piece[uint64](&mem.memory, control, queueWords+mem.ring)
	mem.begin()
	return mem, mem.memory.Ready(ctx)
}

// begin makes this PE's queue empty, with start as its first ticket. No word is about a ticket that comes soon.
func (m *queueMemory[T]) begin() {
	words, start := m.control.Local(), m.start
	words[queueTail] = uint64(start) << 1
	words[queueClaimed], words[queueFreed] = uint64(start), uint64(start)
	for t := start.plus(-m.ring); t != start; t = t.plus(1) {
		words[queueWords+t.in(m.ring)] = chunk(t, ticketFreed, 1)
	}
}

// at returns a handle of the queue at member home.
func (m *queueMemory[T]) at(home int) *Queue[T] {
	q := &Queue[T]{queueMemory: m, home: home}
	if m.members.Team == nil {
		return q
	}
	control := pgas.AtomicsOf(m.control)
	q.tail, q.claimed, q.freed = control.At(queueTail), control.At(queueClaimed), control.At(queueFreed)
	q.words = control.Range(queueWords, queueWords+m.ring)
	q.front, q.next, q.limit = m.start, m.start, m.start
	if m.members.Me == home && !m.many {
		q.front = ticket(q.freed.Fetch(home))
	}
	return q
}

func (m *queueMemory[T]) free(ctx context.Context, op string) error {
	return freeMemory(ctx, op, &m.memory)
}

// Home returns the member in whose memory the queue is. It is local.
func (q *Queue[T]) Home() int {
	q.check("Queue.Home")
	return q.home
}

// Cap returns the capacity. It is local.
func (q *Queue[T]) Cap() int {
	q.check("Queue.Cap")
	return q.capacity
}

// Len returns about how many items are in the queue: those that are being pushed count, and those that are being popped
// may. It is one-sided: two words are read at the home, at once. It panics with *pgas.PeerError if the home is lost.
func (q *Queue[T]) Len() int {
	q.check("Queue.Len")
	front := q.freed
	if q.many {
		front = q.claimed
	}
	q.members.MustLive(q.home)
	tail, at := q.both(front, new([2]uint64))
	return min(max(tail.after(at), 0), q.capacity)
}

// both reads tail and another word of the home at once, by way of scratch.
func (q *Queue[T]) both(word pgas.Atomic[uint64], scratch *[2]uint64) (tail, at ticket) {
	word.FetchNB(q.home, &scratch[1])
	q.tail.FetchNB(q.home, &scratch[0])
	q.members.Ctx.MustQuiet()
	q.noteEnd(scratch[0])
	return ticket(scratch[0]>>1) & ticketMask, ticket(scratch[1])
}

// noteEnd notes that the queue is closed, if the word of tail says so.
func (q *Queue[T]) noteEnd(tail uint64) {
	if tail&1 != 0 {
		q.closed.Store(true)
	}
}

func (q *Queue[T]) check(op string) {
	if q == nil {
		carry.Misuse(op, "the container is nil or zero: make one with a New… function")
	}
	q.queueMemory.mustExist(op)
}

func (q *Queue[T]) checkWait(ctx context.Context, op string) {
	q.check(op)
	q.members.MustBelong(ctx, op)
}

// powerOfTwo returns the least power of two that is at least n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
