// Package spawn starts the command of an agent, on this host or by a template on another one, and copies files to a
// host that has nothing but a shell.
//
//	shell.go     the command line of an agent
//	link.go      the running command of an agent, until the agent greets
//	stage.go     copying the agent and the program to a host that has neither
//	program.go   a program on this host: whether it can be run, and its hash
package spawn
