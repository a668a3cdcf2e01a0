package pgastest

// A network that is as late as the specification allows, and always in the same way. Real networks
// are mostly in order and mostly fast, so a program that forgets a fence or a quiet works on them for
// a long time; on this one it fails at once.
//
// Hosts are segments of this process, PEs are goroutines. The network holds what a PE sends to another host
// until it must arrive:
//
//	put, signal, posted atomic   at a quiet of its context, or when its target waits: the newest
//	                             first, but nothing before what a fence orders before it
//	source of a put that does    read when the data arrives, or when the initiator waits for it
//	not wait
//	non-blocking get             filled by the quiet, after it has completed puts, except later ones on the same bytes:
//	                             the newest first
//	value of an AtomicNB         in its place by the quiet, the newest first
//	get, fetching atomic         at once, past everything held (an atomic not past a fence)
//	collective that does not     begun some milliseconds after its call, as a function of World.Go is
//	wait
//
// With a seed, all that is drawn: late_seed.go.
//
// Operations of one context on the same bytes of a PE stay in order even without a fence, and its gets find what it has
// put: OpenSHMEM does not promise that, but transporttest demands it of every transport. A body that polls without
// waits or quiets may poll for ever.
//
// Two rules make a PE find an error of order whichever of initiator and target is first. Operations that a PE issues
// without waiting in between, a put and the flag behind it, do not arrive one by one although the target waits: they
// become due when the initiator waits itself. And while a PE waits, one operation arrives at a time: the next one when
// the PE has polled. What the PE does not wait for, or has not begun to wait for, is held some milliseconds longer, and
// so long in each of its waits if no quiet demands it, so that the PE goes on with what it has waited for alone. That
// holds too when the PE has found what it waited for, so that it reads the memory as it was when the flag arrived, and
// not a microsecond later. A target that has called nothing since an operation was issued gets more time, and so does
// one that comes to know of a later operation of the same PE, at a third one: it is about to act on that. Time matters
// only if a PE does not call the network for long: then operations held for it arrive.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/private"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/transport"
	"github.com/gopgas/gopgas/pgas/transport/shm"
)

// RunLate runs body on npes goroutine PEs spread over nhosts hosts with a late network between them, in which
// everything is as late as it may be, as a subtest. PEs of one host share memory, where nothing is late: with as many
// hosts as PEs each has its own.
func RunLate(tb testing.TB, npes, nhosts int, body Body) {
	tb.Helper()
	runLate(tb, "late", npes, nhosts, 0, body)
}

// RunLateSeeds runs body over a late network as RunLate does: as the subtest late/latest, in which everything is as
// late as it may be, and as late/seed=1 and so on, in which the order and the moments of operations are drawn from the
// seed, among those that the ordering rules allow. So its body must not count on what has not happened yet.
func RunLateSeeds(tb testing.TB, npes, nhosts, seeds int, body Body) {
	tb.Helper()
	if isPE() {
		return
	}
	runGroup(tb, "late", func(tb testing.TB) []outcome {
		tb.Helper()
		outcomes := []outcome{runLate(tb, "latest", npes, nhosts, 0, body)}
		for seed := range uint64(seeds) {
			outcomes = append(outcomes, runLate(tb, fmt.Sprintf("seed=%d", seed+1), npes, nhosts, seed+1, body))
		}
		return outcomes
	})
}

func runLate(tb testing.TB, name string, npes, nhosts int, seed uint64, body Body) outcome {
	tb.Helper()
	return subtest(tb, name, func(tb testing.TB) {
		tb.Helper()
		if isPE() {
			return
		}
		goroutinesOnly(tb)
		ctx, cancel := hang.Context(tb.Context())
		defer cancel()
		if err := Late(ctx, npes, nhosts, Options{Check: checks(tb), Races: wantsRaces(), Stats: counts(), Seed: seed}, body); err != nil {
			fail(tb, err)
		}
	})
}

