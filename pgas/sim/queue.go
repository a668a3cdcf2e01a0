package sim

// The event queue: a radix heap. Time never goes back, so an event goes to the bucket of the highest bit
// in which its time differs from that of the last event, and moves to a lower one a few times in its life.
// Events of the same time come out in the order in which they went in.

import "math/bits"

type event struct {
	at int64
	op *op
}

type queue struct {
	last    int64 // time of the last event
	n       int
	head    int    // next of buckets[0]
	used    uint64 // bit i-1: buckets[i] holds something
	buckets [64][]event
}

func (q *queue) push(at int64, o *op) {
	i := bits.Len64(uint64(at ^ q.last))
	q.buckets[i] = append(q.buckets[i], event{at, o})
	if i > 0 {
		q.used |= 1 << (i - 1)
	}
	q.n++
}

// pop returns the next event, or nil.
func (q *queue) pop() (int64, *op) {
	if q.head == len(q.buckets[0]) && !q.refill() {
		return q.last, nil
	}
	e := &q.buckets[0][q.head]
	o := e.op
	e.op = nil
	q.head++
	q.n--
	return q.last, o
}

// refill moves the next event, and all of the same time, to bucket 0.
func (q *queue) refill() bool {
	q.buckets[0], q.head = q.buckets[0][:0], 0
	if q.used == 0 {
		return false
	}
	i := bits.TrailingZeros64(q.used) + 1
	b := q.buckets[i]
	first := b[0].at
	for _, e := range b[1:] {
		first = min(first, e.at)
	}
	q.last = first
	for _, e := range b {
		k := bits.Len64(uint64(e.at ^ first))
		q.buckets[k] = append(q.buckets[k], e)
		if k > 0 {
			q.used |= 1 << (k - 1)
		}
	}
	clear(b)
	q.buckets[i] = b[:0]
	q.used &^= 1 << (i - 1)
	return true
}
