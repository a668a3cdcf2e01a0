// Package network is the machine of a simulated job: memory of PEs, their hosts with a NIC each, and the operations
// that are under way between them. It is the transport of Worlds, and the Model of an engine.
//
// An operation is an event. Without an Observer its phases take the time that Costs say, or random times with an
// adversary. With an Observer, which an exploration is, they take none.
//
//	state.go        Network, PE, Op and the other types of a machine, which name each other
//	network.go      one machine and its PEs
//	transport.go    what a World gets: channels, with an adversary such that read sources late
//	channel.go      the operations of a channel
//	notify.go       notified operations
//	notequeue.go    the queue of the notes of a PE
//	issue.go        how an operation begins
//	op.go           the steps of an operation
//	op_unsafe.go    operations as events of the engine, and what is prefetched for them
//	memory.go       the pool of operations, and what they do to memory
//	flow.go         the order of operations with an adversary
//	late.go         what an adversary holds back
//	machine.go      hosts, their NICs and cache lines, and how long operations take
//	fault.go        delays and deaths of PEs
//	footprint.go    what an exploration asks of operations
//	kinds.go        kinds and phases of operations, and what calls and tasks of the engine are for
//	costs.go        what the parts of a machine cost, by the levels of its topology
//	weigh.go        bytes that stand for more bytes
//	trace.go        the last steps
//	heap_unsafe.go  places in a heap
//
//ci:norace computes
package network
