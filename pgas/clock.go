package pgas

// Time, randomness and scheduling, for protocols and for programs that are to run in the simulator too:
// there the clock is virtual, the numbers follow from a seed, and a PE runs until it waits. So a protocol
// imports neither time nor math/rand, starts no goroutine, and asks its World.

import (
	"context"
	"time"
)

// Now is the time since this PE joined the job, or in the simulator since the job began. It never goes
// back. Clocks of different PEs agree in the simulator only.
func (w *World) Now() time.Duration {
	w.mustBeOpen("World.Now")
	return w.n.Now()
}

// Random is a random number: in the simulator the next of this PE's own sequence, which follows from the
// seed.
func (w *World) Random() uint64 {
	w.mustBeOpen("World.Random")
	return w.n.Random()
}

// Yield lets other PEs run, and lets arrive what those of other hosts have sent. Whoever looks at something
// again and again instead of waiting for it calls it between looks.
func (w *World) Yield() {
	w.mustBeOpen("World.Yield")
	w.n.YieldAndProgress()
}

// YieldTo is for a PE that has just given PE pe what that waits for. Where PEs share CPUs it lets others run:
// pe has what everybody waits for, and may need this CPU to go on. Elsewhere it does nothing.
func (w *World) YieldTo(pe int) {
	w.mustBeOpen("World.YieldTo")
	w.n.YieldTo(pe)
}

// Sleep blocks for d. It returns sooner when ctx ends, with its cause, and when a PE of the job dies, with a
// *PeerError: who looks for something now and then, and sleeps between looks, learns that it will not come.
func (w *World) Sleep(ctx context.Context, d time.Duration) error {
	w.mustBeOpen("World.Sleep")
	mustHaveContext("World.Sleep", ctx)
	return w.n.Sleep(ctx, d)
}

// WithTimeout is context.WithTimeout by the clock of Now: in the simulator, a deadline of another clock
// ends a wait only when nothing else can.
func (w *World) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	w.mustBeOpen("World.WithTimeout")
	mustHaveContext("World.WithTimeout", ctx)
	return w.n.WithTimeout(ctx, d)
}
