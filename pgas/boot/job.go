// Package boot is the contract between the launcher and pgas.Init: which PE this process is, which
// hosts the job has, the memory that the PEs of one host share, and a small put/fence/get exchange
// through which PEs of different hosts find each other.
//
// A Job holds everything that a PE knows before it has communicated. pgasrun describes it in the
// environment (handoff.go), other launchers offer other ways (rendezvous.go); a test builds it by hand. This package
// knows nothing of UCX, and only the segment is used after the PEs have found each other.
//
// Where to read: job.go has the contract; rendezvous.go the ways to a job, handoff.go that of pgasrun, and
// rendezvous_static.go, rendezvous_slurm.go with slurm_lists.go and munge.go, rendezvous_pmi2.go and rendezvous_pmix.go
// the others; assemble.go and assembly.go how processes become a job without an agent, handover.go how they share their
// host's memory then, member.go how they learn of each other's end, arbiter.go which of them may be silent, and orphan.go of their launcher's; env.go the settings, env_table.go
// their table; hosts.go lists of hosts as people write them; openfiles.go how many files a process may open; segment.go
// the memory that PEs share, reserved.go the map of each heap's start, doorbell.go how PEs wake each other,
// contention.go when they do not yield their CPUs; exchange_client.go, exchange_server.go, exchange_relay.go and
// exchange_wire.go the exchange; accuse.go, died.go, end.go and exit.go how a PE or the job ends; guard_unsafe.go the
// checks of PGAS_CHECK; profiles.go how profiles reach the launcher; progress.go how the launcher shows the progress of
// a job.
//
//ci:below nocgo=whole
package boot

import (
	"context"
	"fmt"
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
	ID        string // random, one per job; names nothing on disk
	PE        int
	NPEs      int
	Hosts     []Host
	HostIndex int      // index in Hosts of this PE's host
	Segment   *Segment // the memory shared by the PEs of this host
	Exchange  Exchange // nil when no PE needs one: see Settings.Networked
	Secret    []byte   // known only to processes of this job; nil without Exchange
	Launched  bool     // false for a binary started by hand: a job of one
	Settings  Settings // what the user tuned; the zero value is a fine default

	Profiles *ProfilePipe // to the launcher, if it collects profiles
	Record   *record.PE   // what this PE records of itself; nil: nothing

	member *member // nil in a job with agents, and in one that a test makes
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
