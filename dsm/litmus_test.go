package dsm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// litmusPE is a PE of a litmus program: two blocks of four bytes, an event and a lock.
type litmusPE struct {
	me    int
	r     *dsm.Region
	bytes dsm.Array[byte]
	event *dsm.Event
	mutex *dsm.Mutex
}

func (p *litmusPE) write(at int, v byte) { p.bytes.Set(at, v) }

func (p *litmusPE) want(at int, v byte) error {
	if got := p.bytes.At(at); got != v {
		return fmt.Errorf("PE %d: byte %d is %d, want %d", p.me, at, got, v)
	}
	return nil
}

// all runs steps until one fails.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (p *litmusPE) set(ctx context.Context, to int) func() error {
	return func() error { return p.event.Set(ctx, to) }
}

func (p *litmusPE) wait(ctx context.Context, from int) func() error {
	return func() error { return p.event.Wait(ctx, from) }
}

func (p *litmusPE) wants(at int, v byte) func() error {
	return func() error { return p.want(at, v) }
}

func (p *litmusPE) writes(at int, v byte) func() error {
	return func() error { p.write(at, v); return nil }
}

// locked runs steps under the lock.
func (p *litmusPE) locked(ctx context.Context, steps ...func() error) func() error {
	return func() error {
		if err := p.mutex.Lock(ctx); err != nil {
			return err
		}
		err := all(steps...)
		p.mutex.Unlock()
		return err
	}
}

type litmus struct {
	name string
	npes int
	body func(ctx context.Context, p *litmusPE) error
}

var litmuses = []litmus{
	{"message passing", 2, func(ctx context.Context, p *litmusPE) error {
		if p.me == 0 {
			return all(p.writes(0, 1), p.set(ctx, 1))
		}
		return all(p.wait(ctx, 0), p.wants(0, 1))
	}},
	{"message passing, the reader writes beside", 2, func(ctx context.Context, p *litmusPE) error {
		if p.me == 0 {
			return all(p.writes(0, 1), p.set(ctx, 1))
		}
		p.write(1, 7)
		if _, err := p.r.Release(ctx); err != nil {
			return err
		}
		return all(p.wait(ctx, 0), p.wants(0, 1), p.wants(1, 7))
	}},
	{"an unreleased write beside an acquired one", 2, func(ctx context.Context, p *litmusPE) error {
		if p.me == 0 {
			return all(p.writes(0, 1), p.set(ctx, 1))
		}
		return all(p.writes(1, 7), p.wait(ctx, 0), p.wants(0, 1), p.wants(1, 7))
	}},
	{"two writers, each hears of the other", 2, func(ctx context.Context, p *litmusPE) error {
		other := 1 - p.me
		return all(p.writes(p.me, byte(1+p.me)), p.set(ctx, other), p.wait(ctx, other), p.wants(other, byte(1+other)))
	}},
	{"two writers, a third PE hears both", 3, func(ctx context.Context, p *litmusPE) error {
		if p.me < 2 {
			return all(p.writes(p.me, byte(1+p.me)), p.set(ctx, 2))
		}
		return all(p.wait(ctx, 0), p.wants(0, 1), p.wait(ctx, 1), p.wants(1, 2))
	}},
	{"the first home hears the second of two writers", 3, func(ctx context.Context, p *litmusPE) error {
		switch p.me {
		case 1:
			p.write(1, 2)
			_, err := p.r.Release(ctx)
			return err
		case 2:
			return all(p.writes(2, 3), p.set(ctx, 0))
		}
		return all(p.wait(ctx, 2), p.wants(2, 3))
	}},
	{"a reader comes while a version is closed", 3, func(ctx context.Context, p *litmusPE) error {
		if p.me < 2 {
			return all(p.writes(4*(1-p.me), byte(1+p.me)), p.set(ctx, 2)) // PE 0 writes block 1, PE 1 block 0
		}
		return all(p.wait(ctx, 0), p.wants(3, 0), p.wait(ctx, 1), p.wants(0, 2))
	}},
	{"a chain of three", 3, func(ctx context.Context, p *litmusPE) error {
		if p.me > 0 {
			if err := p.event.Wait(ctx, p.me-1); err != nil {
				return err
			}
		}
		for i := range p.me {
			if err := p.want(i, byte(1+i)); err != nil {
				return err
			}
		}
		p.write(p.me, byte(1+p.me))
		if p.me == 2 {
			return nil
		}
		return p.event.Set(ctx, p.me+1)
	}},
	{"a lock hands a byte over", 2, func(ctx context.Context, p *litmusPE) error {
		increment := func() error { p.write(0, p.bytes.At(0)+1); return nil }
		err := all(p.locked(ctx, increment), func() error { return p.r.Barrier(ctx) })
		if err != nil {
			return err
		}
		return p.want(0, 2)
	}},
}

