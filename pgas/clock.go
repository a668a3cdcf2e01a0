package pgas

// Time, randomness and scheduling, for protocols and programs that must also run in the simulator. There the
// clock is virtual, random numbers follow from a seed, and a PE runs until it waits. So a protocol uses the clock and
// the random numbers of its World, not those of packages time and math/rand, and starts no goroutine but by World.Go.

import (
	"context"
	"time"
)

// Now returns the time since this PE joined the job, or in the simulator the time since the job began. It is monotonic.
// The clocks of different PEs agree in the simulator only.
func (w *World) Now() time.Duration {
	w.mustBeOpen("World.Now")
	return w.n.Now()
}

// Random returns a random number. In the simulator it is the next number of this PE's own sequence, which follows from
// the seed.
func (w *World) Random() uint64 {
	w.mustBeOpen("World.Random")
	return w.n.Random()
}

// Yield lets other PEs run, and applies what PEs of other hosts have sent. A PE that polls instead of waiting calls it
// between polls.
func (w *World) Yield() {
	w.mustBeOpen("World.Yield")
	w.n.YieldAndProgress()
}

// Sleep blocks for d. It returns the cause of ctx if ctx ends first, *PeerError if a PE of the job dies, and an error
// if the World is closed. So a PE that polls, and sleeps between polls, learns of the death of the PE it waits for.
func (w *World) Sleep(ctx context.Context, d time.Duration) error {
	w.mustBeOpen("World.Sleep")
	mustHaveContext("World.Sleep", ctx)
	return w.n.Sleep(ctx, d)
}

// WithTimeout derives a context that ends after d, as context.WithTimeout does, by the clock of Now. In the simulator,
// a deadline of another clock ends a wait only when no PE can go on.
func (w *World) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	w.mustBeOpen("World.WithTimeout")
	mustHaveContext("World.WithTimeout", ctx)
	return w.n.WithTimeout(ctx, d)
}
