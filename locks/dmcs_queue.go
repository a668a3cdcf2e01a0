package locks

// The distributed queue (rma-locks 2.4 and 3.2.2), of which D-MCS is one and RMA-MCS a tree: PEs wait in the order of
// their arrival, each for a word of its own memory. A PE tells its successor a word that says what to do next.
//
//	tail   of the home's copy   1 + the last PE of the queue; 0: it is empty. Swapped by an arriving PE,
//	                            compare-swapped to 0 by the head when it leaves
//	next   of a PE's node       1 + the successor, written by that; or, negative, the word for a successor
//	                            that is still to link itself, left by the head. 0: neither yet
//	status of a PE's node       what the PE waits for, or what it was told: see below
//
// The head is the first PE, which waits no more. Its node stays in the queue until it leaves; another PE may leave
// in its name. The states of a node:
//
//	idle        in no queue, next is 0; or, its PE being the head, it came to an empty queue
//	waiting     its PE waits                                  set by the owner before it links itself
//	abandoned   its PE has given up and does not wait         set by the owner, waiting -> abandoned
//	spent       no PE's place any more, but still linked      set by the head
//	a word      its PE is the head, and was told this         set by the head before, waiting -> word
//
// Cancellation. A PE that gives up compare-swaps its node from waiting to abandoned and goes; if that fails, it has
// been told a word and is the head. A head that leaves compare-swaps an abandoned successor to spent and has
// taken that node over: the queue begins at that node now, and the head goes on from it, setting the node idle
// when it is out of the queue. A PE that comes back before that finds its node abandoned, and compare-swaps it to
// waiting: it has kept its place. If its node is spent, the PE waits, in its own memory, until it is idle.
//
// Where the listings fall short. Listing 2 sets STATUS and waits for WAIT, which are the same word. Listing 3 has the
// head wait, when the tail is not its own, for the successor to link itself; for the node of another PE that would
// be polling over the network. In this file the head leaves its word in next, by compare-swap, and the successor,
// which links itself by a swap, finds the word in next. So leaving never waits. The successor sets the node idle
// that was left; until then its owner may find it spent.
//
// Invariant: a node that is idle and not the head's is referred to by no other node and not by tail.
// Invariant: only the owner changes waiting -> abandoned and abandoned -> waiting; only the head makes other changes
// that start from these two. So no waiter is told twice, and none is overlooked.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// Queue is the state of a distributed queue.
//
//pgas:symmetric views
type Queue struct {
	Tail   int64    `pgas:"atomic"` // of the home's copy; written by: all PEs
	_      [56]byte // separates the tail, which all PEs write, from the PE's node
	Next   int64    `pgas:"atomic"` // written by: the successor, the head; read by: the head
	Status int64    `pgas:"atomic"` // written by: owner, the head; read by: owner
}

// The states of a node. Words that PEs tell each other are greater than these.
const (
	idle int64 = iota
	waiting
	abandoned
	spent
	firstWord // the smallest word
)

// queue is a PE's handle.
type queue struct {
	w                  *pgas.World
	me, home           int
	tail, next, status pgas.Atomic[int64]
	mine               node // this PE's node, accessed by its CPU where no other PE changes it at the time
}

// node accesses the words of nodes.
type node struct{ next, status pgas.Atomic[int64] }

func newQueue(w *pgas.World, ref QueueRef, home int) queue {
	c := w.Context()
	n := node{ref.Next().On(c), ref.Status().On(c)}
	return queue{w, w.PE(), home, ref.Tail().On(c), n.next, n.status, n}
}

// nodeOf returns the access to the node of pe, which only this PE changes at the time.
func (q *queue) nodeOf(pe int) node {
	if pe == q.me {
		return q.mine
	}
	return node{q.next, q.status}
}

