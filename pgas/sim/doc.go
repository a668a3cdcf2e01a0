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
//	config.go    Config, and what it is made of
//	sim.go       Run: one run and its PEs
//	explore.go   Explore: runs in every order
//	costs.go     the machines of the papers
//	levels.go    what a machine costs on a topology
//	weigh.go     bytes that stand for more bytes
//	traffic.go   what hosts have sent to each other
//	failure.go   what a failed run reports
//	timeline.go  what its PEs waited for, in the file of pgasrun -trace
//
// Three packages do the work, and each knows only those before it. internal/engine: tasks, waits and events in virtual
// time. internal/network: the transport of a World, whose operations are events, and what they cost. internal/explorer:
// the choices of an exploration. Package internal/prefetch has the instructions of CPUs that prefetch memory.
//
//ci:norace computes
package sim