// Late runs body as RunLate does, with options and without a subtest. With a seed among them it is as with
// RunLateSeeds. It returns an error as Goroutines does.
func Late(ctx context.Context, npes, nhosts int, opts Options, body Body) error {
	set, err := jobSettings()
	if err != nil {
		return err
	}
	net := &lateNetwork{grace: lateGrace, patience: latePatience, seed: opts.Seed}
	var hosts []boot.Host
	for i := range nhosts {
		first, end := npes*i/nhosts, npes*(i+1)/nhosts
		seg := boot.NewSegment(end-first, runtime.NumCPU(), set.HeapMax)
		seg.Header.First, seg.Header.NPEs = uint32(first), uint32(npes)
		hosts = append(hosts, boot.Host{Name: fmt.Sprintf("late%d", i), First: first, PEs: end - first})
		net.hosts = append(net.hosts, seg)
	}
	net.open()
	races := newRaces(npes, opts.Races)
	inner := private.Options{Goroutines: true, NoFastPath: opts.NoFastPath, Check: opts.Check, Races: races.job}
	inner.Remote = func(_ context.Context, job *boot.Job) (transport.Transport, error) {
		return &lateTransport{net: net, me: job.PE, starts: newLateDraws(net.seed, job.PE, 0)}, nil
	}
	own, end := peContexts(ctx, npes)
	defer end()
	errs := make([]error, npes)
	var wg sync.WaitGroup
	for i, host := range hosts {
		for pe := host.First; pe < host.First+host.PEs; pe++ {
			wg.Go(func() {
				errs[pe] = runPE(own[pe], &boot.Job{
					ID: "late", PE: pe, NPEs: npes, Hosts: hosts, HostIndex: i, Segment: net.hosts[i], Launched: true,
					Settings: boot.Settings{Stats: opts.Stats},
				}, inner, body)
				if errs[pe] != nil {
					net.fail(pe)
				}
			})
		}
	}
	wg.Wait()
	return errors.Join(races.err(), rootCause(errs))
}

// lateCapacity is how many operations the network holds. When there are more, the newest arrives.
const lateCapacity = 256

// lateNetwork is what all PEs of a job share.
type lateNetwork struct {
	hosts []*boot.Segment
	to    []transport.Channel // the memory of each PE
	notes []lateNotes         // by PE
	pes   []latePE
	grace time.Duration // how long a PE that calls nothing delays operations on it, and its own
	seed  uint64        // what all is drawn from, or 0: everything is as late as it may be
	// How long an operation is held for a target that does not wait, or waits for another word.
	patience time.Duration

	mu      sync.Mutex
	held    []*lateOp // in the order in which they were issued
	issued  uint64    // the number of the last one
	arrived []*lateOp // the last few that have arrived
}

// lateGrace is the grace of a job.
const lateGrace = time.Second

// latePatience is the patience of a job. The PEs of a test come to their next wait within less, unless they compute.
const latePatience = 20 * time.Millisecond

// lateReturns is the number of operations that return a value after which earlier operations of the PE are due: it may
// be polling with them.
const lateReturns = 8

// lateSingleSteps is how many arrivals in one wait are delivered one at a time: handing control over thousands of times
// takes long if PEs have few processors.
const lateSingleSteps = 32

// latePE is what the network knows about a PE's program.
type latePE struct {
	state         *boot.State
	polling       bool      // its last call was a poll for arrivals
	waitBegan     time.Time // time of the first of those polls
	look          lateLook  // the last operation of its that has returned a value
	looks         int       // how often in a row it was that one
	awaited       span      // the bytes that it polls for, or none if they are not known
	polls         uint64    // how many such calls it has made
	calls         uint64    // how many calls of any kind
	returned      uint64    // its operations that have returned a value
	arrivalUnseen bool      // it waits, and has not polled since the last arrival
	singleSteps   int       // how often that was so since its last call that was not a poll
	checkedFault  bool      // it has called Fault since the last arrival
	arrivedAt     time.Time // time of the last arrival
}

// lateSilence is how many times the patience of the network an operation is held for a target that has called nothing
// since the operation was issued, or since the target came to know of a later operation of the same PE: it has had no
// processor, or is about to act on what it knows.
const lateSilence = 10

// lateKnown is how often a target that looks again and again makes that time begin anew: when what it looks at changes,
// when it sees that, and when it looks once more.
const lateKnown = 3

// lateArrivals is how many arrivals the network remembers, to find the initiator of an operation that a PE sees.
const lateArrivals = 16