// enter blocks until this PE is the head, and returns the word that it was told, or 0 if the queue was empty. On an
// error it is not the head. Errors: *pgas.PeerError if a PE of the job dies, and the cause of ctx's end.
func (q *queue) enter(ctx context.Context, way *passage) (word int64, err error) {
	word, queued, err := q.prepare(ctx, way)
	if queued || err != nil {
		return word, err
	}
	before := q.tail.Swap(q.home, int64(q.me)+1)
	if before == 0 {
		return 0, nil
	}
	return q.follow(ctx, int(before-1), way)
}

// prepare waits until this PE's node is idle. If it has kept its place in the queue, prepare blocks until this PE is
// the head and returns the word that it was told. Errors: as those of enter.
func (q *queue) prepare(ctx context.Context, way *passage) (word int64, queued bool, err error) {
	switch s := q.mine.status.Fetch(q.me); s {
	case idle:
		return 0, false, nil
	case abandoned:
		if q.status.CompareSwap(q.me, abandoned, waiting) == abandoned {
			way.behind(-1)
			word, err = q.wait(ctx, -1)
			return word, true, err
		}
	}
	_, err = q.status.WaitUntil(ctx, pgas.EQ, idle)
	return 0, false, err
}

// follow blocks until this PE, which came to the queue behind PE before, is the head, and returns the word that it was
// told. Errors: as those of enter.
func (q *queue) follow(ctx context.Context, before int, way *passage) (word int64, err error) {
	way.behind(before)
	q.mine.status.Swap(q.me, waiting)
	if word, ok := q.link(before); ok {
		q.mine.status.Swap(q.me, word)
		return word, nil
	}
	return q.wait(ctx, before)
}

// link makes this PE the successor of PE before. If that has left its word in next, this PE is the head, and link
// returns the word.
func (q *queue) link(before int) (word int64, ok bool) {
	left := q.next.Swap(before, int64(q.me)+1)
	if left == 0 {
		return 0, false
	}
	q.free(before)
	return -left, true
}

// wait blocks until PE before, or -1 if it is not known which, has told its word.
func (q *queue) wait(ctx context.Context, before int) (word int64, err error) {
	word, err = hook.WaitBehind(ctx, &q.status, waiting, before)
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

// pass makes the first waiter behind head the head, and tells it word. If no waiter is known, it returns false and the
// node that is the head's now: head, or an abandoned node behind it.
func (q *queue) pass(head int, word int64) (last int, ok bool) {
	for {
		next := q.nodeOf(head).next.Fetch(head)
		if next <= 0 {
			return head, false
		}
		was := head
		head = int(next - 1)
		told := q.tell(head, word)
		q.free(was) // last, since only its owner waits for it
		if told {
			hook.YieldTo(q.w, head)
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

// leave ends the queue at head, or makes its successor the head and tells it word, also if it is still to link itself.
func (q *queue) leave(head int, word int64) {
	if head == q.me && q.mine.next.Fetch(head) == 0 && q.empty(head) {
		q.leftEmpty()
		return
	}
	q.leaveTo(head, word)
}

// empty makes the queue empty if head is its last, and reports whether it was.
func (q *queue) empty(head int) bool {
	return q.tail.CompareSwap(q.home, int64(head)+1, 0) == int64(head)+1
}

// leftEmpty sets this PE's node idle after the PE was the last of the queue and its only one.
func (q *queue) leftEmpty() {
	if q.mine.status.Fetch(q.me) != idle {
		q.mine.status.Swap(q.me, idle)
	}
}

// leaveTo is leave where a successor may be known.
func (q *queue) leaveTo(head int, word int64) {
	for {
		var passed bool
		if head, passed = q.pass(head, word); passed {
			return
		}
		if q.empty(head) {
			q.free(head)
			return
		}
		// A successor has swapped the tail and is about to link itself.
		q.nodeOf(head).status.Swap(head, spent)
		if q.next.CompareSwap(head, 0, -word) == 0 {
			return
		}
	}
}

// free gives the node of pe, which is out of the queue, back to its owner. No other PE accesses this PE's own node at
// the time, so free writes only the words of it that must change.
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
