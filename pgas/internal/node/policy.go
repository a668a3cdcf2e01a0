package node

// How long a PE polls, yields and sleeps when it waits. It depends on how many PEs share the CPUs of its host.
//
// Where PEs outnumber CPUs, what a lock costs is how many context switches there are for each turn. If all PEs stand in
// the queue, each turn belongs to a PE that has no CPU, behind others that have one only to see that it is not their
// turn: a turn takes several switches, and every PE that comes again behind the others keeps it so. If the queue is
// short, the holder and the next PE run, the others are ready to run and in no queue, and many turns pass for each
// switch. Both states last. So a PE that has handed its turn on leaves the CPU to others until the queue is short. It
// stands in no queue meanwhile, so the order of those that do is kept.

import (
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// waitPolicy is how long a PE polls and yields before it sleeps. It depends on how many PEs share the CPUs of the host.
type waitPolicy struct {
	spins          int   // polls before anything else, some 2 ns each
	yields         int   // how often the waiter yields its CPU after spins
	polls          int   // polls between two yields
	pollsBeside    int   // polls in place of a yield that would cost a time slice; 0: the waiter sleeps
	pollsIfNext    int   // further polls of a PE that is next in a queue
	Oversubscribed bool  // there is not a CPU for each PE
	runnable       int32 // PEs in queues of which, with the holder, all can run at once
	// further yields of a PE that has handed its turn on, while more than these stand in queues
	queueYields int
	progressFor time.Duration // how long the waiter progresses a transport that needs it
	goroutine   bool          // PEs are goroutines: let the Go scheduler run another
}

func waitPolicyOf(job *boot.Job, goroutines bool) waitPolicy {
	local, cores := int(job.Segment.Header.Local), int(job.Segment.Header.Cores)
	switch spin := job.Settings.Spin; {
	case spin == boot.NeverSpin:
		return waitPolicy{progressFor: progressSlice, goroutine: goroutines}
	case spin > 0:
		return waitPolicy{spins: int(spin / (2 * time.Nanosecond)), yields: 20, progressFor: spin, goroutine: goroutines}
	case goroutines:
		return waitPolicy{spins: 20, yields: 200, progressFor: time.Millisecond, goroutine: true}
	case local > cores:
		// A switch of a CPU to another PE takes more than a microsecond. A PE that is next in a queue may poll for as
		// long. A waiter that progresses the transport hands its CPU on at every poll. It goes on for longer than a
		// message between hosts takes when each PE on its way must first get a CPU: once it sleeps, a message costs the
		// service thread a wake-up, and that thread the waiter another. After as many yields as a CPU has PEs, each of
		// them has had its turn or has come to wait for it.
		some := max(cores, 1) // hosts that are one machine may have none for themselves
		return waitPolicy{
			Oversubscribed: true, spins: 1, yields: 64 * local, pollsIfNext: 1000, progressFor: 4 * time.Millisecond,
			runnable: int32(some - 1), queueYields: (local + some - 1) / some,
		}
	}
	// Even with a CPU for each PE the kernel may have put two PEs on one CPU: yield to the other PE.
	return waitPolicy{spins: 1500, yields: 100, polls: 100, pollsBeside: 500, progressFor: 2 * time.Millisecond}
}

// yieldsAgain reports whether a PE that has handed its turn on, and has yielded its CPU i times more than once, is to
// yield it again. inQueues is the number of PEs of this host that wait in queues.
func (p *waitPolicy) yieldsAgain(i int, inQueues int32) bool {
	return i < p.queueYields && inQueues > p.runnable
}

const (
	MinSleep      = 500 * time.Microsecond // first sleep between polls, doubled up to MaxSleep
	MaxSleep      = 50 * time.Millisecond
	yieldNap      = 20 * time.Microsecond  // sleep in place of a yield
	shortSleep    = 2 * time.Millisecond   // so long a sleep need not end when the wait's context does
	progressSlice = 200 * time.Microsecond // bound of one call that progresses the transport
	// the same for a wait for many words that a NIC may update: it rings no doorbell
	nicPollSlice = 5 * time.Microsecond
)
