package transport

import (
	"context"
	"errors"
	"time"
)

// Scheduler is implemented by transports whose PEs do not run by themselves: by the simulator, in which
// one PE runs at a time, until it waits, and time is virtual. A simulated PE waits, reads the clock, draws
// random numbers and starts a second thread of control through its Scheduler, and in no other way.
type Scheduler interface {
	Spawner
	// Await blocks until ready holds and returns nil, or until ctx ends and returns its cause. ready reads
	// only this PE: the bytes from lo to hi of its heap, or anything if hi is 0. When no PE can go on any
	// more, Await of each PE returns ErrStalled once: the PE may then search for the reason, and wait again.
	Await(ctx context.Context, lo, hi uint64, ready func() bool) error
	// Sleep blocks for d, or until this PE learns of the death of another, and returns nil; or until ctx ends,
	// and returns its cause.
	Sleep(ctx context.Context, d time.Duration) error
	// Yield runs all events that are due now. A polling PE calls it.
	Yield()
	// AboutToRead announces that the PE is about to read or change words of its own heap without a channel
	// and without Await. The announcement holds until the PE next waits.
	AboutToRead()
	// AboutToReadNotes announces the same for the PE's queue of notes.
	AboutToReadNotes()
	// Now returns the time since the job began.
	Now() time.Duration
	// Random returns the next number of this PE's own sequence.
	Random() uint64
	// WithTimeout derives a context as context.WithTimeout does, by the clock of Now.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// Spawner is implemented by transports that choose when a second thread of control of a PE begins.
type Spawner interface {
	// Go starts f as another thread of control of this PE.
	Go(f func())
}

// ErrStalled reports that no PE of the job can go on.
var ErrStalled = errors.New("no PE can go on")