// A lateLook is what a PE looks at by an operation that returns a value. After pollLooks equal ones it is taken to wait
// for these bytes.
type lateLook struct {
	pe    int
	bytes span
}

const pollLooks = 3

// A lateOp is an operation that has been issued and has not arrived.
type lateOp struct {
	polls    uint64 // of its initiator, when it was issued
	returned uint64
	issued   time.Time // when, or when its target came to know of a later operation
	calls    uint64    // of its target, at that time
	known    int       // how often its target came to know of such
	from     *lateChannel
	pe       int // its target
	number   uint64
	epoch    int // fences of its channel to pe when it was issued
	spans    [2]span
	returns  bool // it fills memory of its initiator
	moment   lateMoment
	apply    func(to transport.Channel)
}

// A span is a range of a heap.
type span struct{ lo, hi uint64 }

// before reports whether op, which was issued before later, must arrive before it.
func (op *lateOp) before(later *lateOp) bool {
	return op.overlaps(later) || op.from == later.from && op.pe == later.pe && op.epoch < later.epoch
}

// overlaps reports whether op and other are of one channel and on the same bytes of one PE.
func (op *lateOp) overlaps(other *lateOp) bool {
	if op.from != other.from || op.pe != other.pe {
		return false
	}
	return op.touches(other.spans[0]) || op.touches(other.spans[1])
}

// touches reports whether op is on some of these bytes of its target.
func (op *lateOp) touches(bytes span) bool {
	for _, a := range op.spans {
		if a.lo < bytes.hi && bytes.lo < a.hi {
			return true
		}
	}
	return false
}

func (n *lateNetwork) open() {
	for _, seg := range n.hosts {
		host := shm.Open(seg)
		mem := host.Open()
		for i := range seg.States {
			n.notes = append(n.notes, lateNotes{ring: host.NoteQueue(len(n.to))})
			n.pes = append(n.pes, latePE{state: seg.States[i]})
			n.to = append(n.to, mem)
		}
	}
}

func (n *lateNetwork) fail(pe int) {
	for _, seg := range n.hosts {
		seg.Fail(pe, exitStatus1)
	}
}

// deliverOne applies the held operation of the highest rank that wanted selects, the newest one without a seed, or one
// that must arrive before it. It reports whether there was one.
func (n *lateNetwork) deliverOne(wanted func(*lateOp) bool) bool {
	first := -1
	for i, op := range slices.Backward(n.held) {
		if (first < 0 || op.moment.rank > n.held[first].moment.rank) && wanted(op) {
			first = i
		}
	}
	if first >= 0 {
		n.deliver(n.firstInOrder(first))
	}
	return first >= 0
}

// firstInOrder returns the index of n.held[i], or of an operation that must arrive before it.
func (n *lateNetwork) firstInOrder(i int) int {
	for j := i - 1; j >= 0; j-- {
		if n.held[j].before(n.held[i]) {
			i = j
		}
	}
	return i
}

func (n *lateNetwork) deliver(i int) {
	op := n.held[i]
	n.held = slices.Delete(n.held, i, i+1)
	op.from.fillBefore(op)
	op.apply(n.to[op.pe])
	n.recordArrival(op.pe)
	if n.arrived = append(n.arrived, op); len(n.arrived) > lateArrivals {
		n.arrived = slices.Delete(n.arrived, 0, 1)
	}
	for pe := range n.pes {
		if look := n.pes[pe].look; look.pe == op.pe && op.touches(look.bytes) {
			n.learns(pe, op.from.me)
		}
	}
}

// learns records that a PE sees an operation of another PE, or is about to: it is to act on that before earlier
// operations on its own memory arrive.
func (n *lateNetwork) learns(pe, from int) {
	for _, op := range n.held {
		if op.pe == pe && op.from.me == from && op.known < lateKnown {
			op.known++
			op.issued, op.calls = time.Now(), n.pes[pe].calls
		}
	}
}

// recordArrival records that an operation has arrived at pe. If pe waits, the next one arrives only when pe has polled.
func (n *lateNetwork) recordArrival(pe int) {
	p := &n.pes[pe]
	if !p.polling || p.singleSteps >= lateSingleSteps {
		return
	}
	if !p.arrivalUnseen {
		p.singleSteps++
		p.arrivalUnseen, p.checkedFault, p.arrivedAt = true, false, time.Now()
	}
	p.state.Wake()
}

