package engine

// The queue of events: a radix heap. Time never goes back. So an event goes into the bucket of the highest bit in which
// its time differs from a time that all earlier events have passed, and moves to a lower bucket a few times in its
// life. The next events are kept sorted, so that their memory can be prefetched. Events of the same time are removed in
// the order in which they were added.

import (
	"math/bits"
	"sort"
)

// An entry is an event and its time.
type entry[T any] struct {
	time  int64
	event *T
}

// A queue holds pointers to events of type T by their times. The zero queue is empty.
type queue[T any] struct {
	n         int        // events in the queue
	lookahead int        // events that are kept sorted besides the next one, if there are as many
	next      []entry[T] // events before limit, from head on, sorted by time
	head      int        // index of the next event
	last      int64      // time of the event that was removed last
	limit     int64      // time from which on events are in buckets
	base      int64      // buckets are by the highest bit in which times differ from this one
	used      uint64     // bit i: buckets[i] holds something
	// Times are not negative, so no two differ in bit 63.
	buckets [64][]entry[T]
}

const (
	maxSorted   = 32  // a larger bucket is split before it is sorted
	maxConsumed = 64  // removed events at the beginning of next
	maxInserted = 256 // sorted events besides lookahead; with more, half of them go back into buckets
)

// push adds an event of time at.
func (q *queue[T]) push(at int64, ev *T) {
	q.n++
	if at >= q.limit {
		q.addToBucket(entry[T]{at, ev})
		return
	}
	q.insert(entry[T]{at, ev})
	if len(q.next)-q.head > q.lookahead+maxInserted {
		q.spill()
	}
}

// spill moves the later half of the sorted events back into buckets, so that insert does not move each new event past
// many others: a bucket of few events can span a time into which thousands are added.
func (q *queue[T]) spill() {
	limit := q.next[(q.head+len(q.next))/2].time
	if limit == q.next[q.head].time {
		limit++
	}
	i := q.head + sort.Search(len(q.next)-q.head, func(i int) bool { return q.next[q.head+i].time >= limit })
	if i == len(q.next) {
		return // all are of the same time
	}
	q.lowerBase(limit)
	q.limit = limit
	for _, e := range q.next[i:] {
		q.addToBucket(e)
	}
	clear(q.next[i:])
	q.next = q.next[:i]
}

// lowerBase makes an earlier time the base. Events that share a bit with the old base in which the new one differs go
// into the bucket of that bit, which was empty: they are later than both.
func (q *queue[T]) lowerBase(to int64) {
	i := bits.Len64(uint64(q.base ^ to))
	for low := q.used & (1<<i - 1); low != 0; low &= low - 1 {
		k := bits.TrailingZeros64(low)
		q.buckets[i] = append(q.buckets[i], q.buckets[k]...)
		clear(q.buckets[k])
		q.buckets[k] = q.buckets[k][:0]
		q.used = q.used&^(1<<k) | 1<<i
	}
	q.base = to
}

// addToBucket adds an event that is not before limit.
func (q *queue[T]) addToBucket(e entry[T]) {
	i := bits.Len64(uint64(e.time ^ q.base))
	q.buckets[i] = append(q.buckets[i], e)
	q.used |= 1 << i
}

// insert puts e among the sorted events, behind those of the same time.
func (q *queue[T]) insert(e entry[T]) {
	if q.head >= maxConsumed && 2*q.head >= len(q.next) {
		q.compact()
	}
	q.next = append(q.next, e)
	i := len(q.next) - 1
	for ; i > q.head && q.next[i-1].time > e.time; i-- {
		q.next[i] = q.next[i-1]
	}
	q.next[i] = e
}

// pop removes and returns the next event, which is nil if there is none.
func (q *queue[T]) pop() (int64, *T) {
	for len(q.next)-q.head <= q.lookahead && q.used != 0 {
		q.splitBucket()
	}
	if q.head == len(q.next) {
		return q.last, nil
	}
	e := &q.next[q.head]
	ev := e.event
	e.event = nil
	q.head++
	q.n--
	q.last = e.time
	return q.last, ev
}

// compact frees the space of removed events.
func (q *queue[T]) compact() {
	n := copy(q.next, q.next[q.head:])
	clear(q.next[n:])
	q.next, q.head = q.next[:n], 0
}

// splitBucket divides the first bucket, or sorts it if it has few events.
func (q *queue[T]) splitBucket() {
	q.compact()
	i := bits.TrailingZeros64(q.used)
	b := q.buckets[i]
	q.used &^= 1 << i
	switch {
	case i == 0:
		q.next = append(q.next, b...) // all of the same time
		q.limit = q.base + 1
	case len(b) <= maxSorted:
		q.limit = (q.base>>i + 1) << i // the end of the bucket
		q.base = q.limit - 1
		for _, e := range b {
			q.insert(e)
		}
	default:
		q.base = b[0].time
		for _, e := range b[1:] {
			q.base = min(q.base, e.time)
		}
		q.limit = q.base
		for _, e := range b {
			q.addToBucket(e)
		}
	}
	clear(b)
	q.buckets[i] = b[:0]
}
