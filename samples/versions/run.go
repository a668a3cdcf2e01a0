package versions

// Time on a PE: when a round begins, what computing costs, how long it took.

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// A Run is a PE on which a mode is measured.
type Run struct {
	*pgas.World
	// Simulated says that what the PE computes takes no time by itself.
	Simulated bool

	times pgas.Sym[int64]
}

// NewRun returns the Run of a PE. It is collective. Main calls it; it is exported for tests.
func NewRun(ctx context.Context, w *pgas.World) (*Run, error) {
	times, err := pgas.Alloc[int64](ctx, w, 1)
	return &Run{World: w, times: times}, err
}

// afterAll is the time from the arrival of the last PE until all go on together, in the simulator. Within it the last
// one learns when that is.
const afterAll = time.Millisecond

// Start waits for all PEs, and returns the time at which they go on. In the simulator, where their clocks
// agree, that is the same moment on all of them: no PE's round is shorter because a barrier has released it last.
// It is collective.
func (r *Run) Start(ctx context.Context) (time.Duration, error) {
	if !r.Simulated {
		err := r.Barrier(ctx)
		return r.Now(), err
	}
	start, err := r.Slowest(ctx, r.Now())
	if err != nil {
		return 0, err
	}
	err = r.Sleep(ctx, start+afterAll-r.Now())
	return r.Now(), err
}

// Charge lets the time of a computation pass in the simulator. Real PEs have spent it, so on them Charge does nothing.
func (r *Run) Charge(ctx context.Context, d time.Duration) error {
	if !r.Simulated || d <= 0 {
		return nil
	}
	return r.Sleep(ctx, d)
}

// Slowest returns the longest of the times that the PEs give. It is collective.
func (r *Run) Slowest(ctx context.Context, took time.Duration) (time.Duration, error) {
	r.times.Local()[0] = int64(took)
	err := pgas.MaxReduce(ctx, r.Team(), r.times.All(), r.times.All())
	return time.Duration(r.times.Local()[0]), err
}

// Rounds opens the version of m, does so many rounds of it, and closes it: what a test runs on every kind of
// PE. It is collective.
func (m Mode) Rounds(ctx context.Context, w *pgas.World, rounds int) error {
	r, err := NewRun(ctx, w)
	if err != nil {
		return err
	}
	v, err := m.Open(ctx, r)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	for range rounds {
		if _, err := v.Round(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	if err := v.Close(ctx); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return r.times.Free(ctx)
}
