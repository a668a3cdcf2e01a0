package boot

import (
	"context"
	"fmt"
	"os"
	"sort"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// Host is one host of a job. It runs the PEs First … First+PEs-1.
type Host struct {
	Name  string
	First int
	PEs   int
}

// Job describes one PE's place in its job.
//
// Invariant: Hosts are in PE order without gaps, and together hold NPEs PEs.
type Job struct {
	ID        string // a random name of the job, of which nothing on disk is made
	PE        int
	NPEs      int
	Hosts     []Host
	HostIndex int      // index in Hosts of this PE's host
	Segment   *Segment // the memory shared by the PEs of this host
	Exchange  Exchange // nil when no PE needs one: see Settings.Networked
	Secret    []byte   // known only to processes of this job; nil without Exchange
	Launched  bool     // false for a binary started by hand: a job of one
	Settings  Settings // what the user tuned; the zero value is a fine default

	Profiles *ProfilePipe // the pipe to the launcher, if it collects profiles
	Record   *record.PE   // what this PE records of itself; nil: nothing
	Images   *os.File     // memory of this host that outlives its PEs, for what package ckpt keeps; nil: none
	// ImagesTerm is the term in which Images was made.
	ImagesTerm int
	Term       int // how often the PEs of the job were started, this time included; 0: they are started once

	Member Member // nil in a job with agents, and in one that a test makes
	Terms  Terms  // nil: the agent lets this process outlive no term
}

// Terms is how the process of a PE outlives a term of its job, and is a PE of the next one.
type Terms interface {
	// Stay tells the agent that this process is to outlive its terms. The agent kills one that has not said so.
	Stay() error
	// Ended returns a channel that is closed when the agent ends the term.
	Ended() <-chan struct{}
	// Next leaves the term of a Job, whose World has ended, and returns the Job of this process in the next
	// term. The memory of the heaps is given back, and their addresses crash a goroutine that uses them still. Next
	// returns nil if no term follows, and an error if this process cannot take part.
	Next(*Job) (*Job, error)
}

// A Member is a PE of a job without agents: it tells the other members what a PE tells an agent through the segment.
type Member interface {
	// Leave tells the members that none of them waits for this PE any more.
	Leave()
	// Ending tells the members that this PE ends because of an error. peer is the lost PE if why is EndLost.
	Ending(why EndReason, peer int)
	// GlobalExit ends the process of every member with status, and this one too. It returns if that takes too long.
	GlobalExit(status int)
	// Answered reports whether this PE need not wait for an answer of the arbiter: see Job.ArbiterAnswered.
	Answered(since int64) bool
}

// Host returns this PE's host.
func (j *Job) Host() Host { return j.Hosts[j.HostIndex] }

// HostOf returns the index in Hosts of the host that pe runs on.
func (j *Job) HostOf(pe int) int {
	if pe < 0 || pe >= j.NPEs {
		panic(fmt.Sprintf("boot: PE %d is not in a job of %d", pe, j.NPEs))
	}
	return sort.Search(len(j.Hosts), func(i int) bool { return j.Hosts[i].First > pe }) - 1
}

// Membership says whether a PE has joined or left its job. A PE publishes it in State.Membership for the launcher.
type Membership uint32

// The memberships. A PE that exits with status 0 between Joined and Left has abandoned the other PEs.
const (
	NotJoined Membership = iota // the process has not called Init yet, and perhaps never will
	Joined                      // between Init and Close
	Left                        // after Close: its exit hangs no other PE, whatever the status
)

// Join tells the launcher that this PE is a member of the job from now on: if it exits without Leave,
// whatever the exit status, the job has failed.
func (j *Job) Join() { j.State().Membership.Store(uint32(Joined)) }

// Leave tells the launcher that no PE waits for this one any more.
func (j *Job) Leave() {
	j.State().Membership.Store(uint32(Left))
	if j.Member != nil {
		j.Member.Leave()
	}
}

// State returns this PE's page of the segment.
func (j *Job) State() *State { return j.Segment.States[j.PE-j.Host().First] }

// ArbiterAnswered reports whether the arbiter has answered a question that was asked after since, a time of Clock, or
// need not be waited for: other jobs have a launcher that answers. If not, it has a question asked. The arbiter names
// the PE that has failed first, if it knows one, before it answers.
func (j *Job) ArbiterAnswered(since int64) bool { return j.Member == nil || j.Member.Answered(since) }

// MaxPEs bounds the PEs of a job: far beyond what one launcher can start, far below what overflows.
const MaxPEs = 1 << 20

// Exchange is the wire-up service of a job: a key/value table with one collective. Values are small
// (worker addresses); keys are chosen by the caller and written once.
type Exchange interface {
	// Put publishes value under key. Other PEs may read it after a Fence. It returns an error if the exchange
	// is lost, the key has another value already, or ctx ends.
	Put(ctx context.Context, key string, value []byte) error
	// Fence blocks until every PE of the job has called it; every Put before it is then readable. It returns an
	// error if the exchange is lost or ctx ends.
	Fence(ctx context.Context) error
	// Get blocks until a value is published under key, and returns it. It returns an error if the exchange is
	// lost or ctx ends.
	Get(ctx context.Context, key string) ([]byte, error)
	// Close leaves the exchange. The job goes on without it. The error is always nil.
	Close() error
}
