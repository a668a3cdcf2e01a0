package sim

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
// results of its operations, and its own heap at each of them (with Config.Reduce, only where it reads it). A PE
// that only reads, at the same few places with the same results for the fourth time in a row, is taken to have made
// no progress since the round before. So polling ends, and a program that counts more than three tries is explored
// as if it did not. Variables of Go that PEs share are not part of a state: what a body
// does with them must follow from the progress of the PEs, as the number of PEs inside a lock does.
//
// search.go decides which of the choices are tried.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
)

// Exploration counts what Explore has done.
type Exploration struct {
	Runs    int // schedules tried, most of them cut short at a known state
	Ends    int // schedules that ran to their end
	States  int // different states
	Longest int // choices of the longest schedule
}

// explorer makes the choices of one run. It is the engine's Order from the call of Start on.
type explorer struct {
	s       *sim
	started int     // PEs that have called Start
	prefix  []int   // of Replay
	search  *search // nil in Replay
	depth   int     // moves so far
	taken   []int   // choices so far, where there were several possibilities
	heapEnd uint64  // end of the allocated part of the heaps

	pending    []*engine.Event
	serials    []int32 // by PE: how many of its events without a task were added
	runnable   []runnable
	histories  []history // by PE
	lowDigest  uint64    // digest of what was written in the reserved part of the heaps
	soloStates map[uint64]bool
	move       move // the move under way
}

// errSeen ends a run that has reached a known state.
var errSeen = errors.New("seen")

// Explore runs body on npes PEs in every order of the operations that come after each PE's call of Start. The
// error is that of the first run that fails, a *Failure, or says that ctx ended.
func Explore(ctx context.Context, cfg Config, npes int, body Body) (Exploration, error) {
	var e Exploration
	r := newSearch(cfg.Reduce)
	var mem []byte
	cfg.Timeline = nil
	for {
		s, err := newSimIn(ctx, cfg, npes, body, mem)
		if err != nil {
			return e, err
		}
		mem = s.mem
		x := s.explore(nil, r)
		e.Runs++
		e.States = len(r.seen)
		e.Longest = max(e.Longest, len(x.taken))
		if s.engine.Err() == nil {
			e.Ends++
		} else if !errors.Is(s.engine.Err(), errSeen) {
			boot.UnmapAnonymous(mem)
			return e, s.failure(schedule(x.taken))
		}
		if !r.backtrack() {
			return e, boot.UnmapAnonymous(mem)
		}
		if err := context.Cause(ctx); err != nil {
			boot.UnmapAnonymous(mem)
			return e, fmt.Errorf("the exploration was ended after %d schedules: %w", e.Runs, err)
		}
	}
}

// Replay runs body in one order: that of a Failure of Explore, with the same cfg and npes. The error is that of the
// run, or says that choices is no schedule.
func Replay(ctx context.Context, cfg Config, npes int, choices string, body Body) error {
	var prefix []int
	for choice := range strings.SplitSeq(choices, ".") {
		n, err := strconv.Atoi(choice)
		if err != nil || n < 0 {
			return fmt.Errorf("sim: %q is no schedule: they look like 0.2.1", choices)
		}
		prefix = append(prefix, n)
	}
	cfg.Timeline = nil
	s, err := newSimIn(ctx, cfg, npes, body, nil)
	if err != nil {
		return err
	}
	defer s.close()
	s.explore(prefix, nil)
	return s.failure(choices)
}

func schedule(taken []int) string {
	parts := make([]string, len(taken))
	for i, n := range taken {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}

// explore runs s along prefix, or along a path that r has not been on.
func (s *sim) explore(prefix []int, r *search) *explorer {
	s.explorer = &explorer{s: s, prefix: prefix, search: r, histories: make([]history, len(s.pes)), serials: make([]int32, len(s.pes)), soloStates: map[uint64]bool{}}
	s.start()
	s.engine.Run()
	if s.engine.Err() == nil && s.explorer.started < len(s.pes) {
		s.engine.Fail(nil, errors.New("every PE must call sim.Start, where the exploration begins"))
	}
	return s.explorer
}

// A runnable task can be chosen to go on.
type runnable struct {
	t   *engine.Task
	why engine.Reason
}

// The reasons for which a task goes on, besides those of the engine.
const (
	reasonStart engine.Reason = engine.OtherReason + iota
	reasonLost
	reasonQuiet
)

// Resume implements engine.Order.
func (x *explorer) Resume(t *engine.Task, why engine.Reason) {
	x.runnable = append(x.runnable, runnable{t, why})
}

// Start marks where an exploration begins: when all PEs have called it. In other runs it does nothing.
func Start(ctx context.Context) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p == nil || p.s.explorer == nil {
		return
	}
	x, t := p.s.explorer, p.s.engine.Running()
	x.started++
	x.Resume(t, reasonStart)
	t.Park()
}

