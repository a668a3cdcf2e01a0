package containers

// A pool of tasks that make more tasks: every member has a deque of them, members without tasks steal from others, and
// all members learn when no task is left anywhere.
//
// pool_deque.go has the deque as its owner uses it, pool_steal.go as thieves do, pool_end.go how the end is found, and
// pool_for.go a run that ends before.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// Spill sets how many tasks a member of a WorkPool keeps in Go's memory when its deque is full; without it that is a
// million.
func Spill(tasks int) Option {
	return Option{"Spill", func(s *settings) { s.spill = max(tasks, 0) + 1 }}
}

const (
	poolMaxCapacity = 1 << 24
	poolSpill       = 1 << 20
	poolArity       = 4   // children of a member in the tree by which the end is found
	poolText        = 256 // bytes of an error's text that other members get
)

// TaskError is what WorkPool.Run returns on members other than the one whose task has failed.
type TaskError struct {
	PE   int    // the member
	Text string // the text of the error
}

func (e *TaskError) Error() string {
	return fmt.Sprintf("member %d has ended the run: %s", e.PE, e.Text)
}

var (
	errPoolBroken = errors.New("the loop over Tasks has been left")
	errPoolFailed = errors.New("an earlier run of the pool has failed: free it")
	errPoolHalted = errors.New("the time of RunFor is over") // of runAll alone
)

// PoolStats counts what one member has done in all runs of a WorkPool.
type PoolStats struct {
	Run      uint64 // tasks run
	Stolen   uint64 // tasks stolen from other members
	Steals   uint64 // successful attempts to steal
	Attempts uint64 // attempts
	Spilled  uint64 // tasks that were kept in Go's memory for a while
	Waves    uint64 // votes on whether all tasks are done
}

// WorkPool is a pool of tasks, which are plain values, run by all members until none is left. A task may add tasks. A
// member runs its own newest task first, and when it has none steals half of what another member shares: its
// oldest tasks. Members of the own host are tried first, in random order.
//
// On each member one goroutine at a time runs tasks, and one at a time adds them: during a run that is the goroutine
// which runs. Another one panics with *UsageError, which names the lines of both, if it comes between.
type WorkPool[T any] struct {
	members carry.Members
	running exclusive // the turn of the runs
	adding  exclusive // the turn of the deque
	memory  carry.Memory
	ring    pgas.Slice[T]
	control pgas.AtomicSlice[uint64]
	text    pgas.Slice[byte]
	deque   poolDeque[T]
	end     poolEnd
	near    []int // members on this host, without this one
	far     []int
	loot    []T
	failed  bool
	until   time.Duration // when the first member ends the run, by its clock; 0: it does not
	stats   PoolStats
}

// poolHalt is the word poolStop of a run when its time is over.
const poolHalt = ^uint64(0)

// Places of the words in control, each on a cache line that its neighbours' prefetching leaves alone.
const (
	poolState  = 0
	poolCopied = 16
	poolDown   = 32
	poolUp     = 48
	poolStop   = 64
	poolWords  = 80
)

// NewWorkPool makes a pool whose members have a deque of capacity tasks each, at least; further tasks of a member are
// in Go's memory (Spill), where they cannot be stolen until the deque has room. It is collective over all PEs of the
// World.
//
// It returns the errors of pgas.Alloc. It panics with *pgas.UsageError if the capacity is less than 2 or more than
// 2^24, or T is not plain. Options: Over, Spill.
func NewWorkPool[T any](ctx context.Context, w *pgas.World, capacity int, opts ...Option) (*WorkPool[T], error) {
	return newWorkPool[T](ctx, w, capacity, 0, opts)
}