// recordCall records that pe calls the network: to poll for arrivals, or for an operation.
func (n *lateNetwork) recordCall(pe int, poll bool) {
	p := &n.pes[pe]
	if poll && !p.polling {
		p.waitBegan = time.Now()
	}
	p.calls++
	p.arrivalUnseen, p.polling, p.awaited = false, poll, span{}
	if poll {
		p.polls++
	} else {
		p.singleSteps = 0
	}
}

// due reports whether op may arrive before a quiet or wait demands it: its initiator has waited since, or has not
// called the network for long.
func (n *lateNetwork) due(op *lateOp) bool {
	p := &n.pes[op.from.me]
	return op.polls < p.polls || op.returned+lateReturns <= p.returned || time.Since(op.issued) >= n.grace
}

// hasPolled reports whether pe has polled since the last arrival. After the grace time it counts pe as not waiting.
func (n *lateNetwork) hasPolled(pe int) bool {
	p := &n.pes[pe]
	if p.arrivalUnseen && time.Since(p.arrivedAt) >= n.grace {
		p.arrivalUnseen, p.polling = false, false
	}
	return !p.arrivalUnseen
}

// ready reports whether op may arrive because a quiet demands it: the target has polled since the last arrival, and
// expects op. Otherwise op is held for the patience of the network: the target might begin to wait, and is to see the
// state in which what it waits for has arrived, and op has not.
func (n *lateNetwork) ready(op *lateOp) bool {
	return n.hasPolled(op.pe) && (n.expected(op) || time.Since(op.issued) >= n.patienceWith(op))
}

// overdue reports whether op may arrive though nothing completes it: the target expects it, or nothing else has come to
// the target for the patience of the network. A wait of the target that ends in less time leaves op where it is.
func (n *lateNetwork) overdue(op *lateOp) bool {
	since, p := op.issued, &n.pes[op.pe]
	if p.polling && p.waitBegan.After(since) && time.Since(since) < n.grace {
		since = p.waitBegan
	}
	return n.expected(op) || time.Since(since) >= n.patienceWith(op)
}

// patienceWith returns how long op is held for a target that does not expect it.
func (n *lateNetwork) patienceWith(op *lateOp) time.Duration {
	patience := time.Duration(op.moment.patience) * n.patience
	if op.calls == n.pes[op.pe].calls {
		patience *= lateSilence
	}
	return patience
}

// expected reports whether the target of op waits for it, or another PE looks at its bytes again and again. What is
// drawn to be more patient than that is held although the target may wait for it.
func (n *lateNetwork) expected(op *lateOp) bool {
	p := &n.pes[op.pe]
	anything := p.awaited == span{} && p.looks == 0 && time.Since(p.waitBegan) >= n.patience/10
	return p.polling && (op.touches(p.awaited) || anything && op.moment.patience <= 1) ||
		slices.ContainsFunc(n.pes, func(p latePE) bool {
			return p.looks >= pollLooks && p.look.pe == op.pe && op.touches(p.look.bytes)
		})
}

// lateTransport is one PE's end of the network.
type lateTransport struct {
	net      *lateNetwork
	me       int
	channels atomic.Uint64 // how many have been opened
	starts   *lateDraws    // when goroutines begin
}

func (t *lateTransport) Name() string       { return "late" }
func (t *lateTransport) Heap(pe int) []byte { return nil }

// Close records that the PE makes no more calls.
func (t *lateTransport) Close() error {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	t.net.recordCall(t.me, false)
	return nil
}

func (t *lateTransport) Channel(bool) (transport.Channel, error) {
	draws := newLateDraws(t.net.seed, t.me, t.channels.Add(1))
	return &lateChannel{net: t.net, me: t.me, draws: draws, epochs: map[int]int{}}, nil
}

// lateStart is how long after its start a goroutine begins, or how long its start takes if it is to begin at once. What
// stands behind the start in the program is done by then, unless it waits.
const lateStart = 2 * time.Millisecond

// Go implements transport.Spawner, for collectives that do not wait and for World.Go.
func (t *lateTransport) Go(f func()) {
	t.net.mu.Lock()
	early := t.starts.atOnce()
	t.net.mu.Unlock()
	if early {
		go f()
		time.Sleep(lateStart)
		return
	}
	go func() {
		time.Sleep(lateStart)
		f()
	}()
}

