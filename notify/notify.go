// Package notify waits for notified accesses: puts, gets and atomics that notify their target (such as
// pgas.Slice.PutNotify). It follows
//
//	R. Belli, T. Hoefler: Notified Access: Extending Remote Memory Access Programming Models for
//	Producer-Consumer Synchronization, IPDPS 2015
//
// A Request says which notifications its owner waits for: by source and tag, each of which may be Any, and how
// many (section III.B). It is made once, and started before each wait. A notification goes to the oldest active
// request that it matches. If no active request matches, the notification is unexpected: it is kept, in the order
// of arrival, for the first request to be started that it matches (section IV.B).
//
//	left := notify.New(w, w.PE()-1, rowTag, 1)
//	for row := range rows {
//		left.Start()
//		if _, err := left.Wait(ctx); err != nil { … }
//		compute(row) // which the notified put has written
//		halo.PutNotify(w.PE()+1, last, rowTag)
//	}
//
// When a request is complete, so are the accesses that its notifications tell of: data put are visible, and data
// got may be overwritten. The notifications of one PE, on one context, arrive in the order of their issue.
// Those of different PEs or contexts are in no order.
//
// # Costs
//
// The target of a notification reads the request, which is one cache line, and one cache line of the matcher,
// which holds the keys of up to three active requests and whether any notification is unexpected (section V). It
// reads the queue of notes besides, as any scheme must. Start touches nothing else while no notification is
// unexpected. A wait allocates nothing.
//
//ci:nocgo=whole
package notify

import (
	"context"
	"fmt"
	"iter"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

const (
	// Any as a source or a tag matches every one.
	Any = -1
	// MaxTag is the largest tag; the smallest is 0.
	MaxTag = pgas.MaxTag
)

// Status describes a notification.
type Status struct {
	Source int // the PE that issued the access, as its request counts PEs
	Tag    int
	Bytes  int // bytes that the access has moved
}

// Request waits for a number of notifications. It is persistent, as in MPI: made with New, started with Start any
// number of times, ended with Free. Goroutines may share one, but it has one start at a time under way.
type Request struct {
	m     *matcher
	key   key
	count int32 // notifications that it takes to complete
	have  int32 // notifications received since its start
	state state
	team  *pgas.Team // the team that its source is counted in; nil: all PEs
	last  stamped    // the last notification received
	_     [1]uint64  // fills the cache line
}

// state is a stage in the life of a request.
type state int32

const (
	idle state = iota
	active
	complete
	told // complete, and Wait, Test or one of their like has said so
	freed
)

// New makes a request for count notifications with a tag from PE source; either may be Any. It panics with
// *pgas.UsageError if source, tag or count is out of range.
func New(w *pgas.World, source, tag, count int) *Request {
	return newRequest(w.Team(), source, tag, count)
}

// NewIn is New for PE source of team t. Any is any member of t. It panics as New does, and if t is nil.
func NewIn(t *pgas.Team, source, tag, count int) *Request { return newRequest(t, source, tag, count) }

func newRequest(t *pgas.Team, source, tag, count int) *Request {
	if count < 1 || count > 1<<30 {
		misuse("New", "%s cannot be waited for: the count is 1 to %d", plural.Count(count, "notification"), 1<<30)
	}
	r := new(Request)
	*r = requestFor("New", t, source, tag)
	r.count = int32(count)
	return r
}

// requestFor returns a request for one notification.
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

// Start makes r active. It takes matching unexpected notifications first, in their order of arrival. It panics
// with *pgas.UsageError if r is active already.
func (r *Request) Start() {
	r.made("Request.Start")
	r.m.notes.Lock()
	was, had := r.state, r.have
	if was != active && was != freed {
		r.have, r.state = 0, active
		if r.m.unexpected == 0 || !r.m.takeUnexpected(r) {
			r.m.activate(r)
		}
	}
	r.m.notes.Unlock()
	if was == active {
		misuse("Request.Start", "the request is under way, with %d of %s: wait for it, or Cancel it, before it is started again", had, plural.Count(r.count, "notification"))
	}
	if was == freed {
		r.unfit("Request.Start")
	}
}

// Test reports, without waiting, whether r is complete, and returns the last notification that it took. It panics
// with *pgas.UsageError if r was never started, and with *pgas.NotesError where Wait would return that.
func (r *Request) Test() (Status, bool) {
	r.made("Request.Test")
	r.m.notes.Poll()
	s, ok, _ := r.look("Request.Test")
	return s, ok
}

// Wait blocks until r is complete, and returns the last notification that it took. Errors: *pgas.PeerError if a PE of
// the job dies, *pgas.NotesError if this PE keeps as many unexpected notifications as it may (PGAS_NOTES_MAX) and
// initiators have waited for room too long, and the cause of ctx's end; r stays active then. It panics with
// *pgas.UsageError if r was never started.
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
		if err := r.m.notes.Await(ctx, next); err != nil {
			return Status{}, r.failed(err)
		}
	}
}

