// Package launch starts a job of PEs on one host or several, and ends it: pgasrun as a library.
//
// The launcher starts one agent on each host (agent.go) and talks to it over its standard input and
// output (frame.go). Run is the launcher: it waits until every agent is ready, has them start their
// PEs, and then handles one event at a time, until every host is done.
//
//	launch.go      Spec, Run: what to run where
//	job.go         the event loop of the launcher: the state of a job, and what each event makes of it
//	host.go        one host as the launcher sees it: the command that runs its agent, and what comes from it
//	link.go        the running command of an agent, until the agent greets
//	tree.go        which agents the launcher starts itself, and which a relay starts
//	relay.go       an agent that starts the agents of further hosts and passes on what they write
//	stage.go       copying the agent and the program to a host that has neither
//	staging.go     which files hosts get, and how far their copies are
//	program.go     a program on this host: whether it can be run, and its hash
//	explain.go     what ssh and remote shells say when that command fails, and the remedies
//	shell.go       the command line of an agent
//	greeting.go    which version an agent is
//	frame.go       frames, in which launcher and agent tell each other everything
//	messages.go    what an agent, and a relay, is told, and its answers
//	death.go       how a PE ended, and what follows from that alone
//	table.go       a row of the table of blocked PEs, and what a report says of it
//	pestate.go     states, statistics and traces of PEs
//	identity.go    which machine this is, and which clock it has
//	agent.go       the agent of one host: its segment, its PEs, and how all of them end
//	agent_table.go the PEs of a host, and what each of them is blocked in
//	agent_watch.go what PEs write into the segment for their agent
//	agent_live.go  what PEs are doing while they run
//	agent_stall.go whether every PE of a host is stalled
//	agent_stats.go how long PEs are blocked, in what and on which PE
//	agent_trace.go what PEs have recorded
//	agent_stage.go staged files on the host that has got them
//	guard.go       the process above an agent, which ends what is left if launcher and agent are killed at once
//	prepare.go     what an agent does before its PEs run: checks, the segment, starting
//	machine.go     what an agent asks of the machine that it runs on
//	exchange.go    the tree of servers by which PEs find each other's addresses
//	bind.go        the CPUs of each PE
//	cores.go       the CPUs of each host, where hosts are one machine
//	lines.go       the output of many PEs, without torn lines
//	bar.go         the progress of a job, below its output on a terminal
//	trace.go       what PEs have recorded, from their agents to the launcher
//	live.go        a job while it runs, for whoever looks at it
//	clocks.go      the clocks of hosts, for traces
//	crash.go       the report of a PE that crashes, in one piece
//	cause.go       which PE has failed first
//	accuse.go      PEs that do not answer, and which accusation is believed
//	lost.go        hosts whose agent is gone while its command goes on
//	globalexit.go  PEs that end the job
//	report.go      what the launcher prints of a job that failed, or that hangs
//	cycle.go       PEs that wait for each other in locks, for that report
//	stall.go       a job in which nothing moves any more, which the user is told of without asking
//	static.go      the PEs of one host of a job that has no launcher
//	sweep.go       processes that PEs have started and left
package launch
