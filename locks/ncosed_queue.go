package locks

// The protocol of N-CoSED (n-cosed 3.2). Writers form a distributed queue; the readers between two writers form a
// group, which is granted the lock together and counted out together.
//
//	Word     of the home    tail<<32 + count: the last writer of the queue, or 0; and the readers that came
//	                        after it, or, without one, since the last one. A writer swaps it for tail<<32; a
//	                        reader adds 1; the last writer compare-swaps its tail away and leaves the count
//	Done     of the home    closer<<32 + balance: the readers of the group inside that have left, less, when a
//	                        writer waits behind them (the closer), the size of the group. Only added to
//	Next     of a node      successor<<32 + readers between the two writers; or left. Swapped by the
//	                        successor, compare-swapped from 0 to left by the head
//	Status   of a node      of the writer: idle, waiting, abandoned, spent, or theTurn: see dmcs_queue.go
//	Readers  of a node      chains of the readers that wait for this writer, depth<<32 + the last; or opened.
//	                        Compare-swapped by readers, swapped for opened by the head
//	Late     of a node      chains<<32 + balance: the readers that found a chain opened, less, when all chains
//	                        are open, the number that will; and the number of chains. Only added to
//	Shared   of a node      of a reader: idle, waiting, abandoned, spent, or theTurn
//	Behind   of a node      the next reader of the chain, written by the owner before it joins the chain
//
// A node has a number: 1 + that of its PE, or, where a PE has several nodes, 1 + its index among the nodes of all
// PEs.
//
// The four cases. A writer that swaps out 0 has the lock. A writer that swaps out a count closes the group inside: it
// subtracts the count from Done and has the lock when that reaches 0, which the last reader to leave sees. A writer
// that swaps out a tail links itself behind that node. A reader that finds no tail is inside; a reader that finds a
// tail joins a chain of that node. A writer that leaves first admits the readers in its chains, and closes their
// group in the name of its successor.
//
// Where the paper falls short:
//   - A writer compare-swaps until no reader came between, so a stream of readers starves it. This file swaps.
//   - The last writer resets the word to zero; readers that have come meanwhile would be lost. This file leaves
//     their count in the word, and they are the group inside.
//   - "Once all release messages have arrived" the home resets the count; the paper does not say atomically with
//     what: a reader that has added itself may still be about to leave. In this file only a writer resets the
//     count; Limit says when a reader becomes a writer for that.
//   - Releases and closings are both sent to the home, and a release may arrive before the closing that counts it.
//     Done is one sum of both, and the PE that makes it 0 acts. Done is for one group at a time: behind another
//     writer, a group is closed not by the writer behind it but by the writer before it, when that leaves.
//   - A writer that leaves must know all its readers, but some have counted themselves and not joined a chain yet.
//     The writer opens its chains: a late reader finds that it may enter. Late says when the last of them has, and
//     the node is its owner's again.
//   - The link to the successor may be under way when the writer leaves. The writer leaves a mark in Next then, and
//     the successor, which finds the mark, does the rest of the work.
//   - A PE that unlocks notifies each reader. With chainWidth chains it writes to that many readers at most, and
//     each reader notifies the next one of its chain.
//
// Cancellation is as in dmcs_queue.go: a PE that gives up leaves its node abandoned, and the PE that would have
// granted it the lock takes the node over by setting it spent. The place of a writer is left in its name at once. A
// reader is counted out at once, and the grant goes on to the next of its chain.
//
// Invariant: Done is 0 when a writer is told that it has its turn. Invariant: a node that is idle and not the head's
// is referred to by no other node, except in chains that have been swapped for opened.