// look matches the notifications that have arrived. If r is complete then, it returns the last notification that r
// took; if not, the number of the notification to wait for.
func (r *Request) look(op string) (s Status, ok bool, next uint64) {
	m := r.m
	m.notes.Lock()
	if r.state == active {
		m.deliver(r)
	}
	was := r.state
	if was == complete || was == told {
		s, ok = r.tell(), true
	}
	next = m.notes.Next()
	m.notes.Unlock()
	if was == idle || was == freed {
		r.unfit(op)
	}
	return s, ok, next
}

// unfit panics because r cannot be waited for.
func (r *Request) unfit(op string) {
	r.alive(op)
	misuse(op, "the request was never started, or was cancelled: call Start first")
}

// alive panics with *pgas.UsageError if r was freed.
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

// tell returns the status of r, which is complete, and notes that its owner knows.
func (r *Request) tell() Status {
	r.state = told
	return r.status()
}

func (r *Request) status() Status {
	return Status{Source: r.numberOf(r.last.stamp.Source()), Tag: int(r.last.stamp.Tag()), Bytes: int(r.last.bytes)}
}

// numberOf returns the number that PE pe of the job has in r's team, or -1.
func (r *Request) numberOf(pe int) int {
	if r.team == nil {
		return pe
	}
	return r.team.World().Team().Translate(pe, r.team)
}

// Status returns the last notification that r took, or the zero Status if it took none.
func (r *Request) Status() Status {
	r.made("Request.Status")
	r.m.notes.Lock()
	defer r.m.notes.Unlock()
	if r.last == (stamped{}) && r.have == 0 {
		return Status{}
	}
	return r.status()
}

// Cancel makes an active r inactive, and returns the number of notifications that r has taken since its start:
// those are consumed. If r is complete or was never started, it returns 0 and changes nothing. It panics with
// *pgas.UsageError if r was freed.
func (r *Request) Cancel() int {
	r.made("Request.Cancel")
	r.m.notes.Lock()
	defer r.m.notes.Unlock()
	r.alive("Request.Cancel")
	r.m.deliver(nil) // what has arrived and matches is r's, not a younger request's
	if r.state != active {
		return 0
	}
	r.m.deactivate(r)
	r.state = idle
	return int(r.have)
}

// Free ends r. It panics with *pgas.UsageError if r is active or was freed before.
func (r *Request) Free() {
	r.made("Request.Free")
	r.m.notes.Lock()
	defer r.m.notes.Unlock()
	if r.state == active {
		misuse("Request.Free", "the request is under way, with %d of %s: wait for it, or Cancel it, before it is freed", r.have, plural.Count(r.count, "notification"))
	}
	r.alive("Request.Free")
	r.state = freed
}

// Arrivals returns an iterator that starts r and waits for it in each step. With a request for one notification,
// these are all matching notifications as they arrive. An error, as those of Wait, ends the iteration; it
// comes with the last pair, and r is cancelled.
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
	r.m.notes.Lock()
	defer r.m.notes.Unlock()
	return fmt.Errorf("waiting for %s (%d have come) from %s with %s: %w", plural.Count(r.count, "notification"), r.have, r.sourceName(), r.tagName(), err)
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

// Probe returns, without waiting, the oldest unexpected notification with a tag from PE source, either of which may
// be Any, and reports whether there is one. It does not consume the notification.
func Probe(w *pgas.World, source, tag int) (Status, bool) { return ProbeIn(w.Team(), source, tag) }

// ProbeIn is Probe for PE source of team t.
func ProbeIn(t *pgas.Team, source, tag int) (Status, bool) {
	p := requestFor("Probe", t, source, tag)
	p.m.notes.Poll()
	s, ok, _ := p.probe()
	return s, ok
}

// ProbeWait blocks until there is an unexpected notification as Probe describes it. Errors: those of
// Request.Wait.
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
		if err := p.m.notes.Await(ctx, next); err != nil {
			return Status{}, p.failed(err)
		}
	}
}

// probe matches the notifications that have arrived, and returns the oldest unexpected one that r matches, or the
// number of the notification to wait for.
func (r *Request) probe() (s Status, ok bool, next uint64) {
	r.m.notes.Lock()
	defer r.m.notes.Unlock()
	r.m.deliver(nil)
	n, ok := r.m.oldest(r)
	if !ok {
		return Status{}, false, r.m.notes.Next()
	}
	r.m.notes.Probed(&n)
	r.last = stamped{n.Stamp, n.Bytes}
	return r.status(), true, 0
}

// misuse panics with a *pgas.UsageError.
func misuse(op, format string, args ...any) {
	hook.Misuse("notify."+op, format, args...)
}