// Shares tells an exploration with Config.Reduce that the body, up to its next operation, reads or writes what the
// simulator does not see: variables of Go that PEs share, contexts of other PEs, or its own memory through Local.
// Without such calls Explore may leave out orders that matter.
func Shares(ctx context.Context) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p != nil && p.s.reducing() {
		p.s.explorer.move.shares = true
		p.s.explorer.ReadsHeap(&p.PE)
	}
}

// Idle implements engine.Model: it starts the exploration if all PEs have called Start, and reports whether it has.
func (s *sim) Idle() bool {
	x := s.explorer
	if x == nil || x.started < len(s.pes) {
		return false
	}
	s.engine.Begin(x)
	s.trace.n = 0
	for _, p := range s.pes {
		x.heapEnd = max(x.heapEnd, p.world.HeapUsage().High)
	}
	s.planFaults()
	return true
}

// A choice is one of the things that may happen next.
type choice struct {
	event *engine.Event // the event that happens, or nil
	t     *engine.Task  // the task that goes on, which waits or is runnable; nil: an event happens
	why   engine.Reason // why the task goes on
}

// Next implements engine.Order: it makes choices until a task goes on.
func (x *explorer) Next() *engine.Task {
	s := x.s
	for s.engine.Err() == nil {
		s.engine.CheckContexts()
		x.recordSteps()
		choices := x.choices(s)
		i := x.choose(s, choices)
		if i < 0 {
			return nil
		}
		s.engine.Step()
		if t := x.execute(s, choices[i]); t != nil {
			return t
		}
		if s.engine.HandlerDied() {
			return nil
		}
	}
	return nil
}

// choices returns what may happen next: tasks that are runnable or whose waits may end, and operations that neither
// a fence nor another operation on the same word holds up.
func (x *explorer) choices(s *sim) []choice {
	var choices []choice
	for _, r := range x.runnable {
		choices = append(choices, choice{t: r.t, why: r.why})
	}
	for _, ev := range x.pending {
		if engine.CallOf(ev) != nil || !s.heldUp(opOf(ev)) {
			choices = append(choices, choice{event: ev})
		}
	}
	for _, p := range s.pes {
		for _, t := range p.Waiting() {
			if t.Ready() {
				choices = append(choices, choice{t: t, why: t.WaitReason()})
			}
		}
	}
	return choices
}

