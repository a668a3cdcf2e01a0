// Package model has a Promela model of each lock, and lets spin check them (pgas/pgastest/spin).
//
//ci:norace computes
package model
