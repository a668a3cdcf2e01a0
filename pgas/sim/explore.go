package sim

// Every order there is. From the point that Start marks on, there is no time: whenever something may
// happen, the explorer chooses what does:
//
//	a PE's operation takes effect, and the PE goes on to its next one
//	an operation that nobody waits for takes effect, unless a fence holds it back
//	a wait ends whose condition holds
//	a deadline passes
//
// A run follows a list of choices and then takes the first of each. The next run takes another one at the
// last point that has one left. Coroutines cannot be copied, so every run begins anew.
//
// Many orders lead to the same state, and what follows a state need be tried once. A state is the heaps,
// what is under way, and how far each PE is. How far a PE is, follows from what it has seen: the results of
// its operations, and its own heap at each of them (with Config.Reduce, at those where it looks at it). A PE
// that only looks, at the same few things with the same results for the fourth time in a row, is taken to be
// where it was one round before: that is what makes an end of polling. So a program that counts more tries
// than three is explored as if it did not. Variables of Go that PEs share are no part of a state: what a body
// makes of them must follow from how far the PEs are, as the number of those inside of a lock does.
//
// Which of the choices are tried is the business of search.go.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Exploration is what Explore has done.
type Exploration struct {
	Runs    int // schedules tried, most of them cut short where another had been
	Ends    int // that ended
	States  int // that differ
	Longest int // choices of the longest
}

// explorer makes the choices of one run.
type explorer struct {
	on      bool
	started int
	prefix  []int   // of Replay
	search  *search // nil in Replay
	depth   int     // moves so far
	taken   []int   // choices so far, where there were several
	heapEnd uint64  // end of what is allocated

	pending    []*op
	runnable   []runnable
	histories  []history // by PE
	lowDigest  uint64    // digest of what was written below the allocations
	soloStates map[uint64]bool
	move       move // under way
}

// errSeen ends a run that has reached a state which was reached before.
var errSeen = errors.New("seen")

// Explore runs body on npes PEs in every order of operations that come after each PE's call of Start. It
// returns the first failure.
func Explore(ctx context.Context, cfg Config, npes int, body Body) (Exploration, error) {
	var e Exploration
	r := newSearch(cfg.Reduce)
	var mem []byte
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

// Replay runs body in one order: that of a Failure of Explore, with the same cfg and npes.
func Replay(ctx context.Context, cfg Config, npes int, choices string, body Body) error {
	var prefix []int
	for choice := range strings.SplitSeq(choices, ".") {
		n, err := strconv.Atoi(choice)
		if err != nil || n < 0 {
			return fmt.Errorf("sim: %q is no schedule: they look like 0.2.1", choices)
		}
		prefix = append(prefix, n)
	}
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

// explore runs s along prefix, or where r has not been.
func (s *sim) explore(prefix []int, r *search) *explorer {
	s.explorer = &explorer{prefix: prefix, search: r, histories: make([]history, len(s.pes)), soloStates: map[uint64]bool{}}
	s.start()
	s.run()
	if s.err == nil && s.explorer.started < len(s.pes) {
		s.fail(nil, errors.New("every PE must call sim.Start, where the exploration begins"))
	}
	return s.explorer
}

// A runnable task goes on when it is chosen.
type runnable struct {
	t      *task
	reason uint64
}

// Why a task goes on.
const (
	reasonYield uint64 = iota + 1
	reasonStart
	reasonCreated
	reasonLost
	reasonSlept
	reasonQuiet
	reasonWait // and what it has waited for, in higher bits
)

func (x *explorer) makeRunnable(t *task, why uint64) {
	x.runnable = append(x.runnable, runnable{t, why})
}

// Start is where an exploration begins: when all PEs have called it. In other runs it does nothing.
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

// Shares says that, from here to its next operation, the body looks at or changes what the simulator does
// not see: variables of Go that PEs share, contexts of other PEs, or its own memory through Local. An
// exploration with Config.Reduce needs to know.
func Shares(ctx context.Context) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p != nil && p.s.reducing() {
		p.s.explorer.move.shares = true
		p.s.explorer.readsHeap(p)
	}
}

// begin turns the explorer on when all that came before Start has happened.
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

// A choice is what may happen next: one of these.
type choice struct {
	o *op
	t *task // that waits, or is runnable
	// why tells what the task has waited for from other things.
	reason uint64
}

// next lets things happen until a task goes on.
func (x *explorer) next(s *sim) *task {
	for s.err == nil {
		if len(s.cancellable) > 0 { // anybody may have ended a context
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
	}
	return nil
}

// choices are the tasks that are runnable or whose waits may end, and the operations that neither a fence
// nor another one on the same word holds back.
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

// choose is which of the choices is taken, or -1 if the run ends here.
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

// soloLoop notes that one PE alone can do anything, or not, and reports whether that PE has come back to a
// state: then there is no more progress.
func (x *explorer) soloLoop(state uint64, choices int) bool {
	if choices > 1 {
		clear(x.soloStates)
		return false
	}
	was := x.soloStates[state]
	x.soloStates[state] = true
	return was
}

// execute lets c happen, and returns the task that goes on.
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

// step lets t wait for o, which happens when the explorer chooses it.
func (x *explorer) step(t *task, o *op) {
	x.addPending(o)
	t.park()
}

// yield lets others go on, or t.
func (x *explorer) yield(t *task) {
	x.makeRunnable(t, reasonYield)
	t.park()
}

// addPending adds o to what may happen.
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

// A history is what a PE has seen, as a digest of each step and one of all up to it.
type history struct {
	steps, sums   []uint64
	readOnlySteps int    // of the last steps, how many have only looked
	fetched       uint64 // digest of what operations have brought that nobody waits for

	// The step under way:
	stepOpen   bool
	digest     uint64
	heapDigest uint64 // of the PE's heap when it began
	readOnly   bool   // it only looks
}

// A PE polls if it has looked at the same things, with the same results, this often: loops of up to
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

// readsHeap notes that p looks at its own heap in the step under way, or may change it.
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

// fetched notes what o has brought to its PE.
func (x *explorer) fetched(o *op) {
	x.histories[o.from.id].fetched += mix(o.digest() + mix(uint64(o.serial)) + o.old + x.bytes(o.data))
}

// recordSteps adds the step that is over to its PE's history.
func (x *explorer) recordSteps() {
	for i := range x.histories {
		if x.histories[i].stepOpen {
			x.histories[i].stepOpen = false
			x.histories[i].endStep()
		}
	}
}

// endStep adds the step under way. If it only looks, and the PE polls, the PE is where it was one round before.
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

// wroteReserved notes a change below the allocations, where state does not look.
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

// state is the digest of the state.
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

// readOnly says that o, which is over, has changed nothing.
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
