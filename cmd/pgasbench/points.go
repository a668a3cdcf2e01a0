package main

// A run: the points that the command line chooses, one after another.

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// run measures everything that o asks for. PE 0 prints.
func run(ctx context.Context, w *pgas.World, o *options, stdout, stderr io.Writer) error {
	if o.bench.String() == "idle" || o.bench.String() == "^idle$" {
		return runIdle(ctx, w, o, stdout)
	}
	if o.beside > 0 && w.PE() == 0 {
		stop, err := startBeside(o.beside)
		if err != nil {
			return err
		}
		defer stop()
	}
	points := choose(o, w.NPEs())
	r, err := newRunner(ctx, w, o.plan, largest(points))
	if err != nil {
		return err
	}
	if o.costs {
		r.costs = &costs{simulated: o.simulated}
	}
	if o.simulated {
		r.clock = w.Now
	}
	out := newOutput(o, w.PE() == 0, stdout)
	news := newProgress(stderr, w.PE() == 0 && !o.simulated, len(points), time.Now)
	if len(points) == 0 && w.PE() == 0 {
		return fmt.Errorf("nothing to measure: ping-pongs need two PEs (pgasrun -n 2 pgasbench), and each bench has sizes of its own (pgasbench -list)")
	}
	for _, p := range points {
		news.at(p.b.name, p.size)
		res, err := r.point(p.b, p.size)
		if err != nil {
			return err
		}
		res.Beside = o.beside
		if err := out.add(res); err != nil {
			return err
		}
	}
	return out.close()
}

// largest returns the size of the largest operand.
func largest(points []point) (most int) {
	for _, p := range points {
		most = max(most, p.size)
	}
	return most
}

type point struct {
	b    bench
	size int
}

// choose lists the points in the order of the table. Idle memory is another kind of figure.
func choose(o *options, npes int) []point {
	var points []point
	for _, b := range benches {
		if !o.bench.MatchString(b.name) || b.task == nil || b.pair && npes < 2 {
			continue
		}
		for _, size := range b.sizes.of(o.sizes) {
			points = append(points, point{b, size})
		}
	}
	return points
}
