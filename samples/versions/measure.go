package versions

// How the modes are measured: by the PEs of a job, in alternating rounds because the load of the machine changes with
// time; or each by itself in the simulator, where no other load exists.

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// measure measures with the PEs of this job. PE 0 prints. It is collective.
func (p *Program) measure(ctx context.Context, w *pgas.World, o *options, out io.Writer) error {
	if err := p.prepare(ctx, w); err != nil {
		return err
	}
	r, err := NewRun(ctx, w)
	if err != nil {
		return err
	}
	versions := make([]Version, len(o.modes))
	for i, m := range o.modes {
		if versions[i], err = m.Open(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if _, err := versions[i].Round(ctx); err != nil { // not measured: it touches memory and makes connections
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	took := make([][]time.Duration, len(o.modes))
	for range o.runsOf(false) {
		for i, m := range o.modes {
			d, err := versions[i].Round(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			took[i] = append(took[i], d)
		}
	}
	for i, m := range o.modes {
		if err := versions[i].Close(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	if w.PE() != 0 {
		return nil
	}
	results := make([]result, len(o.modes))
	for i, m := range o.modes {
		results[i] = newResult(p, m, w.NPEs(), took[i])
		results[i].Transport = w.TransportTo(w.NPEs() - 1)
	}
	where := fmt.Sprintf("%d PEs of %d host(s)", w.NPEs(), len(w.Hosts()))
	return p.report(out, o, where, results)
}

// prepare calls Prepare on PE 0. If that fails, it returns a *badInput on all PEs. It is collective.
func (p *Program) prepare(ctx context.Context, w *pgas.World) error {
	if p.Prepare == nil {
		return nil
	}
	failed, err := pgas.Alloc[int32](ctx, w, 1)
	if err != nil {
		return err
	}
	input := &badInput{}
	if w.PE() == 0 {
		if input.err = p.Prepare(w.NPEs()); input.err != nil {
			failed.Local()[0] = 1
		}
	}
	if err := pgas.Broadcast(ctx, w.Team(), failed.All(), failed.All(), 0); err != nil {
		return err
	}
	if failed.Local()[0] != 0 {
		return input
	}
	return failed.Free(ctx)
}

// enough is a heap size for what a program may allocate. Only touched memory counts.
const enough = 1 << 30

// mostEvents ends a run of the simulator that would take hours.
const mostEvents = 2_000_000_000

// simulate measures in the simulator.
func (p *Program) simulate(ctx context.Context, o *options, out io.Writer) error {
	return p.eachSimulated(ctx, o, func(where string, results []result) error { return p.report(out, o, where, results) })
}

// eachSimulated measures in the simulator, and calls then with the results for each number of PEs.
func (p *Program) eachSimulated(ctx context.Context, o *options, then func(where string, results []result) error) error {
	for _, npes := range o.pes {
		if p.Prepare != nil {
			if err := p.Prepare(npes); err != nil {
				return &badInput{err}
			}
		}
		results := make([]result, len(o.modes))
		for i, m := range o.modes {
			took, err := p.simulated(ctx, o, m, npes)
			if err != nil {
				return fmt.Errorf("%s on %d simulated PEs: %w", m.Name, npes, err)
			}
			results[i] = newResult(p, m, npes, took)
			results[i].Transport = "sim " + o.machine
		}
		if err := then(fmt.Sprintf("%d simulated PEs (%s)", npes, o.machine), results); err != nil {
			return err
		}
	}
	return nil
}

// Faster returns how many times as fast as the first mode the named one is in the simulator, with each of the numbers
// of PEs, as the flags have it. It is for tests of a program's claim.
func (p *Program) Faster(ctx context.Context, mode string, flags ...string) (ratios []float64, err error) {
	first := p.Modes[0].Name
	o, _, err := p.parse(append([]string{"-sim", "-mode", first + "," + mode}, flags...))
	if err != nil {
		return nil, err
	}
	err = p.eachSimulated(ctx, o, func(_ string, results []result) error {
		ratios = append(ratios, results[0].P50ns/results[1].P50ns)
		return nil
	})
	return ratios, err
}

// simulated returns the time of each round of m with so many PEs.
func (p *Program) simulated(ctx context.Context, o *options, m Mode, npes int) (took []time.Duration, err error) {
	costs := machines[o.machine]
	cfg := sim.Config{Seed: o.seed, Topology: o.topology, Costs: &costs, HeapMax: enough, MaxEvents: mostEvents}
	if p.Heap != nil {
		cfg.HeapMax = uint64(p.Heap(npes))
	}
	_, err = sim.Run(ctx, cfg, npes, func(ctx context.Context, w *pgas.World) error {
		r, err := NewRun(ctx, w)
		if err != nil {
			return err
		}
		r.Simulated = true
		v, err := m.Open(ctx, r)
		if err != nil {
			return err
		}
		for range o.runsOf(true) {
			d, err := v.Round(ctx)
			if err != nil {
				return err
			}
			if w.PE() == 0 {
				took = append(took, d)
			}
		}
		return v.Close(ctx)
	})
	return took, err
}

// median returns the middle one.
func median(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
