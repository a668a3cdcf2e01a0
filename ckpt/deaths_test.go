package ckpt_test

// Deaths at every event of the simulator, of each PE and of each host.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// mortal is a program that has the same result wherever its PEs and hosts die.
type mortal struct {
	hosts    []int // by host: its PEs
	config   sim.Config
	drops    bool // the job goes on without a host that is lost; otherwise another one takes its place
	unsorted bool // the parts of the result are in any order
	// run returns the part of the result that this PE has. It calls restored after Restore.
	run func(ctx context.Context, w *pgas.World, set *ckpt.Set, restored func(ok bool)) ([]uint64, error)
}

// mortals are the programs, by name.
var mortals = map[string]mortal{
	"heat": {hosts: []int{2, 2}, run: heat},
	"map":  {hosts: []int{2, 2, 1}, config: sim.Config{Seed: 1, Adversary: true}, drops: true, unsorted: true, run: updates},
	"pool": {hosts: []int{2, 1, 2}, drops: true, unsorted: true, run: tasks},
}

// heat spreads heat over a ring of cells. Each PE needs the cells at the ends of two others.
func heat(ctx context.Context, w *pgas.World, set *ckpt.Set, restored func(bool)) ([]uint64, error) {
	const cells, steps = 16, 4
	grid, err := containers.NewArray[float64](ctx, w, cells)
	if err != nil {
		return nil, err
	}
	lo, hi := w.Team().Share(cells)
	for i := lo; i < hi; i++ {
		grid.Local()[i-lo] = math.Sqrt(float64(i))
	}
	step := 0
	set.Add("grid", grid)
	set.Add("step", ckpt.Shared(&step))
	_, ok, err := set.Restore(ctx)
	if err != nil {
		return nil, err
	}
	for restored(ok); step < steps; {
		mine := slices.Clone(grid.Local())
		var ends [2]float64
		if err := grid.GetRange(ctx, (lo+cells-1)%cells, ends[:1]); err != nil {
			return nil, err
		}
		if err := grid.GetRange(ctx, hi%cells, ends[1:]); err != nil {
			return nil, err
		}
		all := slices.Concat(ends[:1], mine, ends[1:])
		if err := w.Barrier(ctx); err != nil {
			return nil, err
		}
		for i := range mine {
			grid.Local()[i] = all[i]/4 + all[i+1]/2 + all[i+2]/4
		}
		if step++; step%2 == 1 {
			if err := set.Save(ctx); err != nil {
				return nil, err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return nil, err
		}
	}
	var part []uint64
	for _, x := range grid.Local() {
		part = append(part, math.Float64bits(x))
	}
	return part, nil
}

// updates has PEs update elements of a map, some of them the same ones.
func updates(ctx context.Context, w *pgas.World, set *ckpt.Set, restored func(bool)) ([]uint64, error) {
	const each, steps = 10, 4
	m, err := containers.NewMap[uint64, uint64](ctx, w, containers.Capacity(64))
	if err != nil {
		return nil, err
	}
	step := 0
	set.Add("map", m)
	set.Add("step", ckpt.Shared(&step))
	_, ok, err := set.Restore(ctx)
	if err != nil {
		return nil, err
	}
	for restored(ok); step < steps; {
		lo, hi := w.Team().Share(each)
		for i := lo; i < hi; i++ {
			key := uint64(i * (step + 1) % 13)
			if err := m.Update(ctx, key, uint64(1+i+100*step), func(old, v uint64) uint64 { return old + v }); err != nil {
				return nil, err
			}
		}
		if step++; step%2 == 1 {
			if err := set.Save(ctx); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return nil, err
	}
	var part []uint64
	for k, v := range m.Local() {
		part = append(part, k<<32|v)
	}
	return part, nil
}

// tasks has PEs run tasks that make others, each for a short time, between which they save those that are left.
func tasks(ctx context.Context, w *pgas.World, set *ckpt.Set, restored func(bool)) ([]uint64, error) {
	const last = 60
	pool, err := containers.NewWorkPool[uint64](ctx, w, 2)
	if err != nil {
		return nil, err
	}
	word, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return nil, err
	}
	var done []uint64
	set.Add("pool", pool)
	set.Add("done", ckpt.Values(&done))
	_, ok, err := set.Restore(ctx)
	if err != nil {
		return nil, err
	}
	if restored(ok); !ok && w.PE() == 0 {
		pool.Add(1)
	}
	run := func(ctx context.Context, task uint64, add func(uint64)) error {
		_ = word.At(0).Get((w.PE() + 1) % w.NPEs()) // a task takes its time
		done = append(done, task)
		for next := 2 * task; next <= min(2*task+1, last); next++ {
			add(next)
		}
		return nil
	}
	for {
		left, err := pool.RunFor(ctx, 2*time.Microsecond, run)
		if err != nil || left == 0 {
			return done, err
		}
		if err := set.Save(ctx); err != nil {
			return nil, err
		}
	}
}

// mortalDeath is a death after a number of events, of a PE or of a host.
type mortalDeath struct {
	kind   string // "PE" or "host"
	number int
	after  uint64
}

func (d mortalDeath) String() string {
	return fmt.Sprintf("%s %d after event %d", d.kind, d.number, d.after)
}

// all returns the deaths of PEs that d is.
func (d mortalDeath) all(c *cluster) (all []sim.Death) {
	if d.kind == "PE" {
		return []sim.Death{{PE: d.number, After: d.after}}
	}
	for _, x := range c.deaths(d.number, 0) {
		all = append(all, sim.Death{PE: x.PE, After: d.after})
	}
	return all
}

// live runs terms until the program ends, each with the next of the deaths, and returns the result, how many events the
// first term has, and how many terms went on from a cut.
func (m *mortal) live(t *testing.T, deaths ...mortalDeath) (result []uint64, events uint64, fromCut int) {
	c := newCluster(t, m.hosts...)
	for term := 0; ; term++ {
		cfg := m.config
		cfg.Seed += uint64(term)
		cfg.HeapMax, cfg.MaxEvents = 4<<20, 1<<20
		var lost *mortalDeath
		if term < len(deaths) {
			lost = &deaths[term]
			cfg.Deaths = lost.all(c)
		}
		parts, restored := make([][]uint64, c.pes()), false
		report, errs := c.simulate(cfg, func(ctx context.Context, w *pgas.World) (err error) {
			parts[w.PE()], err = m.run(ctx, w, c.set(w), func(ok bool) { restored = restored || ok })
			return err
		})
		if term == 0 {
			events = report.Events
		}
		if restored {
			fromCut++
		}
		if errors.Join(errs...) == nil {
			if result = slices.Concat(parts...); m.unsorted {
				slices.Sort(result)
			}
			return result, events, fromCut
		}
		mustBeDeaths(t, errs, "term %d of %v", term, deaths)
		switch {
		case lost == nil:
			t.Fatalf("a term without deaths fails: %v", errs)
		case lost.kind == "host" && m.drops:
			c.drop(lost.number)
		case lost.kind == "host":
			c.lose(lost.number)
		}
	}
}

// deaths returns all deaths of PEs and hosts after up to so many events.
func (m *mortal) deaths(events uint64) (all []mortalDeath) {
	for after := range events {
		pe := 0
		for host, n := range m.hosts {
			for range n {
				all = append(all, mortalDeath{"PE", pe, after + 1})
				pe++
			}
			all = append(all, mortalDeath{"host", host, after + 1})
		}
	}
	return all
}

// some returns about so many of all deaths, always the same ones, or with -long all.
func some(t *testing.T, all []mortalDeath, most int) (chosen []mortalDeath) {
	if *long || len(all) <= most {
		return all
	}
	stride := len(all) / most
	for stride%2 == 0 || stride%3 == 0 { // otherwise some PE or host would not die
		stride++
	}
	first := stride / 2
	t.Logf("%d deaths, of which each %d is tried, from %d on", len(all), stride, first)
	for i := first; i < len(all); i += stride {
		chosen = append(chosen, all[i])
	}
	return chosen
}

// TestEveryDeath: each PE and each host of three programs dies after each number of events. The program goes on, out of
// memory alone, and has the result of the undisturbed one.
func TestEveryDeath(t *testing.T) {
	for name, m := range mortals {
		t.Run(name, func(t *testing.T) {
			want, events, _ := m.live(t)
			fromCut := 0
			for _, d := range some(t, m.deaths(events), mostDeaths) {
				fromCut += m.mustSurvive(t, want, d)
			}
			if t.Logf("%d events, %d terms went on from a cut", events, fromCut); fromCut == 0 {
				t.Error("no term went on from a cut")
			}
		})
	}
}

// TestTwoDeaths: PEs and hosts of a small program die, and others in the term that follows, each after a random number
// of events. Two hosts do not die one after the other: the images of the first may be on the second alone.
func TestTwoDeaths(t *testing.T) {
	m := mortal{hosts: []int{1, 1}, run: heat}
	want, events, _ := m.live(t)
	all := m.deaths(events)
	pairs, fromCut := uint64(30), 0
	if *long {
		pairs = 6000
	}
	for seed := range pairs {
		r := rand.New(rand.NewPCG(seed, 53))
		first, second := all[r.IntN(len(all))], all[r.IntN(len(all))]
		if second.kind == "host" && first.kind == "host" {
			second.kind = "PE" // there is one on each host, of the same number
		}
		fromCut += m.mustSurvive(t, want, first, second)
	}
	if t.Logf("%d terms went on from a cut", fromCut); fromCut == 0 {
		t.Error("no term went on from a cut")
	}
}

// mostDeaths is how many deaths of a program are tried in a short time.
const mostDeaths = 40

// mustSurvive is a subtest in which the program has deaths, and is to have the result want. It returns how many terms
// went on from a cut.
func (m *mortal) mustSurvive(t *testing.T, want []uint64, deaths ...mortalDeath) (fromCut int) {
	t.Run(fmt.Sprint(deaths), func(t *testing.T) {
		defer func() {
			if t.Failed() {
				t.Logf("to repeat it: go test ./ckpt -long -run '^%s$'", t.Name())
			}
		}()
		got, _, n := m.live(t, deaths...)
		if fromCut = n; !slices.Equal(got, want) {
			t.Errorf("the result is %x, and that of the undisturbed program %x", got, want)
		}
	})
	return fromCut
}
