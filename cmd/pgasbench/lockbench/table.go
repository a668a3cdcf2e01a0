package lockbench

// The distributed lock table of the paper on ALock (alock 6): locks spread evenly over the hosts, of which each
// PE takes one after the other and gives it back at once, a near one as often as the locality says. With few
// locks PEs wait for each other, with many it is the network that counts.
//
// The locks that the paper compares use the network on their own host too, because its atomics are not atomic
// to those of CPUs: -atomics split. MCS swaps its tail, as the masked atomics of ConnectX can; MCS-CAS does so by
// compare-swaps, as the paper's does; spin tries without a pause.

import (
	"context"
	"fmt"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
)

// tableKinds are what a table can be of.
var tableKinds = map[string]locks.TableKind{
	kinds.ALock: locks.TableALock, mcs: locks.TableMCS, mcsCAS: locks.TableDQNL, spin: locks.TableSpin,
}

var tableLocks = []string{kinds.ALock, mcs, mcsCAS, spin}

// cloudLab is the cluster of the paper, and its middle one of contentions.
var cloudLab = grid{
	nodes: []int{20}, threads: []int{8}, tableLocks: []int{100}, locality: []float64{0.95},
	rest: config{Costs: "connectx3", Atomics: "split", Time: time.Millisecond},
}

var tableBenches = []bench{{
	name: "table", doc: "acquisitions a second of the locks of a table, nothing inside", y: "throughput",
	locks: tableLocks, usual: cloudLab, body: tableBody,
}}

// The contentions of the paper are numbers of locks.
var (
	threadCounts = []int{1, 2, 4, 8, 12}
	localities   = []float64{0.85, 0.90, 0.95}
)

func throughputFigure(name, doc string, count int, localities []float64) sweep.Figure[grid] {
	return sweep.Figure[grid]{Name: name, Doc: doc, X: "threads", Grid: grid{benches: []string{"table"}, tableLocks: []int{count}, locality: localities, threads: threadCounts}}
}

// tableFigures are those of alock 6. Each panel of figure 5 is for one number of hosts: -nodes 5 and -nodes 10 have
// the others.
var tableFigures = []sweep.Figure[grid]{
	{
		Name: "alock-budgets", Doc: "alock 4: budgets of ALock, 100 locks, 20 hosts", X: "remote",
		Grid: grid{benches: []string{"table"}, locks: []string{kinds.ALock}, locality: localities, remote: []int{5, 10, 20}, local: []int{5, 10, 20}},
	},
	throughputFigure("alock-high", "alock 5i: 20 locks by PEs of a host, 20 hosts", 20, localities),
	throughputFigure("alock-medium", "alock 5j: the same, 100 locks", 100, localities),
	throughputFigure("alock-low", "alock 5k: the same, 1000 locks", 1000, localities),
	{
		Name: "alock-local", Doc: "alock 5l: the same, all local", X: "threads",
		Grid: grid{benches: []string{"table"}, tableLocks: []int{20, 100, 1000}, locality: []float64{1}, threads: threadCounts},
	},
	{
		Name: "alock-nodes", Doc: "alock 5: by the number of hosts, 95 % local", X: "nodes",
		Grid: grid{benches: []string{"table"}, tableLocks: []int{20, 1000}, nodes: []int{5, 10, 15, 20}},
	},
	{
		Name: "alock-cdf", Doc: "alock 6: times to acquire and release, 100 locks, 20 hosts, 8 PEs each, 95 % local", Y: cdfMetric,
		Grid: grid{benches: []string{"table"}},
	},
	{
		Name: "alock-latency", Doc: "alock 6: median time to acquire and release, 20 hosts, 8 PEs each", X: "locality", Y: "p50",
		Grid: grid{benches: []string{"table"}, tableLocks: []int{20, 100, 1000}, locality: append(localities, 1)},
	},
}

// A tableUser is one PE at a table.
type tableUser struct {
	ctx      context.Context
	w        *pgas.World
	c        config
	table    *locks.Table
	counters pgas.Sym[int64] // of each lock, on its home; written by: its holder
	tally    Tally
}

func tableBody(ctx context.Context, w *pgas.World, c config) (t Tally, err error) {
	table, err := locks.AllocTable(ctx, w, c.Locks, locks.TableOptions{Kind: tableKinds[c.Lock], RemoteBudget: c.Remote, LocalBudget: c.Local})
	if err != nil {
		return t, err
	}
	counters, err := pgas.Alloc[int64](ctx, w, c.Locks)
	if err != nil {
		return t, err
	}
	v := &tableUser{ctx: ctx, w: w, c: c, table: table, counters: counters}
	if err := w.Barrier(ctx); err != nil {
		return t, err
	}
	if err := v.visit(max(c.Rounds/10, 1), c.Time/10); err != nil {
		return t, err
	}
	v.tally = Tally{}
	if err := w.Barrier(ctx); err != nil {
		return t, err
	}
	began := w.Now()
	if err := v.visit(c.Rounds, c.Time); err != nil {
		return t, err
	}
	v.tally.TookNs = int64(w.Now() - began)
	t = v.tally
	if err := v.prove(); err != nil {
		return t, err
	}
	if err := counters.Free(ctx); err != nil {
		return t, err
	}
	return t, table.Free(ctx)
}

// visit takes locks as often, or for as long, as it is told, and one at least: a PE may not run for that long.
func (v *tableUser) visit(rounds int, span time.Duration) error {
	until := v.w.Now() + span
	for i := 0; span > 0 && (i == 0 || v.w.Now() < until) || span <= 0 && i < rounds; i++ {
		if err := v.once(v.table.Pick(v.c.Locality), nil); err != nil {
			return err
		}
	}
	return nil
}

// once takes lock i, does what is to be done inside, and gives it back.
func (v *tableUser) once(i int, inside func(i int)) error {
	l, room := v.table.Lock(i), v.c.critical.of(i)
	began := v.w.Now()
	if err := l.Lock(v.ctx); err != nil {
		return err
	}
	wait := v.w.Now() - began
	if err := room.enter(true); err != nil {
		return fmt.Errorf("lock %d: %w", i, err)
	}
	if inside != nil {
		inside(i)
	}
	room.leave(true)
	release := v.w.Now()
	l.Unlock()
	v.tally.did(true, wait, wait+v.w.Now()-release)
	return nil
}

// prove checks that the locks have excluded: all PEs increment counters, and no increment is lost.
func (v *tableUser) prove() error {
	if err := v.w.Barrier(v.ctx); err != nil {
		return err
	}
	for range proofs {
		if err := v.once(v.table.Pick(v.c.Locality), v.increment); err != nil {
			return err
		}
	}
	if err := v.w.Barrier(v.ctx); err != nil {
		return err
	}
	if v.w.PE() == 0 {
		sum, want := int64(0), int64(proofs*v.w.NPEs())
		for i := range v.table.Len() {
			sum += v.counters.At(i).Get(v.table.Home(i))
		}
		if sum != want {
			return fmt.Errorf("%s: counters were incremented %d times under their locks, and are %d together: the locks do not exclude", v.c.name(), want, sum)
		}
	}
	return v.w.Barrier(v.ctx)
}

func (v *tableUser) increment(i int) {
	counter, home := v.counters.At(i), v.table.Home(i)
	counter.Put(home, counter.Get(home)+1)
}
