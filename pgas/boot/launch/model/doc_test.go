// Package model has a Promela model of the terms of a job, and lets spin check it (pgas/pgastest/spin).
//
//ci:norace computes
package model
