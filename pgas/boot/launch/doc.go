// Package launch starts a job of PEs on one host or several, and ends it: pgasrun as a library.
//
// The launcher starts one agent on each host (internal/agent) and talks to it over the agent's standard input and
// output (internal/frame). Run is the launcher: it waits until every agent is ready, has them start their
// PEs, and then handles one event at a time, until every host is done.
//
//	launch.go      Run and Plan, and the agent's main function
//	spec.go        Spec: what to run where
//	job.go         the event loop of the launcher: the state of a job, and how it starts
//	ends.go        how it ends, or goes on in another term
//	spares.go      hosts that are lost or fail again and again, and the spares that take their places
//	events.go      the events, and what the loop does about each of them
//	host.go        one host as the launcher sees it
//	read.go        what comes from the command that runs a host's agent
//	tree.go        which agents the launcher starts itself, and which a relay starts
//	staging.go     which files hosts get, and how far their copies are
//	explain.go     what ssh and remote shells say when that command fails, and the remedies
//	cores.go       the CPUs of each host, where hosts are one machine
//	trace.go       what PEs have recorded, for Spec.Trace
//	live.go        a job while it runs, for Spec.Live
//	clocks.go      the clocks of hosts, for traces
//	cause.go       which PE has failed first
//	accuse.go      PEs that do not answer, and which accusation is believed
//	lost.go        hosts whose agent is gone while its command goes on
//	report.go      what the launcher prints of a job that failed, or that hangs
//	cycle.go       PEs that wait for each other in locks, for that report
//	stall.go       a job in which nothing moves any more: the user is told without asking
//	static.go      the PEs of one host of a job that has no launcher
//
// Four rooms below it hold the rest, and none of them knows the launcher:
//
//	internal/frame   what launcher and agents tell each other
//	internal/spawn   the command that starts an agent, and copying files to a host that lacks them
//	internal/output  the output of many PEs as one text
//	internal/agent   the agent of one host, and the relay
package launch