// choose returns the index of the choice to take, or -1 if the run ends at this point.
func (x *explorer) choose(s *sim, choices []choice) int {
	if x.search != nil {
		x.search.recordMove(x, choices)
	}
	if len(choices) == 0 {
		if s.engine.LiveTasks() > 0 {
			s.engine.Fail(nil, s.Deadlock())
		}
		return -1
	}
	i := 0
	if x.search != nil {
		i = x.search.choose(x, s, choices)
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
func (x *explorer) soloLoop(state uint64, choices int) bool {
	if choices > 1 {
		clear(x.soloStates)
		return false
	}
	was := x.soloStates[state]
	x.soloStates[state] = true
	return was
}

// execute takes choice c, and returns the task that goes on, if any.
func (x *explorer) execute(s *sim, c choice) *engine.Task {
	x.move.begin(c.proc())
	if t := c.t; t != nil {
		if i := slices.IndexFunc(x.runnable, func(r runnable) bool { return r.t == t }); i >= 0 {
			x.runnable = slices.Delete(x.runnable, i, i+1)
		} else {
			x.endWait(s, t)
		}
		x.beginStep(t.PE(), uint64(c.why), true)
		x.waitEnded(t, c.why)
		return t
	}
	x.Remove(c.event)
	if call := engine.CallOf(c.event); call != nil {
		x.move.global = call.Purpose == callDeath || call.Purpose == callDeathKnown
		call.Happen()
		return nil
	}
	o := opOf(c.event)
	x.footprint(s, o)
	digest := o.digest()
	t := s.effect(o)
	if t != nil {
		x.beginStep(t.PE(), digest^engine.Mix(o.old+1)^x.bytes(o.data), o.readOnly())
		if o.off < boot.ReservedBytes {
			x.ReadsHeap(t.PE())
		}
	}
	return t
}

func (x *explorer) endWait(s *sim, t *engine.Task) {
	x.runnable = x.runnable[:len(x.runnable):len(x.runnable)]
	s.engine.EndWait(t)
	x.runnable = x.runnable[:len(x.runnable)-1] // EndWait has made it runnable
}

// Add implements engine.Order.
func (x *explorer) Add(ev *engine.Event) {
	x.pending = append(x.pending, ev)
	if call := engine.CallOf(ev); call != nil {
		if call.Serial == 0 {
			call.Serial = x.newProcess(call.PE.ID, procCall)
		}
		return
	}
	o := opOf(ev)
	if o.phase == arriving {
		o.phase = applying
	}
	if o.Task() == nil && o.serial == 0 {
		o.serial = x.newProcess(int(o.origin), procOp)
	}
}

// newProcess returns the number of a process of a PE that the move under way has created.
func (x *explorer) newProcess(pe int, kind procKind) int32 {
	x.serials[pe]++
	n := x.serials[pe]
	x.move.created = append(x.move.created, proc{int32(pe), kind, n})
	return n
}

// Remove implements engine.Order.
func (x *explorer) Remove(ev *engine.Event) {
	if i := slices.Index(x.pending, ev); i >= 0 {
		x.pending = slices.Delete(x.pending, i, i+1)
	}
}

// Created implements engine.Order.
func (x *explorer) Created(t *engine.Task) {
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
func (x *explorer) beginStep(p *engine.PE, digest uint64, looks bool) {
	h := &x.histories[p.ID]
	h.stepOpen, h.digest, h.readOnly = true, digest, looks
	h.heapDigest = x.bytes(x.heap(p)[boot.ReservedBytes:x.heapEnd])
	if !x.s.cfg.Reduce {
		h.digest = engine.Mix(h.digest + h.heapDigest)
	}
}

// heap returns the heap of p.
func (x *explorer) heap(p *engine.PE) []byte { return x.s.pes[p.ID].heap }

// ReadsHeap implements engine.Order: p reads its own heap in the step under way, or may write it.
func (x *explorer) ReadsHeap(p *engine.PE) {
	if !x.s.cfg.Reduce {
		return
	}
	if h := &x.histories[p.ID]; h.heapDigest != 0 {
		h.digest = engine.Mix(h.digest + h.heapDigest)
		h.heapDigest = 0
	}
	x.move.touch(p, true, 0, wholeHeap)
}

// fetched records the result that o has brought to its PE.
func (x *explorer) fetched(o *op) {
	x.histories[o.from.ID].fetched += engine.Mix(o.digest() + engine.Mix(uint64(o.serial)) + o.old + x.bytes(o.data))
}

// recordSteps adds each step that has ended to its PE's history.
func (x *explorer) recordSteps() {
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

// wroteReserved records a write to the reserved part of a heap, which state does not read.
func (x *explorer) wroteReserved(p *pe, off, v uint64) {
	if off < boot.ReservedBytes {
		x.lowDigest = engine.Mix(x.lowDigest + engine.Mix(uint64(p.ID)<<48+off) + v)
	}
}

func (x *explorer) bytes(b []byte) uint64 {
	if x.search == nil {
		return 0
	}
	return x.search.bytes(b)
}

// state returns a digest of the state.
func (x *explorer) state(s *sim) uint64 {
	h := x.lowDigest
	for _, p := range s.pes {
		var past uint64
		if sums := x.histories[p.ID].sums; len(sums) > 0 {
			past = sums[len(sums)-1]
		}
		past += x.histories[p.ID].fetched
		if p.dead {
			past += 1
		}
		if p.deathKnown {
			past += 2
		}
		h = engine.Mix(h + past)
		h = engine.Mix(h + x.bytes(p.heap[boot.ReservedBytes:x.heapEnd]))
	}
	var under uint64 // in any order
	for _, ev := range x.pending {
		if call := engine.CallOf(ev); call != nil {
			under += engine.Mix(engine.Mix(uint64(call.PE.ID)<<32+uint64(call.Purpose)) + 1)
			continue
		}
		o := opOf(ev)
		under += engine.Mix(o.digest() + x.bytes(o.data))
	}
	return engine.Mix(h + under)
}

// readOnly reports whether o, which has taken effect, has changed nothing.
func (o *op) readOnly() bool {
	return !o.notifies && (o.kind == opGet || changedWord(o.atomicOp, o.bytes, o.old, o.operand, o.cond) == o.old)
}

// digest identifies what o will do.
func (o *op) digest() uint64 {
	var b [8]uint64
	b[0] = uint64(o.kind) | uint64(o.phase)<<8 | uint64(o.atomicOp)<<16 | uint64(o.bytes)<<24
	b[1] = uint64(o.from.ID)<<32 | uint64(o.to.ID)
	if o.flow != nil {
		b[2] = uint64(o.epoch - o.flow.oldestEpoch)
	}
	b[3], b[4], b[5], b[6], b[7] = o.off, o.operand, o.cond, o.sig, uint64(o.size)
	if o.phase == writing {
		b[2] += o.old << 8
	}
	if o.notifies {
		b[6] += engine.Mix(uint64(o.note.stamp) + 1)
	}
	var h uint64
	for _, v := range b {
		h = engine.Mix(h*31 + v)
	}
	return h
}