// newWorkPool makes a pool whose deques count tasks from start on.
func newWorkPool[T any](ctx context.Context, w *pgas.World, capacity int, start uint32, opts []Option) (*WorkPool[T], error) {
	const op = "NewWorkPool"
	s := settingsOf(op, opts, "Spill")
	p := &WorkPool[T]{members: carry.MembersOf(ctx, op, w, !s.over, s.team)}
	if capacity < 2 || capacity > poolMaxCapacity {
		carry.Misuse(op, "a capacity of %d: give a number from 2 to %d", capacity, poolMaxCapacity)
	}
	if err := carry.MustBePlain[T](ctx, w); err != nil {
		return nil, err
	}
	length := powerOfTwo(capacity)
	p.memory.Members = &p.members
	ring, control, text := carry.Reserve[T](&p.memory, length), carry.Reserve[uint64](&p.memory, poolWords), carry.Reserve[byte](&p.memory, poolText)
	if err := p.memory.Allocate(ctx, s.over); err != nil || p.members.Team == nil {
		return p, err
	}
	p.ring = carry.Piece[T](&p.memory, ring, length)
	p.control = pgas.AtomicsOf(carry.Cleared[uint64](&p.memory, control, poolWords))
	p.text = carry.Cleared[byte](&p.memory, text, poolText)
	spill := poolSpill
	if s.spill > 0 {
		spill = s.spill - 1
	}
	p.deque = newPoolDeque(&p.members, p.ring, p.control, start, spill)
	p.end = newPoolEnd(&p.members, p.control)
	p.findVictims()
	p.loot = make([]T, length/2)
	return p, p.memory.Ready(ctx)
}

// Free frees the memory of the pool, and forgets its tasks. It is collective over all PEs of the World.
func (p *WorkPool[T]) Free(ctx context.Context) error {
	if p == nil || p.members.World == nil {
		carry.Misuse("WorkPool.Free", "the container is nil or zero: make one with a New… function")
	}
	return freeMemory(ctx, "WorkPool.Free", &p.memory)
}

func (p *WorkPool[T]) check(op string) {
	if p == nil {
		carry.Misuse(op, "the container is nil or zero: make one with a New… function")
	}
	p.members.MustBeMember(op)
}

// Add adds a task to this member's deque: before a run, or in a task. It is local: no message, and an atomic on a word
// of this PE only when the deque shares tasks. If there is no room for the task, the run fails (Spill).
func (p *WorkPool[T]) Add(task T) {
	p.check("WorkPool.Add")
	p.push(task)
}

// push adds a task to the deque.
func (p *WorkPool[T]) push(task T) {
	p.adding.enter(p.members.World)
	defer p.adding.leave()
	p.deque.push(task)
}

// pop takes this member's newest task.
func (p *WorkPool[T]) pop() (task T, ok bool) {
	p.adding.enter(p.members.World)
	defer p.adding.leave()
	return p.deque.pop()
}

// Stats returns what this member has done so far. It is local, and for the goroutine that runs the tasks.
func (p *WorkPool[T]) Stats() PoolStats {
	p.check("WorkPool.Stats")
	s := p.stats
	s.Spilled, s.Waves = p.deque.spilled, p.end.waves
	return s
}

// Run runs tasks until none is left at any member. It is collective over the members. run gets a task and a function
// that adds tasks, as Add does; both are for the calling goroutine only.
//
// An attempt to steal reads a word of the victim, compare-swaps it, and gets the tasks: three round trips; a fourth
// message is not waited for. A member without tasks tries others again and again, with sleeps of up to a millisecond
// in between. Once all members have none, the end is found by waves up and down a tree of the members: two messages for
// each member and wave, two waves at least.
//
// Run moves nothing but tasks, and orders nothing: puts of a task are seen by the task's successors at other members
// only after a Quiet by the task.
//
// The first error of a task ends the run on all members, after the tasks that they are running: Run returns the error
// on that member, and *TaskError on the others. It also returns *pgas.PeerError if a PE is lost, the cause of ctx if
// that ends first, the errors of pgas.Team.Sync, and an error if a member has more tasks than there is room for. After
// an error the pool can only be freed.
func (p *WorkPool[T]) Run(ctx context.Context, run func(ctx context.Context, task T, add func(T)) error) error {
	const op = "WorkPool.Run"
	p.check(op)
	p.members.MustBelong(ctx, op)
	if run == nil {
		carry.Misuse(op, "no function to run tasks with")
	}
	add := p.push
	return p.run(ctx, func(task T) error { return run(ctx, task, add) })
}