// WaitWord implements transport.Progresser. It delivers operations on this PE, or if there are none operations that
// this PE has issued, one by one, so that a wait sees every state in between.
func (t *lateTransport) WaitWord(at transport.Word, c transport.Cmp, value uint64, signed bool, d time.Duration) bool {
	arrived := func() bool {
		v, err := t.net.to[t.me].Atomic(context.Background(), t.me, transport.Fetch, at, 0, 0)
		return err == nil && compares(c, v, value, at.Bytes, signed)
	}
	for end := time.Now().Add(d); ; {
		if t.progress(spanOf(at), arrived) {
			continue
		}
		if arrived() {
			t.found()
			return true
		}
		if time.Now().After(end) {
			return false
		}
		runtime.Gosched()
	}
}

// found records that the PE has what it has waited for. Nothing else arrives there before its next call.
func (t *lateTransport) found() {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	p := &t.net.pes[t.me]
	p.arrivalUnseen, p.checkedFault, p.arrivedAt = true, false, time.Now()
}

// WaitDoorbell implements transport.Progresser. It delivers one operation, so that a wait for many words sees every
// state, too, and none if the doorbell has rung since the PE has looked.
func (t *lateTransport) WaitDoorbell(seen uint32, _ time.Duration) {
	p := &t.net.pes[t.me]
	rung := func() bool { return p.arrivalUnseen && int32(p.state.Doorbell.Load()-seen) > 0 }
	if !t.progress(span{}, rung) {
		runtime.Gosched()
	}
}

// Fault implements transport.Progresser. It delivers operations, and finds no faults. A sleeping PE calls it at
// intervals, even if it has just found what it waits for: only a second call shows that it has not.
func (t *lateTransport) Fault(context.Context) (lost error, decided bool) {
	if !t.mayHaveFound() {
		t.progress(t.lastAwaited(), func() bool { return false })
	}
	return nil, true
}

// lastAwaited returns the bytes of the wait that the PE is in, as its last call told them.
func (t *lateTransport) lastAwaited() span {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	return t.net.pes[t.me].awaited
}

// mayHaveFound reports whether this is the PE's first call of Fault since an arrival. If so, it wakes the PE to
// call again.
func (t *lateTransport) mayHaveFound() bool {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	p := &t.net.pes[t.me]
	if t.net.hasPolled(t.me) || p.checkedFault {
		return false
	}
	p.checkedFault = true
	p.state.Wake()
	return true
}

// progress delivers one operation on this PE, which polls for these bytes, or one that this PE has issued. It reports
// whether there was one. If something has arrived since this PE has looked, it does nothing: the PE is to see the state
// in which nothing else has.
func (t *lateTransport) progress(awaited span, arrived func() bool) bool {
	n := t.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if arrived() {
		return false
	}
	n.recordCall(t.me, true)
	n.pes[t.me].awaited = awaited
	return n.deliverOne(func(op *lateOp) bool { return op.pe == t.me && n.due(op) && n.overdue(op) }) ||
		n.deliverOne(func(op *lateOp) bool {
			return op.from.me == t.me && op.pe != t.me && n.hasPolled(op.pe) && n.overdue(op)
		})
}

func compares(c transport.Cmp, a, b uint64, bytes int, signed bool) bool {
	if bytes == 4 {
		a, b = uint64(uint32(a)), uint64(uint32(b))
		if signed {
			a, b = uint64(int64(int32(a))), uint64(int64(int32(b)))
		}
	}
	order := cmp.Compare(a, b)
	if signed {
		order = cmp.Compare(int64(a), int64(b))
	}
	return map[transport.Cmp]bool{
		transport.EQ: order == 0, transport.NE: order != 0, transport.GT: order > 0,
		transport.GE: order >= 0, transport.LT: order < 0, transport.LE: order <= 0,
	}[c]
}

// lateChannel is the channel of one context.
type lateChannel struct {
	net     *lateNetwork
	me      int
	epochs  map[int]int   // fences so far, by target; -1: to all
	gets    []lateFill    // filled by the next quiet, after it has delivered puts, except later ones on their bytes
	values  []lateFill    // filled last
	sources []*lateSource // sources that have not been read
	handles uint64        // handles of sources so far
	issued  uint64        // operations so far
	draws   *lateDraws    // nil without a seed
}

