package sim

// Failures, and deadlocks: when nothing can happen any more and PEs still wait, who waits for what.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// Failure is a run that went wrong, with what repeats it.
type Failure struct {
	PE        int // that found out, or -1
	NPEs      int
	Seed      uint64
	Adversary bool
	Schedule  string   // of Explore: for Replay
	Steps     []string // the last that happened before
	Err       error    // what went wrong
}

func (f *Failure) Error() string {
	var b strings.Builder
	if f.PE >= 0 {
		fmt.Fprintf(&b, "PE %d of %d: ", f.PE, f.NPEs)
	}
	fmt.Fprintf(&b, "%v\n", f.Err)
	fmt.Fprintf(&b, "the last %d steps:\n", len(f.Steps))
	for _, s := range f.Steps {
		fmt.Fprintf(&b, "\t%s\n", s)
	}
	switch {
	case f.Schedule != "":
		fmt.Fprintf(&b, "sim.Replay repeats it with the schedule %q", f.Schedule)
	case f.Adversary:
		fmt.Fprintf(&b, "sim.Run repeats it with Config{Adversary: true, Seed: %d}", f.Seed)
	default:
		fmt.Fprintf(&b, "sim.Run repeats it with Config{Seed: %d}", f.Seed)
	}
	return b.String()
}

func (f *Failure) Unwrap() error { return f.Err }

// stepsShown is how many steps a failure shows.
const stepsShown = 40

// failure is how the run ended.
func (s *sim) failure(schedule string) error {
	if s.err == nil {
		return nil
	}
	f := &Failure{PE: -1, NPEs: len(s.pes), Seed: s.cfg.Seed, Adversary: s.cfg.Adversary, Schedule: schedule, Steps: s.trace.tail(stepsShown), Err: s.err}
	if s.failedPE != nil {
		f.PE = s.failedPE.id
	}
	return f
}

// DeadlockError says that nothing can happen any more.
type DeadlockError struct {
	Blocked []string // "PE 3 …", one for each PE that waits
}

func (e *DeadlockError) Error() string {
	return "deadlock: no PE can go on\n\t" + strings.Join(e.Blocked, "\n\t")
}

// deadlineSlack is how long a deadline of real time is waited for before PEs look for the reason of a standstill.
const deadlineSlack = time.Second

// resolveStall is called when nothing is left to happen and PEs still wait. Those may go on whose contexts
// have a deadline of real time; and once, all may look for the reason. It reports whether anything can
// happen now.
func (s *sim) resolveStall() bool {
	if s.awaitDeadline(deadlineSlack) {
		return true
	}
	if !s.stallReported {
		s.stallReported = true
		if s.endAllWaits() {
			return true
		}
	}
	if s.awaitDeadline(math.MaxInt64) {
		return true
	}
	s.fail(nil, s.deadlock())
	return false
}

func (s *sim) endAllWaits() (any bool) {
	for _, p := range s.pes {
		for len(p.waiting) > 0 {
			s.finish(p.waiting[0], transport.ErrStalled, 0)
			any = true
		}
	}
	return any
}

// awaitDeadline waits for the first deadline among the contexts of waiting tasks, if it comes within d and
// before that of the run.
func (s *sim) awaitDeadline(d time.Duration) bool {
	end, bounded := s.ctx.Deadline()
	var first context.Context
	for _, t := range s.cancellable {
		at, ok := t.wait.ctx.Deadline()
		if !ok || bounded && !at.Before(end) || time.Until(at) > d {
			continue
		}
		if first == nil {
			first = t.wait.ctx
		} else if e, _ := first.Deadline(); at.Before(e) {
			first = t.wait.ctx
		}
	}
	if first == nil {
		return false
	}
	<-first.Done()
	s.stallReported = false
	s.cancelled = true
	s.checkCancelled()
	return true
}

// deadlock says who waits for what.
func (s *sim) deadlock() error {
	e := new(DeadlockError)
	for _, p := range s.pes {
		for _, t := range p.tasks {
			if !t.ended && !p.dead {
				e.Blocked = append(e.Blocked, fmt.Sprintf("PE %d %s", p.id, p.describeBlocked()))
			}
		}
	}
	const most = 20
	if n := len(e.Blocked); n > most {
		e.Blocked = append(e.Blocked[:most], fmt.Sprintf("and %d more", n-most))
	}
	return e
}

// describeBlocked is what p has published of what it is blocked in.
func (p *pe) describeBlocked() string {
	b := &p.seg.States[0].Blocked
	peer, seq := b.Peer.Load(), b.Seq.Load()
	var at string
	switch op := boot.BlockedOp(b.Op.Load()); op {
	case boot.InWait:
		at = fmt.Sprintf("waits for the word at offset %#x, which is %d", seq, word(p.heap, seq&^7, 8))
	case boot.InLock:
		at = fmt.Sprintf("waits for the lock at offset %#x", seq)
	case boot.InBarrier, boot.InCollective:
		at = fmt.Sprintf("is in %s %d of team %d", op, seq, b.Team.Load())
	default:
		at = "is in " + op.String()
	}
	if peer >= 0 {
		at += fmt.Sprintf(", for PE %d", peer)
	}
	return at
}

// IsDeadlock says whether a run ended in a deadlock.
func IsDeadlock(err error) bool {
	var d *DeadlockError
	return errors.As(err, &d)
}