import (
	"context"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// NCoSEDWord has the words that all PEs compete for.
//
//pgas:symmetric views
type NCoSEDWord struct {
	Word int64    `pgas:"atomic"` // of the home's copy; written by: all PEs
	Done int64    `pgas:"atomic"` // of the home's copy; written by: readers, closers
	_    [48]byte // separates words that all PEs write from those of one PE
}

// NCoSEDNode is the place of a PE in the queue, as a writer and as a reader.
//
//pgas:symmetric views
type NCoSEDNode struct {
	// written by: owner; the lock that it uses the node for, where it has many
	Lock    int64             `pgas:"atomic"`
	Next    int64             `pgas:"atomic"` // written by: the writer behind, the head
	Status  int64             `pgas:"atomic"` // written by: owner, the head before
	Late    int64             `pgas:"atomic"` // written by: the head, late readers
	Shared  int64             `pgas:"atomic"` // written by: owner, the PE that grants it the lock
	Behind  int64             `pgas:"atomic"` // written by: owner; read by: the PE that skips it
	Readers [chainWidth]int64 `pgas:"atomic"` // written by: readers, the head
}

// chainWidth is the number of readers that a writer notifies by itself: that of the paper's largest experiment.
const chainWidth = 16

const (
	left   int64 = -1 // a value of Next: the head has left
	opened int64 = -1 // a value of Readers: readers may enter
)

// halves splits a word. Its lower half is not negative.
func halves(v int64) (hi, lo int64) { return v >> 32, v & (1<<32 - 1) }

// closing splits Done, whose lower half may be negative.
func closing(v int64) (closer, balance int64) {
	closer = (v + 1<<31) >> 32
	return closer, v - closer<<32
}

// ncosedQueue is a handle of one lock, for one node of this PE.
type ncosedQueue struct {
	w       *pgas.World
	home    int
	mine    int64 // this PE's node
	state   NCoSEDWordRef
	nodes   []NCoSEDNodeRef // the nodes of all PEs
	lockID  int64           // the value of Lock in nodes that are used for this lock
	limit   int64
	replies spare[chainReplies]

	status, shared pgas.Atomic[int64] // the words of this node that writers and readers wait for
}

// chainReplies receives what the operations of a head on its chains return.
type chainReplies struct{ chains, told [chainWidth]int64 }

// id returns the number of node i of pe.
func (q *ncosedQueue) id(pe, i int) int64 { return 1 + int64(pe)*int64(len(q.nodes)) + int64(i) }

// nodeOf returns the node with a number, and its PE.
func (q *ncosedQueue) nodeOf(id int64) (NCoSEDNodeRef, int) {
	if len(q.nodes) == 1 {
		return q.nodes[0], int(id - 1)
	}
	n := int64(len(q.nodes))
	return q.nodes[(id-1)%n], int((id - 1) / n)
}

// resume begins a wait, on the status of a writer or reader. It reports whether the PE has kept the place that it
// gave up before. If it has lost the place, resume blocks until the node is idle. Errors: as those of await.
func resume(ctx context.Context, status pgas.Atomic[int64], pe int) (kept bool, err error) {
	switch status.Fetch(pe) {
	case idle:
		return false, nil
	case abandoned:
		if status.CompareSwap(pe, abandoned, waiting) == abandoned {
			return true, nil
		}
	}
	_, err = status.WaitUntil(ctx, pgas.EQ, idle)
	return false, err
}

// await blocks until status, which does not live on a stack, is not waiting any more. pred is the PE before this one
// in the queue, if it waits for the same word of its own heap, and -1 otherwise. Errors, after which the place is
// abandoned: *pgas.PeerError if a PE of the job dies, and the cause of ctx's end.
func await(ctx context.Context, status *pgas.Atomic[int64], pe, pred int) error {
	_, err := hook.WaitBehind(ctx, status, waiting, pred)
	if err != nil && status.CompareSwap(pe, waiting, abandoned) == waiting {
		return err
	}
	return nil
}

// lock blocks until this node is the head and no reader is inside.
func (q *ncosedQueue) lock(ctx context.Context, way *passage) error {
	own, me := q.nodeOf(q.mine)
	kept, err := resume(ctx, own.Status(), me)
	if err != nil {
		return err
	}
	pred := -1
	if !kept {
		before, readers := halves(q.state.Word().Swap(q.home, q.mine<<32))
		if before == 0 && readers == 0 {
			return nil
		}
		own.Status().Swap(me, waiting)
		q.leave(q.follow(before, readers))
		pred = q.writerBefore(before)
	}
	way.behind(pred)
	q.status = own.Status()
	return await(ctx, &q.status, me, pred)
}

// writerBefore returns the PE of node before, for a wait behind it. It returns -1 if there is none, or if PEs have
// several nodes: the two may not be the same word then.
func (q *ncosedQueue) writerBefore(before int64) int {
	if before == 0 || len(q.nodes) > 1 {
		return -1
	}
	return int(before - 1)
}

// follow announces this writer to the writer before it, or closes the group of readers before it. It returns a node
// that the caller has to leave, or 0.
func (q *ncosedQueue) follow(before, readers int64) int64 {
	if before == 0 {
		return q.countOut(q.mine, -readers)
	}
	n, pe := q.nodeOf(before)
	if n.Next().Swap(pe, q.mine<<32+readers) != left {
		return 0
	}
	n.Next().Swap(pe, 0)
	return q.grantReaders(before, q.mine, readers)
}

// try makes this node the head if the lock is free. If readers have come after the word was read, it gives up its
// place.
func (q *ncosedQueue) try() bool {
	own, me := q.nodeOf(q.mine)
	if own.Status().Fetch(me) != idle {
		return false
	}
	v := q.state.Word().CompareSwap(q.home, 0, q.mine<<32)
	if v == 0 {
		return true
	}
	if tail, _ := halves(v); tail != 0 || q.state.Done().Fetch(q.home) != v || q.state.Word().CompareSwap(q.home, v, q.mine<<32) != v {
		return false
	}
	own.Status().Swap(me, waiting)
	q.leave(q.countOut(q.mine, -v))
	return own.Status().CompareSwap(me, waiting, abandoned) != waiting
}

// leave ends the turn of head, unless that is 0, and of the abandoned nodes behind it.
func (q *ncosedQueue) leave(head int64) {
	for head != 0 {
		head = q.pass(head)
	}
}

// pass ends the turn of head, and returns its successor if that is abandoned, or 0.
func (q *ncosedQueue) pass(head int64) int64 {
	n, pe := q.nodeOf(head)
	came := q.admitEarly(n, pe)
	next := n.Next().Fetch(pe)
	if next == 0 {
		if readers, ok := q.last(head, came); ok {
			return q.grantReaders(head, 0, readers)
		}
		// A writer has swapped the word and is about to link itself.
		n.Status().Swap(pe, spent)
		if next = n.Next().CompareSwap(pe, 0, left); next == 0 {
			return 0
		}
	}
	n.Next().Swap(pe, 0)
	closer, readers := halves(next)
	return q.grantReaders(head, closer, readers)
}

// admitEarly admits the readers in the chains of node n of pe up to the first empty chain, before the head does
// anything else. They are counted as if they had come late. It returns their number.
func (q *ncosedQueue) admitEarly(n NCoSEDNodeRef, pe int) (came int64) {
	width := 0
	for width < chainWidth && n.Readers(width).Fetch(pe) != 0 {
		width++
	}
	if width == 0 {
		return 0
	}
	came, gone := q.admit(n, pe, width)
	n.Late().FetchAdd(pe, came)
	q.countOut(0, gone) // no writer is the closer yet
	return came
}

// last takes head out of the word if it is the tail, and returns the number of readers behind it, which is came if no
// further reader has come.
func (q *ncosedQueue) last(head, came int64) (readers int64, ok bool) {
	for guess := head<<32 + came; ; {
		tail, readers := halves(guess)
		if tail != head {
			return 0, false
		}
		v := q.state.Word().CompareSwap(q.home, guess, readers)
		if v == guess {
			return readers, true
		}
		guess = v
	}
}

// grantReaders admits the readers behind head, and closes their group if closer is not 0. It returns a node that the
// caller has to leave, or 0. The node of head is its owner's again, now or when the last late reader has entered.
func (q *ncosedQueue) grantReaders(head, closer, readers int64) int64 {
	if readers == 0 {
		q.free(head, 0)
		return q.tell(closer)
	}
	n, pe := q.nodeOf(head)
	n.Status().Swap(pe, spent)
	width := min(readers, chainWidth)
	came, gone := q.admit(n, pe, int(width))
	if came == readers {
		q.free(head, int(width))
	} else {
		q.countLate(head, width<<32-(readers-came))
	}
	if closer != 0 {
		gone -= readers
	}
	return q.countOut(closer, gone)
}

// admit opens the first width chains of node n of pe that are not open. It returns the number of readers in them, and
// how many of these it skipped, because they had given up.
func (q *ncosedQueue) admit(n NCoSEDNodeRef, pe int, width int) (came, gone int64) {
	x := q.replies.take()
	defer q.replies.give(x)
	for i := range width {
		n.Readers(i).SwapNB(pe, opened, &x.chains[i])
	}
	q.w.MustQuiet()
	for i, v := range x.chains[:width] {
		if v == 0 || v == opened {
			continue
		}
		depth, first := halves(v)
		came += depth
		r, at := q.nodeOf(first)
		r.Shared().CompareSwapNB(at, waiting, theTurn, &x.told[i])
	}
	q.w.MustQuiet()
	for i, v := range x.chains[:width] {
		if v != 0 && v != opened && x.told[i] != waiting {
			_, first := halves(v)
			gone += q.forwardGrant(first)
		}
	}
	return came, gone
}

// countLate adds v to Late of the node. The PE that finds all late readers counted frees the node.
func (q *ncosedQueue) countLate(id, v int64) {
	n, pe := q.nodeOf(id)
	chains, balance := closing(n.Late().FetchAdd(pe, v) + v)
	if chains != 0 && balance == 0 {
		n.Late().Swap(pe, 0)
		q.free(id, int(chains))
	}
}

// forwardGrant admits the first reader of a chain that has not given up, and returns how many it skipped.
func (q *ncosedQueue) forwardGrant(reader int64) (gone int64) {
	for reader != 0 {
		n, pe := q.nodeOf(reader)
		if n.Shared().CompareSwap(pe, waiting, theTurn) == waiting {
			return gone
		}
		if n.Shared().CompareSwap(pe, abandoned, spent) == abandoned {
			reader = n.Behind().Fetch(pe)
			n.Shared().Swap(pe, idle)
			gone++
		}
	}
	return gone
}

// countOut adds n to Done: readers that have left, or, negative, the size of the group in front of the writer closer.
// It returns a node that the caller has to leave, or 0.
func (q *ncosedQueue) countOut(closer, n int64) int64 {
	if closer == 0 && n == 0 {
		return 0
	}
	v := closer<<32 + n
	closer, balance := closing(q.state.Done().FetchAdd(q.home, v) + v)
	if closer == 0 || balance != 0 {
		return 0
	}
	q.state.Done().Swap(q.home, 0)
	return q.tell(closer)
}

// tell grants the lock to writer, unless that is 0. If the writer has given up, tell returns its node, for the caller
// to leave.
func (q *ncosedQueue) tell(writer int64) int64 {
	if writer == 0 {
		return 0
	}
	n, pe := q.nodeOf(writer)
	for {
		if n.Status().CompareSwap(pe, waiting, theTurn) == waiting {
			hook.YieldTo(q.w, pe)
			return 0
		}
		if n.Status().CompareSwap(pe, abandoned, spent) == abandoned {
			return writer
		}
	}
}

// free gives a node whose turn is over back to its owner, and empties its first chains, which have been opened.
func (q *ncosedQueue) free(id int64, chains int) {
	n, pe := q.nodeOf(id)
	if chains > 0 {
		for i := range chains {
			n.Readers(i).Set(pe, 0)
		}
		q.w.MustQuiet()
	}
	if id != q.mine || chains > 0 || n.Status().Fetch(pe) != idle {
		n.Status().Swap(pe, idle)
	}
}

// share blocks until no writer is in front of this reader. It reports whether the count of readers is full.
func (q *ncosedQueue) share(ctx context.Context, way *passage) (full bool, err error) {
	own, me := q.nodeOf(q.mine)
	kept, err := resume(ctx, own.Shared(), me)
	if err != nil {
		return false, err
	}
	if !kept {
		before, count := halves(q.state.Word().FetchAdd(q.home, 1))
		if before == 0 {
			return count >= q.limit, nil
		}
		if !q.push(before, int(count%chainWidth)) {
			return false, nil
		}
	}
	way.behind(-1)
	q.shared = own.Shared()
	if err := await(ctx, &q.shared, me, -1); err != nil {
		return false, err
	}
	behind := own.Behind().Fetch(me)
	own.Shared().Swap(me, idle)
	q.leave(q.countOut(0, q.forwardGrant(behind)))
	return false, nil
}

// push adds this reader to a chain of the node before. It returns false if that has been opened.
func (q *ncosedQueue) push(before int64, chain int) bool {
	own, me := q.nodeOf(q.mine)
	n, pe := q.nodeOf(before)
	own.Shared().Swap(me, waiting)
	for guess := int64(0); ; {
		depth, first := halves(guess)
		own.Behind().Swap(me, first)
		v := n.Readers(chain).CompareSwap(pe, guess, (depth+1)<<32+q.mine)
		if v == guess {
			return true
		}
		if v == opened {
			break
		}
		guess = v
	}
	own.Shared().Swap(me, idle)
	q.countLate(before, 1)
	return false
}

// tryShare takes the lock in shared mode if no writer holds it or waits and the count is not full.
func (q *ncosedQueue) tryShare() (ok, full bool) {
	for guess := q.state.Word().Fetch(q.home); ; {
		tail, count := halves(guess)
		if tail != 0 || count >= q.limit {
			return false, tail == 0
		}
		v := q.state.Word().CompareSwap(q.home, guess, guess+1)
		if v == guess {
			return true, false
		}
		guess = v
	}
}

// unshare ends the hold of a reader.
func (q *ncosedQueue) unshare() { q.leave(q.countOut(0, 1)) }

// holder returns the node that was the head a moment ago, or 0.
func (q *ncosedQueue) holder() int64 {
	for {
		tail, _ := halves(q.state.Word().Fetch(q.home))
		if tail == 0 {
			return 0
		}
		if closer, _ := closing(q.state.Done().Fetch(q.home)); closer != 0 {
			return 0
		}
		for i, n := range q.nodes {
			lock, status, next := readAll(q.w, n.Lock()), readAll(q.w, n.Status()), readAll(q.w, n.Next())
			for pe, s := range status {
				if lock[pe] == q.lockID && (s == theTurn || s == idle && next[pe] != 0) {
					return q.id(pe, i)
				}
			}
		}
		if n, pe := q.nodeOf(tail); n.Status().Fetch(pe) == idle {
			return tail
		}
		pauseBetweenSteps(q.w)
	}
}

// waiters returns the number of writers and readers that were seen waiting.
func (q *ncosedQueue) waiters() (n int) {
	for _, node := range q.nodes {
		lock, status, shared := peekAll(q.w, node.Lock()), peekAll(q.w, node.Status()), peekAll(q.w, node.Shared())
		for pe := range lock {
			if lock[pe] != q.lockID {
				continue
			}
			if status[pe] == waiting {
				n++
			}
			if shared[pe] == waiting {
				n++
			}
		}
	}
	return n
}