// A lateFill is a result that a quiet of pe must store at its initiator.
type lateFill struct {
	pe    int
	get   *lateOp // the get, which no later operation may overtake that touches its bytes
	first bool    // a quiet fills it before it delivers what is held
	fill  func()
}

// A lateSource is memory that a put to pe is going to read.
type lateSource struct {
	from   *lateChannel
	pe     int
	handle uint64 // several blocks may have the same
	bytes  []byte
}

// read returns what the source holds now, if it has not been read before.
func (s *lateSource) read() []byte {
	if i := slices.Index(s.from.sources, s); i >= 0 {
		s.from.sources = slices.Delete(s.from.sources, i, i+1)
		s.bytes = slices.Clone(s.bytes)
	}
	return s.bytes
}

// op returns an operation that is about to be issued.
func (c *lateChannel) op(pe int, touch ...span) *lateOp {
	op := &lateOp{from: c, pe: pe, epoch: c.epochs[pe] + c.epochs[-1]}
	copy(op.spans[:], touch)
	return op
}

func (c *lateChannel) hold(pe int, act func(to transport.Channel), touch ...span) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.holdLocked(pe, act, touch...)
}

func (c *lateChannel) holdLocked(pe int, act func(to transport.Channel), touch ...span) {
	c.holdOp(c.op(pe, touch...), act)
}

// holdResult is holdLocked for an operation with a result.
func (c *lateChannel) holdResult(pe int, act func(to transport.Channel), touch ...span) {
	op := c.op(pe, touch...)
	op.returns = true
	c.holdOp(op, act)
}

func (c *lateChannel) holdOp(op *lateOp, act func(to transport.Channel)) {
	if len(c.net.held) == lateCapacity {
		c.net.deliverOne(func(*lateOp) bool { return true })
	}
	op.apply = act
	c.net.recordCall(c.me, false)
	c.net.pes[c.me].looks = 0
	op.polls, op.returned = c.net.pes[c.me].polls, c.net.pes[c.me].returned
	op.issued, op.calls = time.Now(), c.net.pes[op.pe].calls
	c.issue(op)
	c.net.held = append(c.net.held, op)
	c.deliverDrawn()
}

// issue numbers op, and draws its moment.
func (c *lateChannel) issue(op *lateOp) {
	c.net.issued++
	c.issued++
	op.number = c.net.issued
	op.moment = c.draws.moment(op.number, c.issued, op.returns)
}

func (c *lateChannel) Put(pe int, dst uint64, src []byte) {
	src = slices.Clone(src)
	c.hold(pe, func(to transport.Channel) { to.Put(pe, dst, src) }, span{dst, dst + uint64(len(src))})
}

func (c *lateChannel) PutSignal(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) {
	src = slices.Clone(src)
	c.hold(pe, func(to transport.Channel) { to.PutSignal(pe, dst, src, sig, op, value) },
		span{dst, dst + uint64(len(src))}, span{sig, sig + 8})
}

func (c *lateChannel) Post(pe int, op transport.Op, at transport.Word, operand uint64) {
	c.hold(pe, func(to transport.Channel) { to.Post(pe, op, at, operand) }, spanOf(at))
}

func (c *lateChannel) AtomicNB(pe int, op transport.Op, at transport.Word, operand, cond uint64, dst []byte) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	value := c.result(pe, dst)
	c.holdResult(pe, func(to transport.Channel) { to.AtomicNB(pe, op, at, operand, cond, value) }, spanOf(at))
}

// result returns the memory for the result of an operation on pe: dst, or what the next quiet copies to dst.
func (c *lateChannel) result(pe int, dst []byte) []byte {
	if c.draws.atOnce() {
		return dst
	}
	value := make([]byte, len(dst))
	c.values = append(c.values, lateFill{pe: pe, fill: func() { copy(dst, value) }})
	return value
}

func spanOf(at transport.Word) span { return span{at.Off, at.Off + uint64(at.Bytes)} }

