package main

// What a step is, and how it has ended.

import (
	"context"
	"time"
)

// step is one line of the report.
type step struct {
	name   string
	what   string
	run    func(ctx context.Context) error
	beside beside // those that come after it
}

// beside says whether a step runs beside those that come after it.
type beside int

const (
	alone     beside = iota
	computing        // in the second lane, with the CPU time that is left
	waiting          // in the third lane
)

// A result is how a step has ended.
type result struct {
	step
	printed []byte // by a step beside others
	took    time.Duration
	cpu     time.Duration // of the step's programs
	err     error
}
