package dsm_test

// Programs made of a seed, on PEs of every kind. In each phase every element of an array has one writer, a member of a
// Run that the seed chooses, and its value is a function of the seed, the element and the phase in which it was written
// last. So each member can check what it reads without being told, and nothing may change with the number of PEs, the
// mode, the protocol or the size of blocks.

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// A program is what all members know of a run.
type program struct {
	seed     uint64
	elements int
	phases   int
	members  int // of a PE
	o        dsm.Options
	choice   protocols.Choice
}

// mix returns a random number that is a function of its arguments.
func mix(args ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, a := range args {
		h = (h ^ a) * 0xbf58476d1ce4e5b9
		h ^= h >> 29
	}
	return h
}

// writes reports whether element i is written in a phase; about half of them are. Runs of elements are written alike,
// so that there are blocks of one writer, of several, and of none.
func (p *program) writes(phase, i int) bool {
	return mix(p.seed, 1, uint64(phase), uint64(i/16))&1 == 0
}

// writer returns the member that writes element i in a phase, of n.
func (p *program) writer(phase, i, n int) int {
	run := 1 << (mix(p.seed, 2, uint64(phase)) % 10) // from elements that alternate to runs longer than a page
	return int(mix(p.seed, 3, uint64(phase), uint64(i/run)) % uint64(n))
}

// value returns what element i is after a phase.
func (p *program) value(phase, i int) uint32 {
	for ; phase >= 0; phase-- {
		if p.writes(phase, i) {
			return uint32(mix(p.seed, 4, uint64(phase), uint64(i)))
		}
	}
	return 0
}

func (p *program) body(ctx context.Context, w *pgas.World) error {
	o := p.o
	o.Bytes = uint64(8*p.elements) + 2<<20
	r, err := dsm.Open(protocols.With(ctx, p.choice), w, o)
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[uint32](ctx, r, p.elements)
	if err != nil {
		return err
	}
	err = r.Run(ctx, p.members, func(ctx context.Context, m dsm.Member) error {
		for phase := range p.phases {
			if err := p.check(m, a, phase); err != nil {
				return err
			}
			p.write(m, a, phase)
			if err := m.Barrier(ctx); err != nil {
				return err
			}
		}
		return p.check(m, a, p.phases)
	})
	if err != nil {
		return err
	}
	return r.Close(ctx)
}

// check reads elements that nobody writes in this phase, by all ways that the mode has.
func (p *program) check(m dsm.Member, a dsm.Array[uint32], phase int) error {
	lo := int(mix(p.seed, 5, uint64(phase), uint64(m.ID())) % uint64(p.elements))
	hi := min(p.elements, lo+int(mix(p.seed, 6, uint64(phase), uint64(m.ID()))%5000))
	cold := mix(p.seed, 7, uint64(phase), uint64(m.ID()))&1 == 0 && m.Region().Mode() != dsm.Soft
	var view []uint32
	switch {
	case cold && phase%2 == 0:
		view = p.copied(a.Slice()[lo:hi], lo, phase)
	case cold:
		view = a.Slice()[lo:hi]
	default:
		view = a.View(lo, hi)
	}
	for k := range view {
		i := lo + k
		if phase < p.phases && p.writes(phase, i) {
			continue // a writer may be at it
		}
		got := view[k]
		if k%7 == 0 {
			got = a.At(i)
		}
		if want := p.value(phase-1, i); got != want {
			return fmt.Errorf("seed %d: member %d of %d, mode %v, phase %d: element %d is %#x, want %#x", p.seed, m.ID(), m.N(), m.Region().Mode(), phase, i, got, want)
		}
	}
	return nil
}

// copied copies memory from element lo on, but for what is written in the phase: by assembly, which cannot be
// preempted.
func (p *program) copied(from []uint32, lo, phase int) []uint32 {
	to := make([]uint32, len(from))
	for k := 0; k < len(from); {
		next := min(len(from), k+16-(lo+k)%16)
		if phase == p.phases || !p.writes(phase, lo+k) {
			copy(to[k:next], from[k:next])
		}
		k = next
	}
	return to
}

// write writes this member's elements, by all ways that the mode has.
func (p *program) write(m dsm.Member, a dsm.Array[uint32], phase int) {
	soft := m.Region().Mode() == dsm.Soft
	for i := range p.elements {
		if !p.writes(phase, i) || p.writer(phase, i, m.N()) != m.ID() {
			continue
		}
		v := p.value(phase, i)
		if way := mix(p.seed, 8, uint64(i)) % 3; way == 0 || soft {
			a.Set(i, v)
		} else if way == 1 {
			a.Update(i, i+1)[0] = v
		} else {
			a.Slice()[i] = v
		}
	}
}

// collecting runs body with collections of garbage in a loop beside it.
func collecting(body pgastest.Body) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		}()
		defer func() { close(stop); <-stopped }()
		return body(ctx, w)
	}
}

// TestPrograms runs programs in every mode, with more and fewer blocks.
func TestPrograms(t *testing.T) {
	for _, mode := range []dsm.Mode{dsm.Shared, dsm.Paged, dsm.Soft} {
		for _, block := range []int{4 << 10, 64 << 10} {
			t.Run(fmt.Sprintf("%v, blocks of %d", mode, block), func(t *testing.T) {
				if mode == dsm.Paged {
					needsPaging(t)
				}
				p := &program{seed: *firstSeed + uint64(block), elements: 40_000, phases: 6, members: 3, o: dsm.Options{Block: block, Mode: mode}}
				pgastest.RunGoroutines(t, 3, collecting(p.body))
				if raceDetector { // it sees one process at a time
					return
				}
				pgastest.RunProcesses(t, 3, collecting(p.body))
				if mode != dsm.Shared {
					pgastest.RunHosts(t, 3, 2, collecting(p.body))
				}
			})
		}
	}
}

// TestOneProcessor has page faults, goroutines in assembly and collections share one processor of Go.
func TestOneProcessor(t *testing.T) {
	needsPaging(t)
	p := &program{seed: *firstSeed, elements: 40_000, phases: 8, members: 4, o: dsm.Options{Block: 4 << 10, Mode: dsm.Paged}}
	one := func(ctx context.Context, w *pgas.World) error {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		return p.body(ctx, w)
	}
	inBothForms(t, func(t *testing.T) {
		pgastest.RunProcesses(t, 2, collecting(one))
		pgastest.RunHosts(t, 2, 2, collecting(one))
	})
}

// TestProtocolsAgree runs one program under every protocol, with PEs of every kind.
func TestProtocolsAgree(t *testing.T) {
	for _, protocol := range protocols.All() {
		t.Run(protocol.String(), func(t *testing.T) {
			members := 2
			if protocol == protocols.Uncached {
				members = 1 // a View of one overwrites what another reads, with the same bytes
			}
			p := &program{
				seed: *firstSeed, elements: 3000, phases: 5, members: members,
				o: dsm.Options{Block: 1 << 10, Mode: dsm.Soft, Notices: 5}, choice: protocols.Choice{Protocol: protocol},
			}
			if raceDetector && protocol != protocols.Floating {
				// By design, PEs put into bytes of a master copy that others get but do not use.
				pgastest.RunSim(t, 3, p.body)
				return
			}
			pgastest.RunAll(t, 3, p.body)
		})
	}
}
