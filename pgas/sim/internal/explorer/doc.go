// Package explorer chooses what happens next in an exploration, which tries every order of a few operations. It is the
// Order of an engine and the Observer of a network.
//
//	explorer.go  the choices of one run, and the states that it reaches
//	search.go    which choices are tried
//	move.go      what a choice reads and writes, so which choices depend on each other
//	set.go       sets of small numbers, for the search
//
//ci:norace computes
package explorer