func (c *lateChannel) Get(ctx context.Context, pe int, dst []byte, src uint64) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.recordReturn(pe, span{src, src + uint64(len(dst))})
	c.deliverPutsOn(pe, c.net.issued, span{src, src + uint64(len(dst))})
	return c.net.to[pe].Get(ctx, pe, dst, src)
}

// deliverPutsOn delivers the operations of this channel on these bytes of pe with numbers up to before.
func (c *lateChannel) deliverPutsOn(pe int, before uint64, touch span) {
	this := &lateOp{from: c, pe: pe, spans: [2]span{touch}}
	for c.net.deliverOne(func(op *lateOp) bool { return op.number <= before && op.overlaps(this) }) {
	}
}

func (c *lateChannel) GetNB(pe int, dst []byte, src uint64) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	get := c.op(pe, span{src, src + uint64(len(dst))})
	get.returns = true
	c.issue(get)
	f := lateFill{pe: pe, get: get, first: get.moment.patience == 0, fill: func() {
		c.deliverPutsOn(pe, get.number, get.spans[0])
		c.net.to[pe].GetNB(pe, dst, src)
	}}
	c.gets = append(c.gets, f)
	c.deliverDrawn()
}

// fillBefore fills the gets that op, a later operation of this channel, would change the results of.
func (c *lateChannel) fillBefore(op *lateOp) {
	c.fillGets(func(f lateFill) bool { return f.get.number < op.number && f.get.overlaps(op) })
}

// fillGets fills the gets that wanted selects. A fill may deliver puts that fill more.
func (c *lateChannel) fillGets(wanted func(lateFill) bool) {
	for {
		i := c.draws.firstFill(c.gets, wanted)
		if i < 0 {
			return
		}
		f := c.gets[i]
		c.gets = slices.Delete(c.gets, i, i+1)
		f.fill()
	}
}

func (c *lateChannel) Atomic(ctx context.Context, pe int, op transport.Op, at transport.Word, operand, cond uint64) (uint64, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.recordReturn(pe, spanOf(at))
	c.deliverBefore(pe, spanOf(at))
	defer c.net.recordArrival(pe)
	return c.net.to[pe].Atomic(ctx, pe, op, at, operand, cond)
}

// recordReturn records that this PE has issued an operation on these bytes of pe that returns a value.
func (c *lateChannel) recordReturn(pe int, bytes span) {
	c.net.recordCall(c.me, false)
	p := &c.net.pes[c.me]
	p.returned++
	if look := (lateLook{pe, bytes}); p.look == look {
		p.looks++
	} else {
		p.look, p.looks = look, 1
	}
	for _, op := range c.net.arrived {
		if op.pe == pe && op.touches(bytes) {
			c.net.learns(c.me, op.from.me)
		}
	}
	c.issued++
	c.deliverDrawn()
}

func (c *lateChannel) Fence(pe int) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.epochs[max(pe, -1)]++
}

func (c *lateChannel) Quiet(ctx context.Context, pe int) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.net.recordCall(c.me, false)
	c.fillGets(func(f lateFill) bool { return of(f, pe) && f.first })
	c.deliverFrom(pe)
	for _, f := range slices.Clone(c.gets) {
		if of(f, pe) {
			c.awaitPoll(f.pe)
		}
	}
	c.fillGets(func(f lateFill) bool { return of(f, pe) })
	c.values = c.draws.fill(c.values, func(f lateFill) bool { return of(f, pe) })
	return context.Cause(ctx)
}

// deliverFrom delivers all held operations of this channel on pe, or on every PE if pe < 0. A target that waits
// polls after each before the next one arrives, and may deliver the next one itself, since all are due.
func (c *lateChannel) deliverFrom(pe int) {
	n := c.net
	n.pes[c.me].polls++
	wanted := func(op *lateOp) bool { return op.from == c && (pe < 0 || op.pe == pe) }
	defer n.prolong(c.me, wanted)()
	for {
		for n.deliverOne(func(op *lateOp) bool { return wanted(op) && n.ready(op) && !n.behind(op, wanted) }) {
		}
		if !slices.ContainsFunc(n.held, wanted) {
			return
		}
		n.mu.Unlock()
		time.Sleep(latePollInterval)
		n.mu.Lock()
	}
}

