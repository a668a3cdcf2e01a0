// Package frame is what a launcher and its agents tell each other: frames over the agent's standard input and output.
// So the launcher needs no network besides a command that starts the agent on its host (ssh, ip netns exec, docker
// exec), and either side sees at once that the other is gone.
//
//	frame.go      the kinds of frames, and how one is written and read
//	greeting.go   the line before the first frame: which version an agent is
//	messages.go   what an agent, and a relay, is told, and its answers
//	death.go      how a PE ended, and what follows from that alone
//	table.go      a row of the table of blocked PEs, and what a report says of it
//	pestate.go    states, statistics and traces of PEs
//	identity.go   which machine this is, and which clock it has
package frame
