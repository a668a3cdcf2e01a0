package transport

import (
	"context"
	"errors"
	"time"
)

// Scheduler is implemented by transports whose PEs do not run by themselves: by the simulator, in which
// one PE runs at a time, until it waits, and time is what the simulator says. There a PE waits, looks at
// the clock, draws random numbers and starts a second thread of control through it, and in no other way.
type Scheduler interface {
	// Await blocks until ready holds and returns nil, or until ctx ends and returns its cause. ready looks
	// only at this PE: at the bytes from lo to hi of its heap, or at anything if hi is 0. When no PE can go
	// on any more, each that waits gets ErrStalled once: it may then look around for the reason, and wait
	// again.
	Await(ctx context.Context, lo, hi uint64, ready func() bool) error
	// Sleep blocks for d, or until ctx ends and returns its cause, or until this PE learns that one has died.
	Sleep(ctx context.Context, d time.Duration) error
	// Yield lets everything happen that happens at once: what a PE calls that polls.
	Yield()
	// AboutToRead says that the PE is about to look at words of its own heap, or to change them, without a
	// channel and without Await. It holds until the PE next waits.
	AboutToRead()
	// AboutToReadNotes is AboutToRead of the PE's queue of notes.
	AboutToReadNotes()
	// Go starts f as another thread of control of this PE.
	Go(f func())
	// Now is the time since the job began.
	Now() time.Duration
	// Random is the next number of this PE's own sequence.
	Random() uint64
	// WithTimeout is context.WithTimeout by the clock of Now.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// ErrStalled says that no PE of the job can go on.
var ErrStalled = errors.New("no PE can go on")

// CPUChanneler is implemented by transports that tell atomics by the CPU from atomics by the NIC.
type CPUChanneler interface {
	// CPUChannel is Channel with atomics by the CPU: on PEs of the same host only.
	CPUChannel(private bool) (Channel, error)
}
