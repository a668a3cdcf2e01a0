// Package notify waits for notified accesses: puts, gets and atomics that tell the PE whose memory they are
// to (pgas.Slice.PutNotify and its like). It follows
//
//	R. Belli, T. Hoefler: Notified Access: Extending Remote Memory Access Programming Models for
//	Producer-Consumer Synchronization, IPDPS 2015
//
// A Request says which notifications are waited for: by source and tag, or any, and how many (section
// III.B). It is made once, and started each time that it is to be waited for. A notification goes to the
// oldest request under way that it fits. If there is none, it is unexpected and kept, in the order of
// arrival, for the first request to be started that it fits (section IV.B).
//
//	left := notify.New(w, w.PE()-1, rowTag, 1)
//	for row := range rows {
//		left.Start()
//		if _, err := left.Wait(ctx); err != nil { … }
//		compute(row) // what the notified put has brought is there
//		halo.PutNotify(w.PE()+1, last, rowTag)
//	}
//
// When a request is complete, so is what its notifications tell of: what was put is visible, and what was
// got may be overwritten. The notifications of one PE, on one context, arrive in the order of their issue.
// Those of different PEs or contexts are in no order.
//
// # Costs
//
// The target of a notification reads the request, one cache line, and one of the matcher's, which has all
// that must be known of up to three active requests and whether anything is unexpected (section V). It
// reads the queue besides, as any scheme must. Start touches nothing else while nothing is unexpected.
// Nothing here allocates once a request is made.
package notify

import (
	"context"
	"fmt"
	"iter"

	"github.com/gopgas/gopgas/pgas"
)

const (
	// Any as a source or a tag fits every one.
	Any = -1
	// MaxTag is the largest tag; the least is 0.
	MaxTag = pgas.MaxTag
)

// Status is what is known of a notification.
type Status struct {
	Source int // the PE that issued the access, as its request counts PEs
	Tag    int
	Bytes  int // that the access moved
}

// Request waits for a number of notifications. It is persistent: made with New, started with Start, again
// and again, ended with Free. Goroutines may share one, but it is under way once at a time.
type Request struct {
	m     *matcher
	key   key
	count int32 // that it takes to complete
	have  int32 // that have come since its start
	state state
	team  *pgas.Team // whose members its source is one of; nil: of all PEs
	last  stamped    // the last of those that have come
	_     [1]uint64  // to one cache line
}

// state is where a request is in its life.
type state int32

const (
	idle state = iota
	active
	complete
	told // complete, and its owner knows
	freed
)

// New makes a request for count notifications from PE source, or any, with a tag, or any. It panics with
// *pgas.UsageError if there is no such PE, tag or count.
func New(w *pgas.World, source, tag, count int) *Request {
	return newRequest(w.Team(), source, tag, count)
}

// NewIn is New that counts PEs as t does. Any is any member of t.
func NewIn(t *pgas.Team, source, tag, count int) *Request { return newRequest(t, source, tag, count) }

func newRequest(t *pgas.Team, source, tag, count int) *Request {
	if count < 1 || count > 1<<30 {
		misuse("New", "%d notifications cannot be waited for: the count is 1 to %d", count, 1<<30)
	}
	r := new(Request)
	*r = requestFor("New", t, source, tag)
	r.count = int32(count)
	return r
}

// requestFor is a request for one notification.
func requestFor(op string, t *pgas.Team, source, tag int) Request {
	if t == nil {
		misuse(op, "this PE is no member of the team (its *pgas.Team is nil): leave that to the members")
	}
	if source < Any || source >= t.NPEs() {
		misuse(op, "there is no PE %d to be notified by: use 0 to %d, or Any", source, t.NPEs()-1)
	}
	if tag < Any || tag > MaxTag {
		misuse(op, "there is no tag %d: use 0 to %d, or Any", tag, MaxTag)
	}
	team := t
	if t == t.World().Team() {
		team = nil
	}
	if source != Any {
		source = t.WorldPE(source)
	}
	return Request{m: matcherOf(t.World()), key: keyOf(source, tag), count: 1, team: team}
}

