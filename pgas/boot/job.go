// Package boot is the contract between the launcher and pgas.Init: which PE this process is, which
// hosts the job has, the memory that the PEs of one host share, and a small put/fence/get exchange
// through which PEs of different hosts find each other.
//
// Everything a PE knows before it has spoken to anybody is in a Job. pgasrun describes it in the
// environment (env.go); a test builds it by hand. Nothing here knows about UCX, and nothing here is
// used once the job is wired up, so another launcher (PMIx, PMI, Slurm) is another way to make a Job
// and another Exchange, and no more.
package boot

import (
	"context"
	"fmt"
	"sort"
)

// Host is one host of a job: PEs First … First+PEs-1 run there.
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
	HostIndex int      // index in Hosts of the host this PE runs on
	Segment   *Segment // the memory shared by the PEs of this host
	Exchange  Exchange // nil when no PE needs one: see Settings.Networked
	Secret    []byte   // known only to processes of this job; nil without Exchange
	Launched  bool     // false for a binary started by hand: a job of one
	Settings  Settings // what the user tuned; the zero value is a fine default
}

// Host returns the host this PE runs on.
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
	// Put publishes value under key. It may be read by others once every PE has passed Fence.
	Put(ctx context.Context, key string, value []byte) error
	// Fence returns when every PE of the job has called it; every Put before it is then readable.
	Fence(ctx context.Context) error
	// Get returns the value under key, waiting for it to be published.
	Get(ctx context.Context, key string) ([]byte, error)
	// Close leaves the exchange. The job goes on without it.
	Close() error
}
