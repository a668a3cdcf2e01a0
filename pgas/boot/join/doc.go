// Package join is how a process becomes a PE: it finds out which launcher has started it, meets the other processes of
// its job, and makes a boot.Job.
//
//	rendezvous.go         FromEnv: the ways to a job, and which of them the environment offers
//	environment.go        what the ways share
//	launched.go           the way of pgasrun: an agent has handed everything down
//	terms.go              how a process of that way outlives its term
//	rendezvous_static.go  the way of variables that the user sets
//	rendezvous_pmix.go    the way of PMIx
//	rendezvous_pmi2.go    the way of PMI-2
//	rendezvous_slurm.go   the way of srun's variables alone
//	slurm_lists.go        lists of nodes and numbers in Slurm's variables
//	munge.go              how tasks of srun get their ticket by munge
//	hosts.go              lists of hosts as people and schedulers write them
//
// Processes without an agent assemble, and then watch each other:
//
//	assemble.go           how a process assembles with the others, and the plan of the job
//	assembly.go           the same as the server of the exchange sees it
//	handover.go           how the first PE of a host hands the segment to the others
//	member.go             how PEs learn of each other's end
//	arbiter.go            how PEs learn of a process that is silent
//	orphan.go             what a PE does whose launcher's daemon has ended
//
// The exchange, by which PEs of different hosts find each other, with an agent or without:
//
//	exchange_client.go    the connection of a PE
//	exchange_server.go    the server of a host, or of a job without agents
//	exchange_relay.go     a server that has a parent in the tree of servers
//	exchange_wire.go      messages, and the proof that both ends hold the secret
//	listen.go             where a server listens
//	network.go            the network below: sockets, or a simulation
//	path.go               the addresses by which a host reaches another
package join