// longLitmuses take minutes to explore whole.
var longLitmuses = []litmus{
	{"independent reads of independent writes", 4, func(ctx context.Context, p *litmusPE) error {
		if p.me < 2 {
			return all(p.writes(p.me, 1), p.set(ctx, 2), p.set(ctx, 3))
		}
		first := p.me % 2
		return all(p.wait(ctx, first), p.wants(first, 1), p.wait(ctx, 1-first), p.wants(1-first, 1), p.wants(first, 1))
	}},
}

// litmusBody returns the program of a PE.
func litmusBody(l litmus, o opened, explored bool) pgastest.Body {
	return func(ctx context.Context, w *pgas.World) error {
		r, err := o.open(ctx, w)
		if err != nil {
			return err
		}
		p := &litmusPE{me: w.PE(), r: r}
		if p.bytes, err = dsm.Alloc[byte](ctx, r, 8); err != nil {
			return err
		}
		if p.event, err = dsm.NewEvent(ctx, r); err != nil {
			return err
		}
		state, err := locks.AllocSpinState(ctx, w, 1)
		if err != nil {
			return err
		}
		if p.mutex, err = dsm.NewMutex(ctx, r, locks.NewSpin(w, state.At(0), locks.SpinOptions{}), 0); err != nil {
			return err
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		if explored {
			sim.Start(ctx)
		}
		return l.body(ctx, p)
	}
}

// litmusOptions are those under which litmus programs are explored.
func litmusOptions() (list []opened) {
	for _, protocol := range protocols.All() {
		for _, notices := range []int{-1, 1} {
			o := dsm.Options{Bytes: 8, Block: 4, Lease: 3, Notices: notices, Mode: dsm.Soft}
			list = append(list, opened{o, protocols.Choice{Protocol: protocol}})
		}
	}
	return list
}

//ci:weekly
func TestLitmusExplored(t *testing.T) {
	programs := litmuses
	if *long {
		programs = append(programs, longLitmuses...)
	}
	if testing.Short() {
		programs = programs[:1]
	}
	for i, l := range programs {
		for _, o := range litmusOptions() {
			if !*long && o.Protocol != protocols.Floating && (i > 0 || o.Notices > 0) {
				continue // minutes in all
			}
			t.Run(fmt.Sprintf("%s/%v, %d notices", l.name, o.Protocol, max(o.Notices, 0)), func(t *testing.T) {
				e, err := sim.Explore(t.Context(), sim.Config{Reduce: true, HeapMax: 1 << 16}, l.npes, litmusBody(l, o, true))
				if err != nil {
					t.Fatal(err)
				}
				if e.Ends == 0 {
					t.Error("no schedule has ended")
				}
				t.Logf("%d schedules, %d ends, %d states", e.Runs, e.Ends, e.States)
			})
		}
	}
}

func TestLitmus(t *testing.T) {
	for _, l := range append(litmuses, longLitmuses...) {
		t.Run(l.name, func(t *testing.T) {
			run := pgastest.Run
			if raceDetector { // it sees one process at a time
				run = pgastest.RunGoroutines
			}
			run(t, l.npes, litmusBody(l, opened{Options: dsm.Options{Bytes: 1 << 13, Block: 1 << 12}}, false))
		})
	}
}
