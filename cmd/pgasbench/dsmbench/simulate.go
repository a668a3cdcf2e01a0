package dsmbench

// Points in the simulator: several at once, printed in their order.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/gopgas/gopgas/cmd/pgasbench/machines"
	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// mostEvents ends a point that would take longer than a user waits.
const mostEvents = 2_000_000_000

// warmups is the number of steps that come before the measured ones.
const warmups = 2

// simulate runs one point.
func simulate(ctx context.Context, c point, all *progress) (outcome, error) {
	now := all.begin(c)
	defer now.end()
	costs, err := machines.Costs(c.Costs, c.Vary)
	if err != nil {
		return outcome{}, err
	}
	p, _ := sweep.Find(programs, c.Bench)
	cfg := sim.Config{
		Seed: c.Seed, Topology: fmt.Sprintf("socket:1,host:%d", c.Threads), Costs: costs, MaxEvents: mostEvents,
		HeapMax: p.heap(c),
	}
	tallies := make([]tally, c.pes())
	if _, err := sim.Run(ctx, cfg, c.pes(), func(ctx context.Context, w *pgas.World) error {
		t, err := run(ctx, w, p, c, now)
		tallies[w.PE()] = t
		return err
	}); err != nil {
		return outcome{}, fmt.Errorf("%s: %w", c.name(), err)
	}
	return sum(p, c, tallies), nil
}

// heap returns what a PE of a point may allocate: blocks and masters, words of blocks, bitmaps of PEs, notices.
func (p *program) heap(c point) uint64 {
	bytes := p.bytes(c.pes())
	blocks := bytes / uint64(p.block/p.grain)
	bitmaps := 2 * 8 * blocks * uint64(c.pes()/64+1)
	return 2*bytes + 64*blocks + bitmaps + uint64((64+c.pes())*16*(c.Notices+1)) + 16<<20
}

// run is one PE of a point.
func run(ctx context.Context, w *pgas.World, p *program, c point, now *running) (t tally, err error) {
	k, err := newWorker(ctx, w, p, c)
	if err != nil {
		return t, err
	}
	if err := k.p.prepare(k); err != nil {
		return t, err
	}
	if k.p.steps > 1 {
		if err := k.step(warmups, now); err != nil {
			return t, err
		}
	}
	before, began := k.region.Stats(), w.Now()
	if err := k.step(c.Steps, now); err != nil {
		return t, err
	}
	t = tally{w.Now() - began, since(before, k.region.Stats())}
	return t, k.check()
}

// step makes n steps of the program.
func (k *worker) step(n int, now *running) error {
	for range n {
		if err := k.p.step(k); err != nil {
			return err
		}
		if k.w.PE() == 0 {
			now.stepped()
		}
	}
	return nil
}

// check verifies that this PE sees what each PE has written last, where every PE has written its own part.
func (k *worker) check() error {
	if err := k.barrier(); err != nil {
		return err
	}
	k.changeOwn(0)
	want := k.mark
	if err := k.barrier(); err != nil {
		return err
	}
	for i, v := range k.arrays[0].View(0, k.arrays[0].Len()) {
		if v != want && int64(i) < k.p.arrays[0]/k.p.grain {
			return fmt.Errorf("%s: byte %d of array 0 is %d instead of %d on PE %d: the memory is not coherent", k.p.name, i, v, want, k.w.PE())
		}
	}
	return k.region.Barrier(k.ctx)
}

// Simulate runs the points of o in the simulator, as many at a time as o says, and prints them in their order; while it
// runs, it tells stderr how far they are. It returns the first error, and the cause of ctx's end.
func Simulate(ctx context.Context, o *Options, stdout io.Writer) error {
	out := newOutput(o, stdout)
	all := &progress{total: len(o.points)}
	watched, stop := context.WithCancel(ctx)
	defer stop()
	go all.watch(watched, os.Stderr)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.Jobs + 1) // one prints
	done := make([]chan outcome, len(o.points))
	for i := range done {
		done[i] = make(chan outcome, 1)
	}
	group.Go(func() error { return out.inOrder(ctx, done) })
	for i, c := range o.points {
		group.Go(func() error {
			r, err := simulate(ctx, c, all)
			if err == nil {
				done[i] <- r
			}
			return err
		})
	}
	return errors.Join(group.Wait(), out.close())
}
