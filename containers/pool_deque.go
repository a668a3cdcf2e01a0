package containers

// The deque of a member of a WorkPool, as its owner uses it.
//
// Tasks are in a ring, counted from the first one on: those that others may steal are head to tail, and those that only
// the owner takes are tail to top. head and tail are the halves of one word, state, that thieves and the owner
// compare-swap. So the owner pushes and pops at top without an atomic operation, except that it
//
//   - shares half of its tasks when less than a quarter is shared: a new tail
//   - takes back half of the shared tasks when it has no others
//
// A thief has tasks when it has moved head, and then copies them. The owner must not overwrite them before. Thieves
// count in the word copied how many tasks they have copied; when that is head, all stolen tasks have been copied. The
// owner reads copied first and then head: in the other order, tasks that were stolen in between and copied at once
// would stand for others that were not.
//
// What does not fit into the ring stays in Go's memory (spill): always the owner's newest tasks.

import (
	"fmt"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

type poolDeque[T any] struct {
	me     int
	ctx    *pgas.Context
	ring   pgas.Slice[T]
	mask   uint32
	state  pgas.Atomic[uint64]
	copied pgas.Atomic[uint64]
	tail   uint32 // the tail of state; only the owner changes it
	top    uint32
	low    uint32 // tasks from here on may still be needed in the ring

	spill     []T // the tasks in Go's memory, from first on
	first     int
	spillMost int
	spilled   uint64
	full      error // there was no room for a task
}

func newPoolDeque[T any](m *carry.Members, ring pgas.Slice[T], control pgas.AtomicSlice[uint64], start uint32, spill int) poolDeque[T] {
	d := poolDeque[T]{
		me: m.Me, ctx: m.Ctx, ring: ring, mask: uint32(ring.Len() - 1), spillMost: spill,
		state: control.At(poolState), copied: control.At(poolCopied),
		tail: start, top: start, low: start,
	}
	d.state.Set(m.Me, poolSpan(start, start))
	d.copied.Set(m.Me, uint64(start))
	return d
}

// poolSpan returns the state in which tasks head to tail are shared.
func poolSpan(head, tail uint32) uint64 { return uint64(head)<<32 | uint64(tail) }

// poolShared returns the first shared task, and how many there are.
func poolShared(state uint64) (head, n uint32) {
	head = uint32(state >> 32)
	return head, uint32(state) - head
}

// push adds a task.
func (d *poolDeque[T]) push(task T) {
	if d.spilling() || !d.room() {
		d.keep(task)
		return
	}
	d.ring.At(int(d.top&d.mask)).Put(d.me, task)
	d.top++
	if d.top-d.tail >= 2 {
		d.share()
	}
}

// len returns how many tasks there are. No member may steal meanwhile.
func (d *poolDeque[T]) len() int {
	head, _ := poolShared(d.state.Fetch(d.me))
	return int(d.top-head) + len(d.spill) - d.first
}

func (d *poolDeque[T]) spilling() bool { return d.first < len(d.spill) }

// keep adds a task to the spill.
func (d *poolDeque[T]) keep(task T) {
	if len(d.spill)-d.first >= d.spillMost {
		d.full = fmt.Errorf("no room for a task: a deque of %d and %d in Go's memory are full: give NewWorkPool a larger capacity or Spill", d.ring.Len(), d.spillMost)
		return
	}
	d.spill = append(d.spill, task)
	d.spilled++
}

// pop takes the newest task.
func (d *poolDeque[T]) pop() (task T, ok bool) {
	if d.spilling() {
		task = d.spill[len(d.spill)-1]
		d.spill = d.spill[:len(d.spill)-1]
		d.unspill()
		return task, true
	}
	if d.top == d.tail && !d.takeBack() {
		return task, false
	}
	d.top--
	task = d.ring.At(int(d.top & d.mask)).Get(d.me)
	if d.top-d.tail >= 2 {
		d.share()
	}
	return task, true
}

// unspill moves the oldest of the spilled tasks to the ring when that is half empty, so that others can steal them.
func (d *poolDeque[T]) unspill() {
	if !d.spilling() {
		d.spill, d.first = d.spill[:0], 0
		return
	}
	if head, _ := poolShared(d.state.Fetch(d.me)); d.top-head > d.mask/2 {
		return
	}
	for d.spilling() && d.room() {
		d.ring.At(int(d.top&d.mask)).Put(d.me, d.spill[d.first])
		d.first++
		d.top++
	}
	d.share()
}

// room reports whether the ring has room for a task.
func (d *poolDeque[T]) room() bool {
	if d.top-d.low <= d.mask {
		return true
	}
	copied := uint32(d.copied.Fetch(d.me))
	head, _ := poolShared(d.state.Fetch(d.me))
	if copied != head {
		return false
	}
	d.low = head
	return d.top-d.low <= d.mask
}

// share lets others steal half of the tasks, if it is less than a quarter that they can steal. If a thief comes
// between, the next call tries again.
func (d *poolDeque[T]) share() {
	state := d.state.Fetch(d.me)
	head, n := poolShared(state)
	all := d.top - head
	if 4*n >= all {
		return
	}
	tail := head + all/2
	d.ctx.FencePE(d.me)
	if d.state.CompareSwap(d.me, state, poolSpan(head, tail)) == state {
		d.tail = tail
	}
}

// takeBack makes half of the shared tasks the owner's again, and reports whether there are any.
func (d *poolDeque[T]) takeBack() bool {
	for state := d.state.Fetch(d.me); ; {
		head, n := poolShared(state)
		if n == 0 {
			return false
		}
		tail := d.tail - (n+1)/2
		now := d.state.CompareSwap(d.me, state, poolSpan(head, tail))
		if now == state {
			d.tail = tail
			return true
		}
		state = now
	}
}
