package explorer

// Exploration: every order of operations. From the point that Start marks on, there is no time. Whenever several
// things may happen, the explorer chooses one:
//
//	a PE's operation takes effect, and the PE goes on to its next one
//	a non-blocking operation takes effect, unless a fence orders it behind others
//	a wait ends whose condition holds
//	a deadline passes
//
// A run follows a list of choices and then takes the first possibility each time. The next run takes another one at
// the last point that has one left. Coroutines cannot be copied, so every run begins anew.
//
// Many orders lead to the same state, and the continuations of a state need be tried once. A state is the heaps,
// the operations under way, and the progress of each PE. The progress of a PE is a function of what it has read: the
// results of its operations, and its own heap at each of them (with reduction, only where it reads the heap). A PE that
// only reads, at the same few places with the same results for the fourth time in a row, is taken to have made no
// progress since the round before. So polling ends, and a program that counts more than three tries is explored as if
// it did not. Variables of Go that PEs share are not part of a state. What a body does with them must follow from the
// progress of the PEs, as the number of PEs inside a lock does.
//
// search.go decides which of the choices are tried.

import (
	"errors"
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	"github.com/gopgas/gopgas/pgas/sim/internal/network"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// Explorer makes the choices of one run. It is the engine's Order and the network's Observer from Begin on.
type Explorer struct {
	net     *network.Network
	reduce  bool    // orders that do not matter are left out
	started int     // PEs that have called Start
	prefix  []int   // choices to follow, of a run that is repeated
	search  *Search // what earlier runs have tried; nil: the run follows prefix
	depth   int     // moves so far
	taken   []int   // choices so far, where there were several possibilities
	heapEnd uint64  // end of the allocated part of the heaps

	pending    []*engine.Event // events that may happen, or that something holds up
	serials    []int32         // by PE: how many of its events without a task were added
	runnable   []runnable      // tasks that may go on
	histories  []history       // by PE: what it has read
	lowDigest  uint64          // digest of what was written in the reserved part of the heaps
	soloStates map[uint64]bool // states since which only one PE could do anything
	move       move            // the move under way
}

// ErrSeen ends a run that has reached a known state.
var ErrSeen = errors.New("seen")

// New returns an explorer of the run of net: along a path that r has not been on, or along prefix if r is nil.
func New(net *network.Network, reduce bool, prefix []int, r *Search) *Explorer {
	npes := len(net.PEs())
	return &Explorer{net: net, reduce: reduce, prefix: prefix, search: r, histories: make([]history, npes), serials: make([]int32, npes), soloStates: map[uint64]bool{}}
}

// A runnable task can be chosen to go on.
type runnable struct {
	t   *engine.Task
	why engine.Reason // why it goes on
}

// started is the reason for which a task goes on after Start.
const started = network.Quieted + 1

// Resume implements engine.Order.
func (x *Explorer) Resume(t *engine.Task, why engine.Reason) {
	x.runnable = append(x.runnable, runnable{t, why})
}

// Start parks t at the point where the exploration begins.
func (x *Explorer) Start(t *engine.Task) {
	x.started++
	x.Resume(t, started)
	t.Park()
}

// Started reports whether each PE has called Start.
func (x *Explorer) Started() bool { return x.started >= len(x.net.PEs()) }

// Begin begins the exploration. The PEs have allocated their heaps up to heapEnd.
func (x *Explorer) Begin(heapEnd uint64) {
	x.heapEnd = heapEnd
	x.net.Engine.Begin(x)
	x.net.Observe(x)
	x.net.ForgetSteps()
}

// Exploring reports whether the exploration has begun.
func (x *Explorer) Exploring() bool { return x.net.Engine.Ordered() }

// Taken returns the choices so far, where there were several possibilities.
func (x *Explorer) Taken() []int { return x.taken }

// Shares says that the running task, which is of p, uses up to its next operation what the simulator does not see.
func (x *Explorer) Shares(p *engine.PE) {
	if x.reduce && x.Exploring() {
		x.move.shares = true
		x.ReadsHeap(p)
	}
}

// A choice is one of the things that may happen next.
type choice struct {
	event *engine.Event // the event that happens, or nil
	t     *engine.Task  // the task that goes on, which waits or is runnable; nil: an event happens
	why   engine.Reason // why the task goes on
}

// Next implements engine.Order: it makes choices until a task goes on.
func (x *Explorer) Next() *engine.Task {
	e := &x.net.Engine
	for e.Err() == nil {
		e.CheckContexts()
		x.recordSteps()
		choices := x.choices()
		i := x.choose(choices)
		if i < 0 {
			return nil
		}
		e.Step()
		if t := x.execute(choices[i]); t != nil {
			return t
		}
		if e.HandlerDied() {
			return nil
		}
	}
	return nil
}

// choices returns what may happen next: tasks that are runnable or whose waits may end, and operations that neither
// a fence nor another operation on the same word holds up.
func (x *Explorer) choices() []choice {
	var choices []choice
	for _, r := range x.runnable {
		choices = append(choices, choice{t: r.t, why: r.why})
	}
	for _, ev := range x.pending {
		if engine.CallOf(ev) != nil || !x.net.HeldUp(network.OpOf(ev)) {
			choices = append(choices, choice{event: ev})
		}
	}
	for _, p := range x.net.PEs() {
		for _, t := range p.Waiting() {
			if t.Ready() {
				choices = append(choices, choice{t: t, why: t.WaitReason()})
			}
		}
	}
	return choices
}

// choose returns the index of the choice to take, or -1 if the run ends at this point.
func (x *Explorer) choose(choices []choice) int {
	if x.search != nil {
		x.search.recordMove(x, choices)
	}
	if len(choices) == 0 {
		if x.net.Engine.LiveTasks() > 0 {
			x.net.Engine.Fail(nil, x.net.Deadlock())
		}
		return -1
	}
	i := 0
	if x.search != nil {
		i = x.search.choose(x, choices)
	} else if k := len(x.taken); len(choices) > 1 && k < len(x.prefix) {
		i = min(x.prefix[k], len(choices)-1)
	}
	if len(choices) > 1 && i >= 0 {
		x.taken = append(x.taken, i)
	}
	x.depth++
	return i
}

// soloLoop reports whether only one PE can do anything and that PE has returned to an earlier state: then there is
// no more progress.
func (x *Explorer) soloLoop(state uint64, choices int) bool {
	if choices > 1 {
		clear(x.soloStates)
		return false
	}
	was := x.soloStates[state]
	x.soloStates[state] = true
	return was
}

// execute takes choice c, and returns the task that goes on, if any.
func (x *Explorer) execute(c choice) *engine.Task {
	x.move.begin(c.proc())
	if t := c.t; t != nil {
		if i := slices.IndexFunc(x.runnable, func(r runnable) bool { return r.t == t }); i >= 0 {
			x.runnable = slices.Delete(x.runnable, i, i+1)
		} else {
			x.endWait(t)
		}
		x.beginStep(t.PE(), uint64(c.why), true)
		x.waitEnded(t, c.why)
		return t
	}
	x.Remove(c.event)
	if call := engine.CallOf(c.event); call != nil {
		x.move.global = call.Purpose == network.Death || call.Purpose == network.DeathKnown
		call.Happen()
		return nil
	}
	o := network.OpOf(c.event)
	x.footprint(o)
	digest := o.Digest()
	t := x.net.Effect(o)
	if t != nil {
		x.beginStep(t.PE(), digest^engine.Mix(o.Old()+1)^x.bytes(o.Data()), o.ReadOnly())
		if o.InReserved() {
			x.ReadsHeap(t.PE())
		}
	}
	return t
}

func (x *Explorer) endWait(t *engine.Task) {
	x.runnable = x.runnable[:len(x.runnable):len(x.runnable)]
	x.net.Engine.EndWait(t)
	x.runnable = x.runnable[:len(x.runnable)-1] // EndWait has made it runnable
}

// Add implements engine.Order.
func (x *Explorer) Add(ev *engine.Event) {
	x.pending = append(x.pending, ev)
	if call := engine.CallOf(ev); call != nil {
		if call.Serial == 0 {
			call.Serial = x.newProcess(call.PE.ID, procCall)
		}
		return
	}
	o := network.OpOf(ev)
	if o.Task() == nil && o.Serial == 0 {
		o.Serial = x.newProcess(o.From().ID, procOp)
	}
}

// newProcess returns the number of a process of a PE that the move under way has created.
func (x *Explorer) newProcess(pe int, kind procKind) int32 {
	x.serials[pe]++
	n := x.serials[pe]
	x.move.created = append(x.move.created, proc{int32(pe), kind, n})
	return n
}

// Remove implements engine.Order.
func (x *Explorer) Remove(ev *engine.Event) {
	if i := slices.Index(x.pending, ev); i >= 0 {
		x.pending = slices.Delete(x.pending, i, i+1)
	}
}

// Created implements engine.Order.
func (x *Explorer) Created(t *engine.Task) {
	x.move.created = append(x.move.created, procOf(t))
}

// A history is what a PE has read: a digest of each step, and one of all steps up to it.
type history struct {
	steps, sums   []uint64
	readOnlySteps int    // how many of the last steps have only read
	fetched       uint64 // digest of the results of non-blocking operations

	// The step under way:
	stepOpen   bool
	digest     uint64
	heapDigest uint64 // of the PE's heap when the step began
	readOnly   bool   // so far, the step has only read
}

// A PE polls if it has repeated the same reads, with the same results, pollRepeats times. Loops of up to
// longestLoop operations are recognized.
const (
	pollRepeats = 3
	longestLoop = 8
)

// beginStep begins a step of p, which is about to go on.
func (x *Explorer) beginStep(p *engine.PE, digest uint64, looks bool) {
	h := &x.histories[p.ID]
	h.stepOpen, h.digest, h.readOnly = true, digest, looks
	h.heapDigest = x.bytes(x.heap(p.ID)[boot.ReservedBytes:x.heapEnd])
	if !x.reduce {
		h.digest = engine.Mix(h.digest + h.heapDigest)
	}
}

// heap returns the heap of a PE.
func (x *Explorer) heap(pe int) []byte { return x.net.PEs()[pe].Memory() }

// ReadsHeap implements engine.Order: p reads its own heap in the step under way, or may write it.
func (x *Explorer) ReadsHeap(p *engine.PE) {
	if !x.reduce {
		return
	}
	if h := &x.histories[p.ID]; h.heapDigest != 0 {
		h.digest = engine.Mix(h.digest + h.heapDigest)
		h.heapDigest = 0
	}
	x.move.touch(p, true, 0, wholeHeap)
}

// ReadsNotes implements network.Observer: what p does next may depend on which notes are in its queue.
func (x *Explorer) ReadsNotes(p *network.PE) {
	h := &x.histories[p.ID]
	h.digest = engine.Mix(h.digest + x.bytes(p.Memory()[boot.NoteQueueOff:shm.NoteQueueEnd]))
	x.ReadsHeap(&p.PE)
}

// Fetched implements network.Observer.
func (x *Explorer) Fetched(o *network.Op) {
	x.histories[o.From().ID].fetched += engine.Mix(o.Digest() + engine.Mix(uint64(o.Serial)) + o.Old() + x.bytes(o.Data()))
}

// recordSteps adds each step that has ended to its PE's history.
func (x *Explorer) recordSteps() {
	for i := range x.histories {
		if x.histories[i].stepOpen {
			x.histories[i].stepOpen = false
			x.histories[i].endStep()
		}
	}
}

// endStep adds the step under way. If it only reads and the PE polls, endStep removes one round of the polling.
func (h *history) endStep() {
	var sum uint64
	if n := len(h.sums); n > 0 {
		sum = h.sums[n-1]
	}
	h.steps = append(h.steps, h.digest)
	h.sums = append(h.sums, engine.Mix(sum*3+h.digest))
	h.readOnlySteps++
	if !h.readOnly {
		h.readOnlySteps = 0
	}
	n := len(h.steps)
	for k := 1; k <= longestLoop && (pollRepeats+1)*k <= h.readOnlySteps; k++ {
		if slices.Equal(h.steps[n-pollRepeats*k:], h.steps[n-(pollRepeats+1)*k:n-k]) {
			h.steps, h.sums = h.steps[:n-k], h.sums[:n-k]
			h.readOnlySteps -= k
			return
		}
	}
}

// WroteBytes implements network.Observer.
func (x *Explorer) WroteBytes(p *network.PE, off uint64, b []byte) { x.WroteWord(p, off, x.bytes(b)) }

// WroteWord implements network.Observer. It records writes to the reserved part of a heap, which state does not read.
func (x *Explorer) WroteWord(p *network.PE, off, v uint64) {
	if off < boot.ReservedBytes {
		x.lowDigest = engine.Mix(x.lowDigest + engine.Mix(uint64(p.ID)<<48+off) + v)
	}
}

// bytes returns a digest of b.
func (x *Explorer) bytes(b []byte) uint64 {
	if x.search == nil {
		return 0
	}
	return x.search.bytes(b)
}

// state returns a digest of the state.
func (x *Explorer) state() uint64 {
	h := x.lowDigest
	for _, p := range x.net.PEs() {
		var past uint64
		if sums := x.histories[p.ID].sums; len(sums) > 0 {
			past = sums[len(sums)-1]
		}
		past += x.histories[p.ID].fetched
		if p.Dead() {
			past += 1
		}
		if p.DeathKnown() {
			past += 2
		}
		h = engine.Mix(h + past)
		h = engine.Mix(h + x.bytes(p.Memory()[boot.ReservedBytes:x.heapEnd]))
	}
	var under uint64 // in any order
	for _, ev := range x.pending {
		if call := engine.CallOf(ev); call != nil {
			under += engine.Mix(engine.Mix(uint64(call.PE.ID)<<32+uint64(call.Purpose)) + 1)
			continue
		}
		o := network.OpOf(ev)
		under += engine.Mix(o.Digest() + x.bytes(o.Data()))
	}
	return engine.Mix(h + under)
}