// Start begins to wait. It takes unexpected notifications first, the oldest ones. It panics with
// *pgas.UsageError if r is under way.
func (r *Request) Start() {
	r.made("Request.Start")
	r.m.box.Lock()
	was, had := r.state, r.have
	if was != active && was != freed {
		r.have, r.state = 0, active
		if r.m.unexpected == 0 || !r.m.takeUnexpected(r) {
			r.m.activate(r)
		}
	}
	r.m.box.Unlock()
	if was == active {
		misuse("Request.Start", "the request is under way, with %d of %d notifications: wait for it, or Cancel it, before it is started again", had, r.count)
	}
	if was == freed {
		r.unfit("Request.Start")
	}
}

// Test reports, without waiting, whether r is complete, and the last notification that it took. It panics
// with *pgas.UsageError if r was never started.
func (r *Request) Test() (Status, bool) {
	r.made("Request.Test")
	r.m.box.Poll()
	s, ok, _ := r.look("Request.Test")
	return s, ok
}

// Wait returns when r is complete: the last notification that it took. It fails with the error of ctx or
// with a *pgas.PeerError, and r is then still under way. It panics with *pgas.UsageError if r was never
// started.
func (r *Request) Wait(ctx context.Context) (Status, error) {
	r.made("Request.Wait")
	given("Request.Wait", ctx)
	if ctx.Err() != nil {
		return Status{}, r.failed(context.Cause(ctx))
	}
	for {
		s, ok, next := r.look("Request.Wait")
		if ok {
			return s, nil
		}
		if err := r.m.box.Await(ctx, next); err != nil {
			return Status{}, r.failed(err)
		}
	}
}

// look takes what has arrived. If r is complete then, it says so, and what it took last; if not, which
// notification to wait for.
func (r *Request) look(op string) (s Status, ok bool, next uint64) {
	m := r.m
	m.box.Lock()
	if r.state == active {
		m.deliver(r)
	}
	was := r.state
	if was == complete || was == told {
		s, ok = r.tell(), true
	}
	next = m.box.Next()
	m.box.Unlock()
	if was == idle || was == freed {
		r.unfit(op)
	}
	return s, ok, next
}

// unfit panics about a request that cannot be waited for.
func (r *Request) unfit(op string) {
	r.alive(op)
	misuse(op, "the request was never started, or was cancelled: call Start first")
}

func (r *Request) alive(op string) {
	if r.state == freed {
		misuse(op, "the request was freed: make another with New")
	}
}

// made panics with *pgas.UsageError if r is nil or zero.
func (r *Request) made(op string) {
	if r == nil || r.m == nil {
		misuse(op, "a nil or zero Request (it was made by no New): make it with New or NewIn")
	}
}

// given panics with *pgas.UsageError if ctx is nil.
func given(op string, ctx context.Context) {
	if ctx == nil {
		misuse(op, "the context.Context is nil: give the one of the program, or context.Background()")
	}
}

// tell is the status of r, which is complete, for its owner.
func (r *Request) tell() Status {
	r.state = told
	return r.status()
}

func (r *Request) status() Status {
	return Status{Source: r.numberOf(r.last.stamp.Source()), Tag: int(r.last.stamp.Tag()), Bytes: int(r.last.bytes)}
}

// numberOf is PE pe of the job as r counts.
func (r *Request) numberOf(pe int) int {
	if r.team == nil {
		return pe
	}
	return r.team.World().Team().Translate(pe, r.team)
}

// Status is the last notification that r took; the zero Status if it took none.
func (r *Request) Status() Status {
	r.made("Request.Status")
	r.m.box.Lock()
	defer r.m.box.Unlock()
	if r.last == (stamped{}) && r.have == 0 {
		return Status{}
	}
	return r.status()
}

