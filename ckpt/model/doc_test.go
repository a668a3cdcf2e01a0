// Package model has a Promela model of how a job keeps its cuts in the memory of hosts, and lets spin check it
// (pgas/pgastest/spin).
//
//ci:norace computes
package model
