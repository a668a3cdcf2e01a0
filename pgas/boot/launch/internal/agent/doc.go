// Package agent is the part of pgasrun that runs on each host of a job, the launcher's own included. An agent
// makes the host's segment, starts the PEs, relays their output and reports how they end. It is a
// process of its own even on the launcher's host, because it adopts every orphan of its PEs (it is
// their subreaper), which a library inside a test must not do to its process.
//
// No process is left behind, because each has another one that ends it:
//
//	launcher gone       the agent's standard input ends; it kills all of its descendants
//	agent killed        the kernel kills the PEs (their parent-death signal); the launcher starts
//	                    another agent on the host, which kills what the PEs had started
//	PE killed           its orphans become the agent's children and are killed when the PEs have ended
//	both of the former  the guard above the agent adopts the orphans and kills them (guard.go)
//	guard killed        the kernel kills the agent (its parent-death signal), and so on as above
//
//	agent.go     the life of an agent: it starts the PEs, follows them, and reports how each one ended
//	guard.go     the process above an agent, which ends what is left if launcher and agent are killed at once
//	prepare.go   what an agent does before its PEs run: checks, the segment, starting
//	process.go   the process of a PE, and its output
//	gate.go      processes that outlive their term
//	machine.go   what an agent asks of the machine that it runs on
//	exchange.go  the tree of servers by which PEs find each other's addresses
//	bind.go      the CPUs of each PE
//	relay.go     an agent that starts the agents of further hosts and passes on what they write
//	table.go     the PEs of the host, and what each of them is blocked in
//	watch.go     what PEs write into the segment for their agent
//	live.go      what PEs are doing while they run
//	stall.go     whether every PE of the host is stalled
//	stats.go     how long PEs are blocked, in what and on which PE
//	trace.go     what PEs have recorded
//	staged.go    staged files on the host that has got them
//	sweep.go     processes that PEs have started and left
package agent
