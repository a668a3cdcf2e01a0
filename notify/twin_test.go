package notify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// twin is matching in the plainest way: what arrives goes at once to the request that was started first, of
// those that ask for it, or is kept.
type twin struct {
	started []*twinRequest
	kept    []notify.Status
}

type twinRequest struct {
	source, tag, count int
	have               int
	active             bool
	last               notify.Status
}

func (r *twinRequest) wants(s notify.Status) bool {
	return (r.source == notify.Any || r.source == s.Source) && (r.tag == notify.Any || r.tag == s.Tag)
}

func (w *twin) arrives(s notify.Status) {
	for _, r := range w.started {
		if r.wants(s) {
			w.give(r, s)
			return
		}
	}
	w.kept = append(w.kept, s)
}

func (w *twin) give(r *twinRequest, s notify.Status) {
	r.last = s
	if r.have++; r.have == r.count {
		w.stop(r)
	}
}

func (w *twin) stop(r *twinRequest) {
	r.active = false
	w.started = slices.DeleteFunc(w.started, func(x *twinRequest) bool { return x == r })
}

func (w *twin) start(r *twinRequest) {
	r.have, r.active = 0, true
	w.started = append(w.started, r)
	for i := 0; i < len(w.kept) && r.active; {
		if s := w.kept[i]; r.wants(s) {
			w.kept = slices.Delete(w.kept, i, i+1)
			w.give(r, s)
		} else {
			i++
		}
	}
}

func (w *twin) probe(r *twinRequest) (notify.Status, bool) {
	for _, s := range w.kept {
		if r.wants(s) {
			return s, true
		}
	}
	return notify.Status{}, false
}

// TestRandomAgainstTwin has all PEs notify PE 0 in a random order that all know, while that starts, tests,
// cancels and probes at random.
func TestRandomAgainstTwin(t *testing.T) {
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	body := func(ctx context.Context, w *pgas.World) error {
		if err := againstTwin(ctx, w, seed); err != nil {
			return fmt.Errorf("%w; replay with: TEST_SEED=%d go test ./notify -run '%s'", err, seed, t.Name())
		}
		return nil
	}
	pgastest.RunGoroutines(t, 3, body)
	pgastest.RunSim(t, 3, body)
}

func againstTwin(ctx context.Context, w *pgas.World, seed uint64) error {
	const tags, steps = 4, 600
	rng := rand.New(rand.NewPCG(seed, 3))
	mem, err := pgas.Alloc[int64](ctx, w, 64)
	if err != nil {
		return err
	}
	var plain twin
	var rs []*notify.Request
	var twins []*twinRequest
	anyOr := func(n int) int { return rng.IntN(n+1) - 1 }
	for step := range steps {
		if err := w.Barrier(ctx); err != nil { // no PE sends while PE 0 compares
			return err
		}
		for range rng.IntN(3) {
			from, tag, n := rng.IntN(w.NPEs()), rng.IntN(tags), rng.IntN(12)
			if w.PE() == from {
				mem.Range(0, n).PutNotify(0, make([]int64, n), tag)
			}
			if err := w.Barrier(ctx); err != nil {
				return err
			}
			plain.arrives(notify.Status{Source: from, Tag: tag, Bytes: 8 * n})
		}
		source, tag, count := anyOr(w.NPEs()), anyOr(tags), 1+rng.IntN(4)
		i, kind := rng.IntN(len(rs)+1), rng.IntN(6)
		if w.PE() > 0 {
			if kind == 0 || len(rs) == 0 { // keep the numbers in step
				rs = append(rs, nil)
			}
			continue
		}
		switch {
		case kind == 0 || len(rs) == 0:
			r := &twinRequest{source: source, tag: tag, count: count}
			rs, twins = append(rs, notify.New(w, source, tag, count)), append(twins, r)
			rs[len(rs)-1].Start()
			plain.start(r)
		case kind == 1:
			want := twinRequest{source: source, tag: tag}
			s, ok := notify.Probe(w, source, tag)
			if ws, wok := plain.probe(&want); s != ws || ok != wok {
				return fmt.Errorf("step %d: a probe for %d %d found %+v %v, want %+v %v", step, source, tag, s, ok, ws, wok)
			}
		case i == len(rs):
		case kind == 2 && twins[i].active:
			if n := rs[i].Cancel(); n != twins[i].have {
				return fmt.Errorf("step %d: request %d was cancelled with %d, want %d", step, i, n, twins[i].have)
			}
			plain.stop(twins[i])
			rs[i].Start()
			plain.start(twins[i])
		case !twins[i].active:
			if s, ok := rs[i].Test(); !ok || s != twins[i].last {
				return fmt.Errorf("step %d: request %d is %+v %v, want %+v", step, i, s, ok, twins[i].last)
			}
			rs[i].Start()
			plain.start(twins[i])
		default:
			if s, ok := rs[i].Test(); ok {
				return fmt.Errorf("step %d: request %d is complete with %+v, and lacks %d", step, i, s, twins[i].count-twins[i].have)
			}
		}
	}
	if w.PE() > 0 {
		return nil
	}
	for i, r := range rs {
		if s, ok := r.Test(); ok == twins[i].active || ok && s != twins[i].last {
			return fmt.Errorf("at the end, request %d is %+v %v, want %+v", i, s, ok, twins[i])
		}
	}
	var left []notify.Status
	for range plain.kept {
		r := notify.New(w, notify.Any, notify.Any, 1)
		for _, r := range rs {
			r.Cancel()
		}
		r.Start()
		s, _ := r.Test()
		left = append(left, s)
	}
	if !slices.Equal(left, plain.kept) {
		return fmt.Errorf("at the end %v were unexpected, want %v", left, plain.kept)
	}
	return nil
}
