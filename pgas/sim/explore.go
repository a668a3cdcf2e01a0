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
)

// Exploration counts what Explore has done.
type Exploration struct {
	Runs    int // schedules tried, most of them cut short at a known state
	Ends    int // schedules that ran to their end
	States  int // different states
	Longest int // choices of the longest schedule
}

// explorer makes the choices of one run.
type explorer struct {
	on      bool
	started int
	prefix  []int   // of Replay
	search  *search // nil in Replay
	depth   int     // moves so far
	taken   []int   // choices so far, where there were several possibilities
	heapEnd uint64  // end of the allocated part of the heaps

	pending    []*op
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
		if s.err == nil {
			e.Ends++
		} else if !errors.Is(s.err, errSeen) {
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
	s.explorer = &explorer{prefix: prefix, search: r, histories: make([]history, len(s.pes)), soloStates: map[uint64]bool{}}
	s.start()
	s.run()
	if s.err == nil && s.explorer.started < len(s.pes) {
		s.fail(nil, errors.New("every PE must call sim.Start, where the exploration begins"))
	}
	return s.explorer
}

// A runnable task can be chosen to go on.
type runnable struct {
	t      *task
	reason uint64
}

// The reasons for which a task goes on.
const (
	reasonYield uint64 = iota + 1
	reasonStart
	reasonCreated
	reasonLost
	reasonSlept
	reasonQuiet
	reasonWait // with a digest of the words it has waited for in the higher bits
)

func (x *explorer) makeRunnable(t *task, reason uint64) {
	x.runnable = append(x.runnable, runnable{t, reason})
}

// Start marks where an exploration begins: when all PEs have called it. In other runs it does nothing.
func Start(ctx context.Context) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p == nil || p.s.explorer == nil {
		return
	}
	x, t := p.s.explorer, p.s.runningTask()
	x.started++
	x.makeRunnable(t, reasonStart)
	t.park()
}

// Shares tells an exploration with Config.Reduce that the body, up to its next operation, reads or writes what the
// simulator does not see: variables of Go that PEs share, contexts of other PEs, or its own memory through Local.
// Without such calls Explore may leave out orders that matter.
func Shares(ctx context.Context) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p != nil && p.s.reducing() {
		p.s.explorer.move.shares = true
		p.s.explorer.readsHeap(p)
	}
}

// begin starts the exploration if all PEs have called Start, and reports whether it has.
func (x *explorer) begin(s *sim) bool {
	if x == nil || x.started < len(s.pes) {
		return false
	}
	x.on = true
	s.now, s.trace.n = 0, 0 // from here on, the clock counts steps
	for _, p := range s.pes {
		x.heapEnd = max(x.heapEnd, p.world.HeapUsage().High)
	}
	s.planFaults()
	return true
}

// A choice is one of the things that may happen next.
type choice struct {
	o *op
	t *task // that waits, or is runnable
	// reason is that of the task.
	reason uint64
}

