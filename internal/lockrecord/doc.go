// Package lockrecord records the locks of package locks: how often a PE has taken locks and from which PE, for its
// Stats, and how long it waited for one and held it, for the trace of the job (pgasrun -trace).
//
// A World that checks (PGAS_CHECK=1) also notes which locks its PE holds: to free one, or to leave the job with one,
// is misuse. pgas.Lock, the lock of the specification, traces itself. Its holder is known in every World, but not the
// place in the program where the lock was taken.
//
// # Where to read
//
//	use.go    the counters
//	trace.go  one lock in the trace and in the checks
package lockrecord
