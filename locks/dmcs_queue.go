package locks

// The distributed queue (rma-locks 2.4 and 3.2.2), of which D-MCS is one and RMA-MCS a tree: PEs wait in
// the order in which they came, each for a word of its own memory. A PE tells the one behind it a word of
// what it is to do.
//
//	tail   of the home's copy   1 + the last PE of the queue; 0: it is empty. Swapped by who comes,
//	                            compare-swapped to 0 by the head when it leaves
//	next   of a PE's node       1 + the PE behind it, written by that PE; or, negative, the word for
//	                            whoever comes behind it, left by the head. 0: neither yet
//	status of a PE's node       what the PE waits for, or what it was told: see below
//
// The head is the PE that waits no more. Its node stays in the queue until it leaves, which another PE may
// do for it. The states of a node:
//
//	idle        in no queue, next is 0; or, its PE being the head, it came to an empty queue
//	waiting     its PE waits                                  set by the owner before it links itself
//	abandoned   its PE has given up; nobody waits             set by the owner, waiting -> abandoned
//	spent       nobody's place any more, but still linked     set by the head
//	a word      its PE is the head, and was told this         set by the head before, waiting -> word
//
// Cancellation. Who gives up compare-swaps its node from waiting to abandoned and goes; if that fails, it
// has been told a word and is the head. When the head comes to an abandoned node it compare-swaps it to
// spent and has taken it over: that node is where the queue begins now, and the head goes on from there,
// setting the node idle when it is out of the queue. A PE that comes back before that finds its node
// abandoned, and compare-swaps it to waiting: it has kept its place. If it is spent, it waits, in its own
// memory, until it is idle.
//
// Where the listings fall short. Listing 2 sets STATUS and waits for WAIT, which are the same word.
// Listing 3 has the head wait, when the tail is not its own, for the successor to link itself; for the
// node of another PE that would be polling over the network. Here the head leaves its word in next, by
// compare-swap, and the successor, which links itself by a swap, finds it there. So leaving never waits;
// the node that was left must be set idle by the successor, and its owner may find it spent.
//
// Invariant: a node that is idle and not the head's is referred to by no other node and not by tail.
// Invariant: waiting -> abandoned and abandoned -> waiting are the owner's, all else that starts from
// these two is the head's. So nobody is told twice, and nobody is overlooked.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// Queue is the state of a distributed queue.
//
//pgas:symmetric views
type Queue struct {
	Tail   int64    `pgas:"atomic"` // of the home's copy; written by: everybody
	_      [56]byte // the tail is everybody's, the node the PE's own
	Next   int64    `pgas:"atomic"` // written by: who comes behind, the head; read by: the head
	Status int64    `pgas:"atomic"` // written by: owner, the head; read by: owner
}

// What a node can be. Words that PEs tell each other are above these.
const (
	idle int64 = iota
	waiting
	abandoned
	spent
	firstWord // the first of them
)

// queue is a PE's handle.
type queue struct {
	w                  *pgas.World
	me, home           int
	tail, next, status pgas.Atomic[int64]
	mine               node // this PE's own: the way for what no other PE changes meanwhile
}

// node is a way to the words of nodes.
type node struct{ next, status pgas.Atomic[int64] }

func newQueue(w *pgas.World, ref QueueRef, home int) queue {
	c := w.Context()
	n := node{ref.Next().On(c), ref.Status().On(c)}
	return queue{w, w.PE(), home, ref.Tail().On(c), n.next, n.status, n}
}

// nodeOf is the way to the node of pe, which only this PE changes at the time.
func (q *queue) nodeOf(pe int) node {
	if pe == q.me {
		return q.mine
	}
	return node{q.next, q.status}
}

// enter waits until this PE is the head, and returns the word that it was told, or 0 if it came to an
// empty queue. On an error it is not the head.
func (q *queue) enter(ctx context.Context) (word int64, err error) {
	switch s := q.mine.status.Fetch(q.me); s {
	case idle:
	case abandoned:
		if q.status.CompareSwap(q.me, abandoned, waiting) == abandoned {
			return q.wait(ctx, -1)
		}
		fallthrough
	default:
		if _, err := q.status.WaitUntil(ctx, pgas.EQ, idle); err != nil {
			return 0, err
		}
	}
	before := q.tail.Swap(q.home, int64(q.me)+1)
	if before == 0 {
		return 0, nil
	}
	q.mine.status.Swap(q.me, waiting)
	if word, ok := q.link(int(before - 1)); ok {
		q.mine.status.Swap(q.me, word)
		return word, nil
	}
	return q.wait(ctx, int(before-1))
}

// link makes the PE before see this one. If that has left its word, this PE is the head.
func (q *queue) link(before int) (word int64, ok bool) {
	left := q.next.Swap(before, int64(q.me)+1)
	if left == 0 {
		return 0, false
	}
	q.free(before)
	return -left, true
}

// wait is for the word of the PE before, -1 if that is not known.
func (q *queue) wait(ctx context.Context, before int) (word int64, err error) {
	word, err = q.status.WaitBehind(ctx, pgas.NE, waiting, before, waiting)
	if err != nil {
		if word = q.status.CompareSwap(q.me, waiting, abandoned); word == waiting {
			return 0, err
		}
	}
	return word, nil
}

// try makes this PE the head if the queue is empty.
func (q *queue) try() bool {
	return q.mine.status.Fetch(q.me) == idle && q.tail.CompareSwap(q.home, 0, int64(q.me)+1) == 0
}

// pass makes the first PE behind head that waits the head, and tells it word. If none is known that waits,
// it returns false, and which node is the head's now: head, or one that was abandoned behind it.
func (q *queue) pass(head int, word int64) (last int, ok bool) {
	for {
		next := q.nodeOf(head).next.Fetch(head)
		if next <= 0 {
			return head, false
		}
		was := head
		head = int(next - 1)
		told := q.tell(head, word)
		q.free(was) // after that: it keeps nobody waiting but its owner
		if told {
			q.w.LetRun(head)
			return head, true
		}
	}
}

// tell makes pe the head if it waits. Otherwise its node is spent.
func (q *queue) tell(pe int, word int64) bool {
	for {
		if q.status.CompareSwap(pe, waiting, word) == waiting {
			return true
		}
		if q.status.CompareSwap(pe, abandoned, spent) == abandoned {
			return false
		}
	}
}

// leave ends the queue at head, or makes the next one the head and tells it word, whoever it will be.
func (q *queue) leave(head int, word int64) {
	for {
		var passed bool
		if head, passed = q.pass(head, word); passed {
			return
		}
		if q.tail.CompareSwap(q.home, int64(head)+1, 0) == int64(head)+1 {
			q.free(head)
			return
		}
		// Somebody has swapped the tail and is about to link itself.
		q.nodeOf(head).status.Swap(head, spent)
		if q.next.CompareSwap(head, 0, -word) == 0 {
			return
		}
	}
}

// free gives the node of pe, which is out of the queue, back to its owner. Nobody else looks at the own one
// meanwhile, so what need not be written is not.
func (q *queue) free(pe int) {
	if pe != q.me {
		q.next.Swap(pe, 0)
		q.status.Swap(pe, idle)
		return
	}
	if q.mine.next.Fetch(pe) != 0 {
		q.mine.next.Swap(pe, 0)
	}
	if q.mine.status.Fetch(pe) != idle {
		q.mine.status.Swap(pe, idle)
	}
}
