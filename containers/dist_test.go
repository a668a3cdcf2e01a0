package containers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/sim"
)

// wide is a value of many words, which are all made from the first one.
type wide struct {
	N    uint64
	Rest [9]uint64
	Last byte
}

func wideOf(pe, n int) wide {
	v := wide{N: uint64(1000*pe + n)}
	for i := range v.Rest {
		v.Rest[i] = mix(v.N + uint64(i))
	}
	v.Last = byte(v.N)
	return v
}

// whole returns which of a member's values v is, or an error if it is a mixture.
func (v wide) whole(pe int) (n int, err error) {
	n = int(v.N) - 1000*pe
	if v != wideOf(pe, n) {
		return 0, fmt.Errorf("got a value of PE %d that it has never published: %+v", pe, v)
	}
	return n, nil
}

// TestDistObject: members publish and fetch at once. No value is torn, none older than one that was seen.
func TestDistObject(t *testing.T) {
	const rounds = 30
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		d, err := containers.NewDistObject[wide](ctx, w)
		if err != nil {
			return err
		}
		seen := make([]int, w.NPEs())
		for i := 1; i <= rounds; i++ {
			d.Publish(wideOf(w.PE(), i))
			for pe := range w.NPEs() {
				v, err := d.Fetch(ctx, pe)
				if err != nil {
					return err
				}
				n, err := v.whole(pe)
				if err != nil || n < seen[pe] || n > rounds || pe == w.PE() && n != i {
					return fmt.Errorf("round %d: value %d of PE %d after %d: %v", i, n, pe, seen[pe], err)
				}
				seen[pe] = n
			}
		}
		for pe := range w.NPEs() {
			v, version, err := d.FetchAfter(ctx, pe, rounds-1)
			if n, _ := v.whole(pe); err != nil || version != rounds || n != rounds {
				return fmt.Errorf("the last value of PE %d is %d, version %d, %v", pe, n, version, err)
			}
		}
		return errors.Join(w.Barrier(ctx), d.Free(ctx))
	})
}

// TestDistObjectOver: a member waits for the value of another one, which comes late; a small type.
func TestDistObjectOver(t *testing.T) {
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitStrided(ctx, 1, 1, 2)
		if err != nil {
			return err
		}
		d, err := containers.NewDistObject[int16](ctx, w, containers.Over(team))
		if err != nil {
			return err
		}
		switch w.PE() {
		case 1:
			if v, err := d.Fetch(ctx, 1); v != -7 || err != nil {
				return fmt.Errorf("fetched %d, %v", v, err)
			}
		case 2:
			if err := w.Sleep(ctx, time.Millisecond); err != nil {
				return err
			}
			d.Publish(-7)
		}
		return errors.Join(w.Barrier(ctx), d.Free(ctx))
	})
}

// TestDistObjectExplored: every order of two publications and two fetches.
//
//ci:weekly
func TestDistObjectExplored(t *testing.T) {
	if testing.Short() {
		t.Skip("short tests are for the race detector, which has nothing to see where one PE runs at a time")
	}
	type two struct{ A, B uint64 }
	e, err := sim.Explore(t.Context(), sim.Config{Reduce: true}, 2, func(ctx context.Context, w *pgas.World) error {
		d, err := containers.NewDistObject[two](ctx, w)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			d.Publish(two{1, 1})
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		sim.Start(ctx)
		if w.PE() == 0 {
			d.Publish(two{2, 2})
			d.Publish(two{3, 3})
			return nil
		}
		v, version, err := d.FetchAfter(ctx, 0, 0)
		if err != nil || v.A != v.B || v.A != version {
			return fmt.Errorf("fetched %v with version %d, %v", v, version, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", e)
}

// TestDistObjectDies: a member that dies before it has published is told to those that wait for it.
func TestDistObjectDies(t *testing.T) {
	told := 0
	cfg := sim.Config{Deaths: []sim.Death{{PE: 1, At: time.Millisecond}}}
	_, err := sim.Run(t.Context(), cfg, 3, func(ctx context.Context, w *pgas.World) error {
		d, err := containers.NewDistObject[int](ctx, w)
		if err != nil {
			return err
		}
		if w.PE() == 1 {
			return w.Sleep(ctx, time.Hour)
		}
		if _, err := d.Fetch(ctx, 1); isAbout(err, 1) {
			told++
		}
		return nil
	})
	if told != 2 || err != nil && !isAbout(err, 1) {
		t.Errorf("%v; %d members were told of the death, want 2", err, told)
	}
}

func TestDistObjectMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		d, err := containers.NewDistObject[int](ctx, w)
		if err != nil {
			return err
		}
		var nilctx context.Context
		return misuses(t, map[string]func(){
			"not plain":      func() { containers.NewDistObject[[]int](ctx, w) },
			"nil":            func() { (*containers.DistObject[int])(nil).Publish(1) },
			"zero":           func() { new(containers.DistObject[int]).Publish(1) },
			"no such member": func() { d.Fetch(ctx, 2) },
			"Fetch without":  func() { d.Fetch(nilctx, 0) },
			"Free without":   func() { d.Free(nilctx) },
		})
	})
}
