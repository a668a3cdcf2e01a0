// Package parallel runs a function in several goroutines that meet at barriers and add numbers: what a parallel region
// of OpenMP gives its threads. The goroutine versions of the NAS Parallel Benchmarks are written with it. Its Member
// has the methods of dsm.Member, so what differs between a goroutine version and a version over coherent memory is the
// memory.
package parallel

import (
	"context"
	"sync"
)

// A Member is one goroutine of a Run.
type Member struct {
	t  *team
	id int
}

// team is what the goroutines of a Run share.
type team struct {
	n     int
	parts [][]float64 // by member: what Sum adds
	sums  []float64

	mu      sync.Mutex
	arrived int
	over    chan struct{} // closed when all have arrived
}

// Run runs body in n goroutines and waits for all of them. The first error of a body ends the contexts of the others,
// and is returned.
func Run(ctx context.Context, n int, body func(ctx context.Context, m Member) error) error {
	t := &team{n: n, parts: make([][]float64, n), over: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for id := range n {
		wg.Go(func() {
			if err := body(ctx, Member{t, id}); err != nil {
				once.Do(func() {
					first = err
					cancel(err)
				})
			}
		})
	}
	wg.Wait()
	return first
}

// ID returns the number of this goroutine, from 0 on.
func (m Member) ID() int { return m.id }

// N returns the number of goroutines.
func (m Member) N() int { return m.t.n }

// Share returns this goroutine's part of n things: lo to hi-1. The parts of all differ by one at most.
func (m Member) Share(n int) (lo, hi int) { return m.id * n / m.t.n, (m.id + 1) * n / m.t.n }

// Barrier blocks until all goroutines have called it. It returns the cause of ctx's end if that is first.
func (m Member) Barrier(ctx context.Context) error { return m.t.meet(ctx, func() {}) }

// Sum returns the sums over all goroutines of each x, the same on all, added in the order of IDs. All give the same
// number of values. It returns the cause of ctx's end if that is before all have called it.
func (m Member) Sum(ctx context.Context, x ...float64) ([]float64, error) {
	m.t.parts[m.id] = x
	if err := m.t.meet(ctx, m.t.add); err != nil {
		return nil, err
	}
	// The next Sum replaces the slice, and does so only when this member has called it.
	return m.t.sums, nil
}

func (t *team) add() {
	t.sums = make([]float64, len(t.parts[0]))
	for _, part := range t.parts {
		for i, v := range part {
			t.sums[i] += v
		}
	}
}

// meet blocks until all members have called it. The last of them runs action first.
func (t *team) meet(ctx context.Context, action func()) error {
	t.mu.Lock()
	over := t.over
	if t.arrived++; t.arrived < t.n {
		t.mu.Unlock()
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	t.arrived, t.over = 0, make(chan struct{})
	t.mu.Unlock()
	action()
	close(over)
	return nil
}
