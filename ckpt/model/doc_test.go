// Package model has Promela models of how a job keeps cuts and journals in the memory of hosts, and lets spin check
// them (pgas/pgastest/spin).
//
//ci:norace computes
package model
