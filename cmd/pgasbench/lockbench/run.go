package lockbench

// How points are measured: on the PEs of a job, one after another, or in the simulator, several at once.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/machines"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// Run measures the points of o with the PEs of this job. PE 0 prints. It returns the error of a lock, of an
// access, or that a lock did not exclude.
func Run(ctx context.Context, w *pgas.World, o *Options, stdout, stderr io.Writer) error {
	points := o.pointsFor(w.NPEs())
	out := newOutput(o, w.PE() == 0, stdout, points)
	news := &progress{w: stderr, on: w.PE() == 0, points: len(points), last: time.Now()}
	tallies, err := AllocTally(ctx, w, 1)
	if err != nil {
		return err
	}
	for _, c := range points {
		b, _ := sweep.Find(benches, c.Bench)
		t, err := b.body(ctx, w, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(), err)
		}
		all, err := gather(ctx, w, tallies.At(0), t)
		if err != nil {
			return err
		}
		if w.PE() != 0 {
			continue
		}
		if err := out.measured(c, all); err != nil {
			return err
		}
		news.done(c)
	}
	return out.close()
}

// gather returns the tallies of all PEs on PE 0. It is collective.
func gather(ctx context.Context, w *pgas.World, mine TallyRef, t Tally) (all []Tally, err error) {
	*mine.Ref().Local() = t
	if err := w.Barrier(ctx); err != nil {
		return nil, err
	}
	if w.PE() == 0 {
		all = make([]Tally, w.NPEs())
		for pe := range all {
			mine.Ref().GetNB(pe, &all[pe])
		}
	}
	// No PE writes the next one before PE 0 has these.
	return all, w.Barrier(ctx)
}

// atomics are the ways in which CPUs and NICs share words.
var atomics = map[string]sim.Atomics{"unified": sim.Unified, "split": sim.Split}

// mostEvents ends a point of the simulator that would take longer than a user waits.
const mostEvents = 2_000_000_000

// simulate measures one point.
func simulate(ctx context.Context, c config) ([]Tally, error) {
	b, _ := sweep.Find(benches, c.Bench)
	c.critical = &criticalSection{}
	return simulateBody(ctx, c, b.body)
}

func simulateBody(ctx context.Context, c config, body func(context.Context, *pgas.World, config) (Tally, error)) ([]Tally, error) {
	all := make([]Tally, c.PEs)
	costs, err := machines.Costs(c.Costs, c.Vary)
	if err != nil {
		return nil, err
	}
	cfg := sim.Config{Seed: c.Seed, Topology: c.Topology, Costs: costs, Atomics: atomics[c.Atomics], MaxEvents: mostEvents}
	_, err = sim.Run(ctx, cfg, c.PEs, func(ctx context.Context, w *pgas.World) error {
		t, err := body(ctx, w, c)
		all[w.PE()] = t
		return err
	})
	return all, err
}

// Simulate measures the points of o in the simulator, o.Jobs at a time, and prints them in their order.
func Simulate(ctx context.Context, o *Options, stdout, stderr io.Writer) error {
	points := o.points
	out := newOutput(o, true, stdout, points)
	news := &progress{w: stderr, on: true, points: len(points), last: time.Now()}
	ctx, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()

	type outcome struct {
		tallies []Tally
		err     error
	}
	outcomes := make([]chan outcome, len(points))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	room := make(chan struct{}, o.Jobs)
	workers.Go(func() {
		for i, c := range points {
			room <- struct{}{}
			if ctx.Err() != nil {
				return
			}
			workers.Go(func() {
				defer func() { <-room }()
				tallies, err := simulate(ctx, c)
				outcomes[i] <- outcome{tallies, err}
			})
		}
	})
	for i, c := range points {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case got := <-outcomes[i]:
			if got.err != nil {
				return errors.Join(fmt.Errorf("%s: %w", c.name(), got.err), out.close())
			}
			if err := out.measured(c, got.tallies); err != nil {
				return err
			}
			news.done(c)
		}
	}
	return out.close()
}

// quietFor is how long a run says nothing about where it is.
const quietFor = 5 * time.Second

// progress says on stderr where a long run is.
type progress struct {
	w      io.Writer
	on     bool
	points int
	past   int
	last   time.Time
}

func (p *progress) done(c config) {
	p.past++
	if p.on && p.past < p.points && time.Since(p.last) >= quietFor {
		p.last = time.Now()
		fmt.Fprintf(p.w, "pgasbench: %d of %d points, the last %s\n", p.past, p.points, c.name())
	}
}
