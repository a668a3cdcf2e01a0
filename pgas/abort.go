package pgas

// Collective calls that fail because the context of a member has ended.
//
// The rule, for calls that no member leaves before all have entered: either every member returns nil, or every
// member returns an error. What decides is one word of each member, its entry of the call, which changes once:
//
//	entered    by its owner, when it enters the call
//	poisoned   by its owner, which has found its context ended when it would have entered, or has found
//	           that the members are not in the same call
//	cancelled  by another member, which has entered and whose context has ended while it waits
//
// A call completes only if all members have entered it. So a PE whose context ends inside a call tries to
// cancel the entry of a member that has not entered. If it succeeds, no member completes the call. If all have
// entered, the call completes without any program's help, and the PE waits for that although its context has ended.
//
// A call that is given up ends the use of the team: its members no longer know how far the others have got.
// Each member returns the same reason, which the one that gave up leaves in its slot (verdict_unsafe.go).

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/pgas/transport"
)

// takeTurn starts a collective of a team: it waits until earlier calls are over, and fails if this PE must not
// enter c. leave must follow, unless it fails.
func (t *Team) takeTurn(ctx context.Context, c call) error {
	given(c.kind.String(), ctx)
	if t.w.n.closed.Load() {
		return errClosed
	}
	if r := t.turns.last.Load(); r != nil && !r.isOver() && !r.mine(ctx) {
		if err := t.w.n.awaitClosed(ctx, r.over); err != nil {
			// The turn is another call's. This one is given up when its own comes.
			t.start(ctx, func(ctx context.Context) error { return t.refuse(ctx, c) })
			return err
		}
	}
	if t.turns.busy.Swap(true) {
		misuse(c.kind.String(), "team %s is in another collective: goroutines of a PE take turns, or use teams of their own", t.name)
	}
	err := t.turns.broken
	if err == nil && ctx.Err() != nil {
		err = firstError(t.w.n.failure(), t.refuse(ctx, c))
	}
	if err != nil {
		t.leave()
	}
	return err
}

// refuse makes call c fail for all members, because this PE's context had ended before it. It returns the
// cause.
func (t *Team) refuse(ctx context.Context, c call) error {
	if t.turns.broken != nil {
		return t.turns.broken
	}
	t.next(c, 0)
	return t.giveUp(ctx)
}

// giveUp ends the use of the team because ctx has ended, and returns the cause.
func (t *Team) giveUp(ctx context.Context) error {
	t.tell(t.abortedBy(ctx)) // and returns at once: the caller's time is over
	return context.Cause(ctx)
}

// abortedBy returns the error that the other members return when this PE gives up the call under way.
func (t *Team) abortedBy(ctx context.Context) *AbortedError {
	k := kind(t.board.entry(t.turns.n).call & 0xff)
	return &AbortedError{
		PE:   t.w.n.job.PE,
		Call: fmt.Sprintf("%s (call %d of team %s)", k, t.turns.n, t.name),
		Err:  remoteCause(context.Cause(ctx).Error(), causeOf(ctx)),
	}
}

// await waits for c inside the call under way. When ctx ends, it cancels the call for all members, or goes on
// waiting if all of them have entered.
func (t *Team) await(ctx context.Context, c cond, why blockedIn) (uint64, error) {
	v, err := t.w.n.await(ctx, c, why)
	if err == nil || ctx.Err() == nil || t.turns.broken != nil || t.w.n.failure() != nil {
		return v, err
	}
	t.board.verdict().store(t.abortedBy(ctx)) // before another member looks for it
	if t.cancelEntry() {
		return v, t.giveUp(ctx)
	}
	late, stop := t.w.n.withTimeout(t.w.n.ctx, t.w.n.patience())
	defer stop()
	v, err = t.w.n.await(late, c, why)
	if err != nil && late.Err() != nil && t.w.n.ctx.Err() == nil {
		return v, t.giveUp(ctx) // a member has stopped inside the call
	}
	return v, err
}

// cancelEntry cancels the entry of a member that has not entered the call under way, and reports false if there
// is none. It reports true as well if the call has been given up already, or if a member has not answered for
// so long that its entry cannot be learned.
func (t *Team) cancelEntry() bool {
	n := t.turns.n
	mark := n<<tagBits | cancelled
	for k := range t.local {
		tag := &t.local[k].entry(n).tag
		for v := tag.Load(); ; v = tag.Load() {
			if v>>tagBits >= n {
				if isGivenUp(v, n) {
					return true
				}
				break
			}
			if tag.CompareAndSwap(v, mark) {
				return true
			}
		}
	}
	for i, pe := range t.pes {
		if t.w.n.shm.Heap(pe) == nil && t.cancelRemote(i, mark) {
			return true
		}
	}
	return false
}