// Cancel ends the wait of r, and returns how many notifications it has taken since its start: those are
// gone. Of a request that is complete, or was never started, it returns 0 and changes nothing.
func (r *Request) Cancel() int {
	r.made("Request.Cancel")
	r.m.box.Lock()
	defer r.m.box.Unlock()
	r.alive("Request.Cancel")
	r.m.deliver(nil) // what has arrived is r's, if it fits, and no younger request's
	if r.state != active {
		return 0
	}
	r.m.deactivate(r)
	r.state = idle
	return int(r.have)
}

// Free ends r. It panics with *pgas.UsageError if r is under way.
func (r *Request) Free() {
	r.made("Request.Free")
	r.m.box.Lock()
	defer r.m.box.Unlock()
	if r.state == active {
		misuse("Request.Free", "the request is under way, with %d of %d notifications: wait for it, or Cancel it, before it is freed", r.have, r.count)
	}
	r.alive("Request.Free")
	r.state = freed
}

// Arrivals starts r and waits for it, again and again: for a request of one notification, each of them as
// it arrives. An error ends it, as the last pair.
func (r *Request) Arrivals(ctx context.Context) iter.Seq2[Status, error] {
	r.made("Request.Arrivals")
	given("Request.Arrivals", ctx)
	return func(yield func(Status, error) bool) {
		for {
			r.Start()
			s, err := r.Wait(ctx)
			if err != nil {
				r.Cancel()
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func (r *Request) failed(err error) error {
	r.m.box.Lock()
	defer r.m.box.Unlock()
	return fmt.Errorf("waiting for %d notifications (%d have come) from %s with %s: %w", r.count, r.have, r.sourceName(), r.tagName(), err)
}

func (r *Request) sourceName() string {
	if s := uint32(r.key); s != anyOf {
		return fmt.Sprintf("PE %d", r.numberOf(int(s)))
	}
	return "any PE"
}

func (r *Request) tagName() string {
	if t := uint32(r.key >> 32); t != anyOf {
		return fmt.Sprintf("tag %d", t)
	}
	return "any tag"
}

// Probe reports, without waiting, whether there is an unexpected notification from PE source, or any, with
// a tag, or any, and which is the oldest. It stays where it is.
func Probe(w *pgas.World, source, tag int) (Status, bool) { return ProbeIn(w.Team(), source, tag) }

// ProbeIn is Probe that counts PEs as t does.
func ProbeIn(t *pgas.Team, source, tag int) (Status, bool) {
	p := requestFor("Probe", t, source, tag)
	p.m.box.Poll()
	s, ok, _ := p.probe()
	return s, ok
}

// ProbeWait is Probe that waits until there is one. It fails as Request.Wait does.
func ProbeWait(ctx context.Context, w *pgas.World, source, tag int) (Status, error) {
	given("ProbeWait", ctx)
	p := requestFor("ProbeWait", w.Team(), source, tag)
	if ctx.Err() != nil {
		return Status{}, p.failed(context.Cause(ctx))
	}
	for {
		s, ok, next := p.probe()
		if ok {
			return s, nil
		}
		if err := p.m.box.Await(ctx, next); err != nil {
			return Status{}, p.failed(err)
		}
	}
}

// probe takes what has arrived and looks for what r fits. If there is nothing it says what to wait for.
func (r *Request) probe() (s Status, ok bool, next uint64) {
	r.m.box.Lock()
	defer r.m.box.Unlock()
	r.m.deliver(nil)
	n, ok := r.m.oldest(r)
	if !ok {
		return Status{}, false, r.m.box.Next()
	}
	r.last = stamped{n.Stamp, n.Bytes}
	return r.status(), true, 0
}

// misuse panics with a *pgas.UsageError.
func misuse(op, format string, args ...any) {
	panic(&pgas.UsageError{Op: "notify." + op, Msg: fmt.Sprintf(format, args...)})
}
