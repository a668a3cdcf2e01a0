package dsm_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/sim"
)

// A randomProgram has no data races. Every third byte belongs to a lock, every third to one PE in a round, and every
// third is written by one PE in even rounds and read by all in odd ones. shadow has what was written last; the PEs of
// a simulation share it.
type randomProgram struct {
	o                    opened
	locks, rounds, steps int
	shadow               []byte
}

// randomPE is one PE that runs a program.
type randomPE struct {
	*randomProgram
	w     *pgas.World
	bytes dsm.Array[byte]
	mutex []*dsm.Mutex
	round int
}

func (p *randomProgram) body(ctx context.Context, w *pgas.World) error {
	r, err := p.o.open(ctx, w)
	if err != nil {
		return err
	}
	pe := &randomPE{randomProgram: p, w: w}
	if pe.bytes, err = dsm.Alloc[byte](ctx, r, int(p.o.Bytes)); err != nil {
		return err
	}
	state, err := locks.AllocDMCSState(ctx, w, p.locks)
	if err != nil {
		return err
	}
	for i := range p.locks {
		l := locks.NewDMCS(w, state.At(i), locks.DMCSOptions{Home: i % w.NPEs()})
		m, err := dsm.NewMutex(ctx, r, l, (i+1)%w.NPEs())
		if err != nil {
			return err
		}
		pe.mutex = append(pe.mutex, m)
	}
	for pe.round = range p.rounds {
		for range p.steps {
			if err := pe.step(ctx); err != nil {
				return err
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step is one access, or a few under a lock.
func (p *randomPE) step(ctx context.Context) error {
	x := p.w.Random()
	at, write := int(x%p.o.Bytes), x>>40&3 != 0
	switch {
	case at%3 == 0:
		return p.underLock(ctx, at, write, x>>50&1 != 0)
	case at%3 == 1:
		n := p.w.NPEs()
		at -= 3 * (((at/3+p.round)%n - p.w.PE() + n) % n)
		if at < 0 {
			return nil
		}
		return p.access(at, write, "own byte")
	case p.round%2 == 1:
		return p.check(at, "byte of all")
	case at/3%p.w.NPEs() == p.w.PE():
		return p.access(at, true, "byte of all")
	}
	return nil
}

// underLock accesses a byte, or two, that belong to a lock.
func (p *randomPE) underLock(ctx context.Context, at int, write, two bool) error {
	k := at / 3 % p.locks
	if err := p.mutex[k].Lock(ctx); err != nil {
		return err
	}
	err := p.access(at, write, fmt.Sprintf("byte of lock %d", k))
	if next := at + 3*p.locks; err == nil && two && next < int(p.o.Bytes) {
		err = p.access(next, write, fmt.Sprintf("byte of lock %d", k))
	}
	if err != nil {
		return err
	}
	p.mutex[k].Unlock()
	return nil
}

// access checks a byte, and changes it if write is set.
func (p *randomPE) access(at int, write bool, what string) error {
	err := p.check(at, what)
	if err == nil && write {
		p.shadow[at]++
		p.bytes.Set(at, p.shadow[at])
	}
	return err
}

func (p *randomPE) check(at int, what string) error {
	if got := p.bytes.At(at); got != p.shadow[at] {
		return fmt.Errorf("PE %d, round %d: %s: byte %d of block %d is %d, want %d", p.w.PE(), p.round, what, at%p.o.Block, at/p.o.Block, got, p.shadow[at])
	}
	return nil
}

// opened is what a test opens a region with.
type opened struct {
	dsm.Options
	protocols.Choice
}

func (o opened) open(ctx context.Context, w *pgas.World) (*dsm.Region, error) {
	return dsm.Open(protocols.With(ctx, o.Choice), w, o.Options)
}

// programs are the options of random programs.
func programs() (all []opened) {
	for _, protocol := range protocols.All() {
		for _, notices := range []int{-1, 1, 2, 6} {
			for _, lease := range []uint64{1, 10, 100} {
				o := dsm.Options{Bytes: 6 * 16, Block: 16, Notices: notices, Lease: lease, Mode: dsm.Soft}
				all = append(all, opened{o, protocols.Choice{Protocol: protocol}})
			}
		}
	}
	for _, notices := range []int{-1, 2} {
		o := dsm.Options{Bytes: 6 * 16, Block: 16, Notices: notices, Mode: dsm.Soft}
		all = append(all, opened{o, protocols.Choice{AllNotices: true}})
		all = append(all, opened{o, protocols.Choice{Protocol: protocols.FixedHome, WholeBlocks: true}})
	}
	return all
}

// runRandom runs a random program. An error tells how to repeat the run.
func runRandom(ctx context.Context, o opened, npes int, seed uint64) (sim.Report, error) {
	p := &randomProgram{o: o, locks: 3, rounds: 6, steps: 30, shadow: make([]byte, o.Bytes)}
	report, err := sim.Run(ctx, sim.Config{Seed: seed, Adversary: true, HeapMax: 1 << 20}, npes, p.body)
	if err != nil {
		err = fmt.Errorf("go test ./dsm -run TestRandom -seed %d: %+v, %d PEs: %w", seed, o, npes, err)
	}
	return report, err
}

func TestRandom(t *testing.T) {
	notRaced(t)
	ops := uint64(0)
	for i, o := range programs() {
		if testing.Short() && i%6 != 0 {
			continue
		}
		for _, npes := range []int{2, 3, 5, 8} {
			for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
				report, err := runRandom(t.Context(), o, npes, seed)
				ops += report.Ops
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d operations on memory", ops)
}

// TestRandomScale runs random programs on many PEs of a machine: 64 always, and 256 and 1,024 with -long. Each protocol
// takes part, and a block has bytes of many PEs.
func TestRandomScale(t *testing.T) {
	if testing.Short() {
		t.Skip("64 PEs")
	}
	sizes := []int{64}
	if *long {
		sizes = append(sizes, 256, 1024)
	}
	for _, npes := range sizes {
		for _, o := range scaled(npes) {
			p := &randomProgram{o: o, locks: npes / 8, rounds: 4, steps: 8, shadow: make([]byte, o.Bytes)}
			start := time.Now()
			report, err := sim.Run(t.Context(), sim.Config{Seed: *firstSeed, Topology: "host:16", HeapMax: 8 << 20}, npes, p.body)
			if err != nil {
				t.Fatalf("%+v, %d PEs: %v\ngo test ./dsm -run TestRandomScale -long -seed %d", o, npes, err, *firstSeed)
			}
			t.Logf("%d PEs, %v, %d notices: %d operations in %v", npes, o.Protocol, o.Notices, report.Ops, time.Since(start).Round(time.Millisecond))
		}
	}
}

// scaled are the options of programs of npes PEs, each of which has six bytes.
func scaled(npes int) (all []opened) {
	o := opened{Options: dsm.Options{Bytes: uint64(6 * npes), Block: 64, Mode: dsm.Soft, Lease: 10}}
	for _, notices := range []int{-1, 4, npes} {
		o.Protocol, o.Notices = protocols.Floating, notices
		all = append(all, o)
	}
	for _, o.Protocol = range protocols.All()[1:] {
		all = append(all, o)
	}
	return all
}

// TestCrossedReleases has all PEs change and release all blocks at once, so that each waits for turns of the others.
func TestCrossedReleases(t *testing.T) {
	notRaced(t)
	const npes, blocks, rounds = 5, 8, 4
	body := func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 8 * blocks, Block: 8, Mode: dsm.Soft})
		if err != nil {
			return err
		}
		bytes, err := dsm.Alloc[byte](ctx, r, 8*blocks)
		if err != nil {
			return err
		}
		for round := range rounds {
			for b := range blocks {
				bytes.Set(8*((b+w.PE())%blocks)+w.PE(), byte(1+round))
			}
			if _, err := r.Release(ctx); err != nil {
				return err
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		for i, v := range bytes.View(0, 8*blocks) {
			if i%8 < npes && v != rounds {
				return fmt.Errorf("PE %d: byte %d is %d", w.PE(), i, v)
			}
		}
		return nil
	}
	if err := sim.Seeds(t.Context(), sim.Config{Adversary: true, HeapMax: 1 << 20}, npes, int(20**seeds), body); err != nil {
		t.Fatal(err)
	}
}
