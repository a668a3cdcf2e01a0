// Package sim runs the PEs of a job in virtual time, as coroutines of one goroutine: any program written
// against pgas, unchanged, with thousands of PEs, the same from run to run.
//
// Run with the zero Config measures: operations cost what the LogGP parameters of a machine say, and the
// NIC of a host handles one message at a time. Config.Adversary finds bugs instead: every step may take
// from 1 ns to 2^15 ns, and operations that no fence orders take effect out of order. Explore tries every order
// of the operations that PEs can see, for two or three PEs.
//
// The simulator does not see what a PE does to its own memory through Local, nor variables that PEs share; neither
// takes time. Everything else goes through the simulator: a PE is alone on its (real) host,
// and World.Host, HostOf and Topology describe the simulated machine. A body starts goroutines by World.Go only, and
// may wait only through its World.
//
//	sim.go              Config, Run: one run and its PEs
//	channel.go          the transport of a World
//	op.go               operations under way, and what they do to memory
//	heap_unsafe.go      places in the heap of a simulated PE
//	notify.go           notified operations
//	flow.go             the order of operations with an adversary
//	machine.go          the hosts, their NICs and cache lines, and how long operations take
//	costs.go            the machines of the papers
//	weigh.go            bytes that stand for more bytes
//	traffic.go          what hosts have sent to each other
//	fault.go            delays and deaths of PEs
//	failure.go          what a failed run reports
//	timeline.go         what its PEs waited for, in the file of pgasrun -trace
//	trace.go            its last steps
//	explore.go          Explore: runs in every order
//	search.go           which orders need be tried
//	move.go             what one choice of an exploration reads and writes, so which choices depend on each other
//	set.go              sets of small numbers, for the search
//	prefetch_unsafe.go  operations as events of the engine, and what is prefetched for them
//
// Package internal/engine has the coroutines, their waits and the queue of events: virtual time, without memory and
// messages. Package internal/prefetch has the instructions of CPUs.
//
//ci:norace computes
package sim