// behind reports whether a quiet demands an operation that is newer than op, and op is not expected. Without a seed
// that one arrives first, even if its own target makes it late.
func (n *lateNetwork) behind(op *lateOp, demanded func(*lateOp) bool) bool {
	return n.seed == 0 && !n.expected(op) && slices.ContainsFunc(n.held, func(other *lateOp) bool {
		return other.number > op.number && demanded(other)
	})
}

// prolong holds the operations of pe for as much longer as a quiet of pe lasts, but for those that the quiet demands.
// For it is the network that makes the quiet last. The quiet calls what prolong returns at its end.
func (n *lateNetwork) prolong(pe int, demanded func(*lateOp) bool) (end func()) {
	var others []*lateOp
	began := time.Now()
	for _, op := range n.held {
		if op.from.me == pe && !demanded(op) {
			others = append(others, op)
			op.issued = op.issued.Add(n.grace)
		}
	}
	return func() {
		for _, op := range others {
			op.issued = op.issued.Add(time.Since(began) - n.grace)
		}
	}
}

// latePollInterval is the pause between two checks whether a target has polled.
const latePollInterval = 20 * time.Microsecond

// awaitPoll lets pe act on the last arrival, if it waits for one: until it polls again, or for the patience of the
// network.
func (c *lateChannel) awaitPoll(pe int) {
	n := c.net
	for p := &n.pes[pe]; p.arrivalUnseen && time.Since(p.arrivedAt) < n.patience; {
		n.mu.Unlock()
		time.Sleep(latePollInterval)
		n.mu.Lock()
	}
}

// of reports whether a quiet of pe, or of all PEs if pe < 0, must store f.
func of(f lateFill, pe int) bool { return pe < 0 || f.pe == pe }

// PutZcopy does not copy: src is read when the data arrives, as a network may.
func (c *lateChannel) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	return c.PutStridedZcopy(pe, dst, src, transport.Strided{BlockBytes: len(src), Count: 1})
}

// PutStridedZcopy reads each block when it arrives. Each is a put of its own.
func (c *lateChannel) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	handle := c.handle()
	for i := range b.Count {
		at, block := dst+uint64(i*b.RemoteStride), c.source(pe, handle, src[i*b.LocalStride:][:b.BlockBytes])
		c.holdLocked(pe, func(to transport.Channel) { to.Put(pe, at, block.read()) }, span{at, at + uint64(b.BlockBytes)})
	}
	return handle
}

// PutSignalZcopy reads src when the data arrives.
func (c *lateChannel) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	handle := c.handle()
	from := c.source(pe, handle, src)
	c.holdLocked(pe, func(to transport.Channel) { to.PutSignal(pe, dst, from.read(), sig, op, value) },
		span{dst, dst + uint64(len(src))}, span{sig, sig + 8})
	return handle
}

// handle returns the handle of a source: 0 if the put is to read it at the call.
func (c *lateChannel) handle() uint64 {
	if c.draws.atOnce() {
		return 0
	}
	c.handles++
	return c.handles
}

// source returns what a put to pe is to read when it arrives: src, or a copy if the handle is 0.
func (c *lateChannel) source(pe int, handle uint64, src []byte) *lateSource {
	s := &lateSource{c, pe, handle, src}
	c.sources = append(c.sources, s)
	if handle == 0 {
		s.read()
	}
	return s
}

// Released reports whether the source of a PutZcopy has been read.
func (c *lateChannel) Released(pe int, handle uint64) bool {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	return !slices.ContainsFunc(c.sources, func(s *lateSource) bool { return s.pe == pe && s.handle == handle })
}

// AwaitReleased reads the source of that handle, or all sources if pe < 0. It delivers nothing.
func (c *lateChannel) AwaitReleased(ctx context.Context, pe int, handle uint64) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for _, s := range slices.Clone(c.sources) {
		if pe < 0 || s.pe == pe && s.handle == handle {
			s.read()
		}
	}
	return context.Cause(ctx)
}

// Close delivers what is left: the last PE to leave a job may have sent a last message to the others.
func (c *lateChannel) Close() error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.deliverFrom(-1)
	return nil
}

var (
	_ transport.Progresser     = (*lateTransport)(nil)
	_ transport.Spawner        = (*lateTransport)(nil)
	_ transport.ZeroCopyPutter = (*lateChannel)(nil)
)
