// Package model has Promela models of the protocols of package containers, and lets spin check them
// (pgas/pgastest/spin).
//
//ci:norace computes
package model
