package notify

// Several requests at once. A wait is for the active requests. A request that is complete, without Wait, Test or one
// of these functions having said so, counts as just completed; one that they have reported, or that was never
// started, is ignored, as an inactive request is in MPI.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

// WaitAny blocks until one of the requests is complete, and returns its index and the last notification that it
// took. Of several complete requests it is the first of the list. Errors: those of Request.Wait. It
// panics with *pgas.UsageError if none of the requests is active or just completed, or if they belong to
// different PEs.
func WaitAny(ctx context.Context, rs ...*Request) (int, Status, error) {
	notesOf("WaitAny", rs)
	given("WaitAny", ctx)
	if ctx.Err() != nil {
		return -1, Status{}, failedAll(context.Cause(ctx), rs)
	}
	for {
		at, s, next := lookAny("WaitAny", rs)
		if at >= 0 {
			return at, s, nil
		}
		if err := awaitNext(ctx, rs, next); err != nil {
			return -1, Status{}, err
		}
	}
}

// TestAny is WaitAny without waiting: it reports whether one of the requests is complete.
func TestAny(rs ...*Request) (int, Status, bool) {
	notesOf("TestAny", rs).Poll()
	at, s, _ := lookAny("TestAny", rs)
	return at, s, at >= 0
}

// lookAny reports the first request that is complete, or returns -1 and the number of the notification to wait for.
func lookAny(op string, rs []*Request) (at int, s Status, next uint64) {
	notes := notesOf(op, rs)
	notes.Lock()
	defer notes.Unlock()
	rs[0].m.deliver(nil)
	if !someIn(op, rs, active, complete) {
		misuse(op, "none of the %d requests is under way: call Start first", len(rs))
	}
	for i, r := range rs {
		if r.state == complete {
			return i, r.tell(), 0
		}
	}
	return -1, Status{}, notes.Next()
}

// WaitSome blocks until one of the requests is complete, and appends the indexes of all complete requests to into.
// Errors and panics are those of WaitAny.
func WaitSome(ctx context.Context, rs []*Request, into []int) ([]int, error) {
	first, _, err := WaitAny(ctx, rs...)
	if err != nil {
		return into, err
	}
	into = append(into, first)
	notes := notesOf("WaitSome", rs)
	notes.Lock()
	defer notes.Unlock()
	for i, r := range rs {
		if r.state == complete {
			r.state = told
			into = append(into, i)
		}
	}
	return into, nil
}

// WaitAll blocks until none of the requests is active. Errors: those of Request.Wait. It panics with
// *pgas.UsageError if none was ever started, or if they belong to different PEs.
func WaitAll(ctx context.Context, rs ...*Request) error {
	notesOf("WaitAll", rs)
	given("WaitAll", ctx)
	if ctx.Err() != nil {
		return failedAll(context.Cause(ctx), rs)
	}
	for {
		ok, next := lookAll("WaitAll", rs)
		if ok {
			return nil
		}
		if err := awaitNext(ctx, rs, next); err != nil {
			return err
		}
	}
}

// TestAll reports, without waiting, whether none of the requests is active. It panics as WaitAll does.
func TestAll(rs ...*Request) bool {
	notesOf("TestAll", rs).Poll()
	ok, _ := lookAll("TestAll", rs)
	return ok
}

// lookAll reports all requests if all are complete, or returns the number of the notification to wait for.
func lookAll(op string, rs []*Request) (ok bool, next uint64) {
	notes := notesOf(op, rs)
	notes.Lock()
	defer notes.Unlock()
	rs[0].m.deliver(nil)
	if !someIn(op, rs, active, complete, told) {
		misuse(op, "none of the %d requests was ever started: call Start first", len(rs))
	}
	if someIn(op, rs, active) {
		return false, notes.Next()
	}
	for _, r := range rs {
		if r.state == complete {
			r.state = told
		}
	}
	return true, 0
}

// someIn reports whether one of the requests is in one of the states.
func someIn(op string, rs []*Request, states ...state) bool {
	found := false
	for _, r := range rs {
		r.alive(op)
		for _, s := range states {
			found = found || r.state == s
		}
	}
	return found
}

// notesOf returns the queue of notes that all requests take from.
func notesOf(op string, rs []*Request) *pgas.NoteQueue {
	if len(rs) == 0 {
		misuse(op, "there is no request to wait for: pass some")
	}
	rs[0].made(op)
	m := rs[0].m
	for _, r := range rs {
		r.made(op)
		if r.m != m {
			misuse(op, "the requests belong to different PEs: wait for those of one World at a time")
		}
	}
	return m.notes
}

func awaitNext(ctx context.Context, rs []*Request, next uint64) error {
	if err := rs[0].m.notes.Await(ctx, next); err != nil {
		return failedAll(err, rs)
	}
	return nil
}

func failedAll(err error, rs []*Request) error {
	return fmt.Errorf("waiting for %d requests, the first for notifications from %s with %s: %w", len(rs), rs[0].sourceName(), rs[0].tagName(), err)
}