// Tasks returns the tasks that this member is to run: a Run whose body is that of a loop. The body adds tasks with Add.
// It is collective over the members, and an error is the last element, with a zero task. A member that leaves the
// loop early ends the run: others get *TaskError.
//
//	for task, err := range pool.Tasks(ctx) {
//		if err != nil {
//			return err
//		}
//		pool.Add(…)
//	}
func (p *WorkPool[T]) Tasks(ctx context.Context) iter.Seq2[T, error] {
	const op = "WorkPool.Tasks"
	p.check(op)
	p.members.MustBelong(ctx, op)
	return func(yield func(T, error) bool) {
		err := p.run(ctx, func(task T) error {
			if !yield(task, nil) {
				return errPoolBroken
			}
			return nil
		})
		if err != nil && err != errPoolBroken {
			var none T
			yield(none, err)
		}
	}
}

// run runs tasks until the end, or the first error of any member.
func (p *WorkPool[T]) run(ctx context.Context, run func(T) error) error {
	p.running.enterLong(p.members.World)
	defer p.running.leave()
	if p.failed {
		return errPoolFailed
	}
	p.failed = true // until it ends well
	err := p.joint(ctx, "WorkPool.Run", run)
	if err == nil {
		err = p.members.Team.Sync(ctx) // no thief of this run takes a task of the next one
	}
	p.failed = err != nil
	return err
}

// joint runs tasks until this member learns of the end.
func (p *WorkPool[T]) joint(ctx context.Context, op string, run func(T) error) error {
	return p.members.Team.Joint(ctx, op, p.memory.Object(), false, func(ctx context.Context) error { return p.runAll(ctx, run) })
}

func (p *WorkPool[T]) runAll(ctx context.Context, run func(T) error) (err error) {
	defer orLost(&err)
	p.end.begin()
	for idle := (pace{}); ; {
		if p.until != 0 && p.members.World.Now() >= p.until {
			p.halt()
		}
		if err := p.stopped(); err != nil {
			return err
		}
		task, ok := p.pop()
		if !ok {
			task, ok = p.steal()
		}
		if ok {
			idle = pace{}
			p.end.active = true
			p.stats.Run++
			if err := p.members.World.Lost(-1); err != nil {
				return err // and its tasks with it
			}
			if err = run(task); err == nil {
				err = p.deque.full
			}
			if err != nil {
				return p.stop(err)
			}
			continue
		}
		moved, finished := p.end.step()
		if finished {
			return nil
		}
		if moved {
			continue
		}
		if err := p.end.pause(ctx, &idle); err != nil {
			return p.stop(err)
		}
	}
}

// stop ends the run on all members, because of err, unless another one has done so. It returns err. The loss of a PE is
// told to each member by its own waits, as the *pgas.PeerError that it is.
func (p *WorkPool[T]) stop(err error) error {
	if errors.As(err, new(*pgas.PeerError)) {
		return err
	}
	text := p.text.Local()
	clear(text[copy(text, err.Error()):])
	first := p.control.At(poolStop + 1)
	p.members.Ctx.Fence()
	if first.CompareSwap(0, 0, uint64(p.members.Me)+1) != 0 {
		return err
	}
	word := p.control.At(poolStop)
	for pe := range p.members.N {
		word.Set(pe, uint64(p.members.Me)+1)
	}
	return err
}

// halt tells all members that they are to begin no more tasks, unless a task has failed. The first member calls it.
func (p *WorkPool[T]) halt() {
	p.until = 0
	if p.control.At(poolStop+1).CompareSwap(0, 0, poolHalt) != 0 {
		return
	}
	word := p.control.At(poolStop)
	for pe := range p.members.N {
		word.Set(pe, poolHalt)
	}
}

// stopped returns the *TaskError of the member that has ended the run, if one has.
func (p *WorkPool[T]) stopped() error {
	at := p.control.At(poolStop).Fetch(p.members.Me)
	switch at {
	case 0:
		return nil
	case poolHalt:
		return errPoolHalted
	}
	return p.taskError(int(at) - 1)
}

// taskError returns the error of the task of a member, as others get it.
func (p *WorkPool[T]) taskError(pe int) *TaskError {
	text := make([]byte, poolText)
	p.text.Get(pe, text)
	n := 0
	for n < len(text) && text[n] != 0 {
		n++
	}
	return &TaskError{PE: pe, Text: string(text[:n])}
}
