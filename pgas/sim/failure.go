package sim

// Failures, and deadlocks: no event is left and PEs still wait. The report lists what each waits for.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/private"
)

// Failure is the error of a run that went wrong, with the steps before it and how to repeat it.
type Failure struct {
	PE        int // the PE that found the error, or -1
	NPEs      int
	Seed      uint64
	Adversary bool
	Schedule  string   // of Explore, to be given to Replay
	Steps     []string // the last ones before the error
	Err       error    // what went wrong
}

func (f *Failure) Error() string {
	var b strings.Builder
	if f.PE >= 0 {
		fmt.Fprintf(&b, "PE %d of %d: ", f.PE, f.NPEs)
	}
	fmt.Fprintf(&b, "%v\n", f.Err)
	fmt.Fprintf(&b, "the last %s:\n", plural.Count(len(f.Steps), "step"))
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

// failure returns the error of the run: nil, or a *Failure.
func (s *sim) failure(schedule string) error {
	if s.net.Engine.Err() == nil {
		return nil
	}
	f := &Failure{PE: -1, NPEs: len(s.pes), Seed: s.cfg.Seed, Adversary: s.cfg.Adversary, Schedule: schedule, Steps: s.net.LastSteps(stepsShown), Err: s.net.Engine.Err()}
	if p := s.net.Engine.Failed(); p != nil {
		f.PE = p.ID
	}
	return f
}

// DeadlockError reports that no PE can go on.
type DeadlockError struct {
	Blocked []string // "PE 3 …", one for each PE that waits
}

func (e *DeadlockError) Error() string {
	return "deadlock: no PE can go on\n\t" + strings.Join(e.Blocked, "\n\t")
}

// deadlock returns an error that lists what each PE waits for.
func (s *sim) deadlock() error {
	e := new(DeadlockError)
	for _, p := range s.pes {
		for _, t := range p.net.Tasks() {
			if !t.Ended() && !p.net.Dead() {
				e.Blocked = append(e.Blocked, fmt.Sprintf("PE %d %s", p.net.ID, p.describeBlocked()))
			}
		}
	}
	const most = 20
	if n := len(e.Blocked); n > most {
		e.Blocked = append(e.Blocked[:most], fmt.Sprintf("and %d more", n-most))
	}
	return e
}

// describeBlocked returns what p has published about the call that it is blocked in.
func (p *pe) describeBlocked() string {
	b := &p.seg.States[0].Blocked
	peer, seq := b.Peer.Load(), b.Seq.Load()
	var at string
	switch op := boot.BlockedOp(b.Op.Load()); op {
	case boot.InWait:
		at = fmt.Sprintf("waits for %s, which is %d", p.placeName("the word", seq), binary.NativeEndian.Uint64(p.net.Memory()[seq&^7:]))
	case boot.InLock:
		at = "waits for " + p.placeName("the lock", seq)
	case boot.InBarrier, boot.InCollective:
		at = fmt.Sprintf("is in %s %d of team %d", op, seq, b.Team.Load())
	case boot.InFetch, boot.InRelease:
		at = fmt.Sprintf("is in %s, block %d", op, seq)
	case boot.InLibrary:
		name, _, _ := strings.Cut(p.seg.States[0].Text.Load(), "\n")
		at = "is in " + name
	default:
		at = "is in " + op.String()
	}
	if peer >= 0 {
		at += fmt.Sprintf(", for PE %d", peer)
	}
	return at
}

// placeName returns what reports call the thing (what) at an offset of p's heap.
func (p *pe) placeName(what string, off uint64) string {
	if p.world == nil {
		return fmt.Sprintf("%s at offset %#x", what, off)
	}
	return private.Node(p.world).PlaceName(what, off)
}

// IsDeadlock reports whether err is that of a run that ended in a deadlock.
func IsDeadlock(err error) bool {
	var d *DeadlockError
	return errors.As(err, &d)
}