// next makes choices until a task goes on, and returns the task; nil if the run has ended.
func (x *explorer) next(s *sim) *task {
	for s.err == nil {
		if len(s.cancellable) > 0 { // any task may have ended a context
			s.cancelled = true
			s.checkCancelled()
		}
		x.recordSteps()
		choices := x.choices(s)
		i := x.choose(s, choices)
		if i < 0 {
			return nil
		}
		s.now += 1000
		if s.events++; s.events > s.cfg.MaxEvents {
			s.checkLimits()
		}
		if t := x.execute(s, choices[i]); t != nil {
			return t
		}
		if s.handlerDied() {
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
		choices = append(choices, choice{t: r.t, reason: r.reason})
	}
	for _, o := range x.pending {
		if o.flow == nil || o.phase != applying || !o.flow.mustWait(o) && !s.locked(o) {
			choices = append(choices, choice{o: o})
		}
	}
	for _, p := range s.pes {
		for _, t := range p.waiting {
			if t.wait.ready != nil && t.wait.ready() {
				choices = append(choices, choice{t: t, reason: t.wait.reason()})
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
		if s.liveTasks > 0 {
			s.fail(nil, s.deadlock())
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
func (x *explorer) execute(s *sim, c choice) *task {
	x.move.begin(c.proc())
	if t := c.t; t != nil {
		if i := slices.IndexFunc(x.runnable, func(r runnable) bool { return r.t == t }); i >= 0 {
			x.runnable = slices.Delete(x.runnable, i, i+1)
		} else {
			x.endWait(s, t)
		}
		x.beginStep(t.pe, c.reason, true)
		x.waitEnded(t, c.reason)
		return t
	}
	o := c.o
	x.removePending(o)
	x.footprint(s, o)
	if o.kind == opCall {
		o.call()
		s.release(o)
		return nil
	}
	digest := o.digest()
	t := s.effect(o)
	if t != nil {
		x.beginStep(t.pe, digest^mix(o.old+1)^x.bytes(o.data), o.readOnly())
		if o.off < boot.ReservedBytes {
			x.readsHeap(t.pe)
		}
	}
	return t
}

func (x *explorer) endWait(s *sim, t *task) {
	x.runnable = x.runnable[:len(x.runnable):len(x.runnable)]
	s.finish(t, nil, 0)
	x.runnable = x.runnable[:len(x.runnable)-1] // finish has made it runnable
}

// step parks t until the explorer has chosen o.
func (x *explorer) step(t *task, o *op) {
	x.addPending(o)
	t.park()
}

// yield parks t until the explorer has chosen it again.
func (x *explorer) yield(t *task) {
	x.makeRunnable(t, reasonYield)
	t.park()
}

// addPending adds o to the operations that may be chosen.
func (x *explorer) addPending(o *op) {
	if o.phase == arriving {
		o.phase = applying
	}
	if o.task == nil && o.serial == 0 {
		o.from.serials++
		o.serial = o.from.serials
		x.move.created = append(x.move.created, o.proc())
	}
	x.pending = append(x.pending, o)
}

func (x *explorer) removePending(o *op) {
	if i := slices.Index(x.pending, o); i >= 0 {
		x.pending = slices.Delete(x.pending, i, i+1)
	}
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
func (x *explorer) beginStep(p *pe, digest uint64, looks bool) {
	h := &x.histories[p.id]
	h.stepOpen, h.digest, h.readOnly = true, digest, looks
	h.heapDigest = x.bytes(p.heap[boot.ReservedBytes:x.heapEnd])
	if !p.s.cfg.Reduce {
		h.digest = mix(h.digest + h.heapDigest)
	}
}

// readsHeap records that p reads its own heap in the step under way, or may write it.
func (x *explorer) readsHeap(p *pe) {
	if !p.s.cfg.Reduce {
		return
	}
	if h := &x.histories[p.id]; h.heapDigest != 0 {
		h.digest = mix(h.digest + h.heapDigest)
		h.heapDigest = 0
	}
	x.move.touch(p, true, 0, wholeHeap)
}

// fetched records the result that o has brought to its PE.
func (x *explorer) fetched(o *op) {
	x.histories[o.from.id].fetched += mix(o.digest() + mix(uint64(o.serial)) + o.old + x.bytes(o.data))
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
	h.sums = append(h.sums, mix(sum*3+h.digest))
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
		x.lowDigest = mix(x.lowDigest + mix(uint64(p.id)<<48+off) + v)
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
		if sums := x.histories[p.id].sums; len(sums) > 0 {
			past = sums[len(sums)-1]
		}
		past += x.histories[p.id].fetched
		if p.dead {
			past += 1
		}
		if p.deathKnown {
			past += 2
		}
		h = mix(h + past)
		h = mix(h + x.bytes(p.heap[boot.ReservedBytes:x.heapEnd]))
	}
	var under uint64 // in any order
	for _, o := range x.pending {
		under += mix(o.digest() + x.bytes(o.data))
	}
	return mix(h + under)
}

// readOnly reports whether o, which has taken effect, has changed nothing.
func (o *op) readOnly() bool {
	return !o.notifies && (o.kind == opGet || changedWord(o.atomicOp, o.bytes, o.old, o.operand, o.cond) == o.old)
}

// digest identifies what o will do.
func (o *op) digest() uint64 {
	var b [8]uint64
	b[0] = uint64(o.kind) | uint64(o.phase)<<8 | uint64(o.atomicOp)<<16 | uint64(o.bytes)<<24
	if o.from != nil {
		b[1] = uint64(o.from.id)<<32 | uint64(o.to.id)
	}
	if o.flow != nil {
		b[2] = uint64(o.epoch - o.flow.oldestEpoch)
	}
	b[3], b[4], b[5], b[6], b[7] = o.off, o.operand, o.cond, o.sig, uint64(o.size)
	if o.phase == writing {
		b[2] += o.old << 8
	}
	if o.notifies {
		b[6] += mix(uint64(o.note.stamp) + 1)
	}
	var h uint64
	for _, v := range b {
		h = mix(h*31 + v)
	}
	return h
}