// cancelRemote does cancelEntry's work for member i, which is on another host.
func (t *Team) cancelRemote(i int, mark uint64) bool {
	n := t.turns.n
	at := word8(uint64(slotOff(t.slot) + entryOff(n)))
	ctx, stop := t.w.n.withTimeout(t.w.n.ctx, peekTime)
	defer stop()
	via := t.w.n.channel(t.pes[i])
	v, err := via.Atomic(ctx, t.pes[i], opFetch, at, 0, 0)
	for err == nil && v>>tagBits < n {
		var old uint64
		if old, err = via.Atomic(ctx, t.pes[i], transport.CompareSwap, at, mark, v); old == v && err == nil {
			return true
		}
		v = old
	}
	return err != nil || isGivenUp(v, n)
}

// isGivenUp reports whether tag is that of a member which will never complete call n.
func isGivenUp(tag, n uint64) bool {
	return tag>>tagBits == n && (tag&poisoned == poisoned || tag&poisoned == cancelled)
}

// stamp enters the call under way: it publishes this PE's entry e, and all that was stored before. It fails if
// another member has cancelled the call.
func (t *Team) stamp(e *entry) error {
	for {
		old := e.tag.Load()
		if old>>tagBits >= t.turns.n {
			return t.outOfStep()
		}
		if e.tag.CompareAndSwap(old, t.turns.tag) {
			return nil
		}
	}
}

// flush completes what this PE has sent and fetched inside the call under way, even if the call's context ends:
// the members it talks to have entered.
func (t *Team) flush() error { return t.w.n.flush(t.w.n.ctx) }

// spread tells the members on other hosts that the call under way has been given up, so that they look for the
// reason at once, not only at their next interval.
func (t *Team) spread() {
	if len(t.hosts) == 1 {
		return
	}
	off := uint64(slotOff(t.slot) + controlOff + toldOff)
	for _, pe := range t.pes {
		if t.w.n.shm.Heap(pe) == nil {
			t.w.n.channel(pe).Post(pe, transport.Set, word8(off), t.turns.n)
		}
	}
	ctx, stop := t.w.n.withTimeout(t.w.n.ctx, peekTime)
	defer stop()
	_ = t.w.n.flush(ctx) // a member that cannot be reached finds out by itself
}

// stayUntilTold waits until the members that have entered the call know that the team cannot be used any more, or have
// had the time to. If this PE ended before, they would report its end in place of the reason.
func (t *Team) stayUntilTold() {
	ctx, stop := t.w.n.withTimeout(t.w.n.ctx, 2*peekTime)
	defer stop()
	for i, pe := range t.pes {
		rest := longNap
		if t.w.n.shm.Heap(pe) != nil {
			rest = nap
		}
		for pe != t.w.n.job.PE && t.isUntold(i) && t.w.n.sleep(ctx, rest) == nil {
		}
	}
}

// isUntold says whether member i is in the call under way, or in a later one, and does not know yet that the team
// cannot be used any more. One that has not entered waits for no member.
func (t *Team) isUntold(i int) bool {
	tag, _, ok := t.peek(i, t.turns.n)
	if !ok || tag>>tagBits < t.turns.n || isGivenUp(tag, t.turns.n) {
		return false
	}
	ended, err := t.w.n.peekWord(t.pes[i], uint64(slotOff(t.slot)+controlOff+endedOff))
	return err == nil && (ended == 0 || ended < t.turns.met)
}

// AbortedError reports that a member of a team has given up a collective call, because its context had ended
// before the call, or ended before all members had entered it. The member itself returns its context's cause,
// all others this error, which wraps context.Canceled or context.DeadlineExceeded accordingly. The team cannot
// be used after it.
type AbortedError struct {
	PE   int    // number in the job of the PE that gave up the call; -1 if it is not known
	Call string // the call that it gave up
	Err  error  // why
}

func (e *AbortedError) Error() string {
	if e.PE < 0 {
		return fmt.Sprintf("the members of the team are not in step in %s: %v", e.Call, e.Err)
	}
	return fmt.Sprintf("PE %d has given up %s: %v", e.PE, e.Call, e.Err)
}

// Unwrap returns Err.
func (e *AbortedError) Unwrap() error { return e.Err }

// A cause is why another PE's context has ended.
type cause struct {
	text string
	is   error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.is }

// remoteCause returns an error with the given text that wraps is, one of the errors of package context.
func remoteCause(text string, is error) error {
	if is == nil || text == is.Error() {
		if is != nil {
			return is
		}
		return errors.New(text)
	}
	return &cause{text, is}
}

// causeOf returns the error of package context that ctx has ended with.
func causeOf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// refuses reports whether a call with ctx must fail without doing anything. Every call that takes a context asks first.
func (w *World) refuses(ctx context.Context) bool {
	return hasEnded(ctx) || w.n.closed.Load()
}

// refusal returns the error of a refused call of the given name.
func (w *World) refusal(ctx context.Context, name string) error {
	given(name, ctx)
	return fmt.Errorf("%s%s: %w", name, atSite(), w.n.broken(ctx))
}
