package containers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// savedAll is containers that are saved together.
type savedAll struct {
	counter *containers.Counter
	texts   *containers.TextMap
	queue   *containers.Queue[int]
	pool    *containers.WorkPool[int]
	tickets *containers.Tickets
	dist    *containers.DistObject[int]
	bloom   *containers.Bloom[int64]
}

// newSavedAll makes the containers, and restores them from a store.
func newSavedAll(ctx context.Context, w *pgas.World, store ckpt.Store) (*savedAll, *ckpt.Set, bool, error) {
	var x savedAll
	var errs [7]error
	x.counter, errs[0] = containers.NewCounter(ctx, w)
	x.texts, errs[1] = containers.NewTextMap(ctx, w, containers.Capacity(1000))
	x.queue, errs[2] = containers.NewQueue[int](ctx, w, 100, containers.Home(1))
	x.pool, errs[3] = containers.NewWorkPool[int](ctx, w, 8)
	x.tickets, errs[4] = containers.NewTickets(ctx, w, containers.Batch(5))
	x.dist, errs[5] = containers.NewDistObject[int](ctx, w)
	x.bloom, errs[6] = containers.NewBloom[int64](ctx, w, 1000, 0.01)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, nil, false, err
	}
	set := ckpt.New(w, ckpt.In(store))
	for i, it := range []ckpt.Item{x.counter, x.texts, x.queue, x.pool, x.tickets, x.dist, x.bloom} {
		set.Add(fmt.Sprint(i), it)
	}
	_, ok, err := set.Restore(ctx)
	return &x, set, ok, err
}

// fill has each PE put into each container what holds then finds.
func (x *savedAll) fill(ctx context.Context, w *pgas.World) error {
	me := w.PE()
	x.counter.Add(int64(10 + me))
	for i := range 10 {
		if err := x.texts.Set(ctx, fmt.Sprint(me, savedText(i)), savedText(10*i)); err != nil {
			return err
		}
		if err := x.queue.Push(ctx, me); err != nil {
			return err
		}
		x.pool.Add(10*me + i)
		x.bloom.Add(int64(10*me + i))
	}
	x.tickets.Next()
	x.dist.Publish(me)
	return w.Barrier(ctx)
}

// holds returns an error unless the containers have what the PEs have put into them.
func (x *savedAll) holds(ctx context.Context, w *pgas.World) error {
	n := w.NPEs()
	sum, err := x.counter.SumAll(ctx)
	if want := int64(10*n + n*(n-1)/2); err != nil || sum != want {
		return fmt.Errorf("the sum is %d, want %d: %v", sum, want, err)
	}
	if x.queue.Len() != 10*n {
		return fmt.Errorf("%d items in the queue", x.queue.Len())
	}
	for pe := range n {
		if v, err := x.dist.Fetch(ctx, pe); err != nil || v != pe {
			return fmt.Errorf("the value of PE %d is %d: %v", pe, v, err)
		}
		for i := range 10 {
			if v, ok := x.texts.Find(fmt.Sprint(pe, savedText(i))); !ok || v != savedText(10*i) {
				return fmt.Errorf("text %d of PE %d is %q, %t", i, pe, v, ok)
			}
			if !x.bloom.MayHave(int64(10*pe + i)) {
				return fmt.Errorf("key %d of PE %d is missing", i, pe)
			}
		}
	}
	tasks := 0
	err = x.pool.Run(ctx, func(_ context.Context, v int, _ func(int)) error {
		tasks += v
		return nil
	})
	if err != nil {
		return err
	}
	tasks, err = pgas.SumValue(ctx, w.Team(), tasks)
	if want := 10 * n * (10*n - 1) / 2; err != nil || tasks != want {
		return fmt.Errorf("the sum of the tasks is %d, want %d: %v", tasks, want, err)
	}
	return nil
}

// TestSavedOnAllKinds: on every kind of PE what is saved is restored.
func TestSavedOnAllKinds(t *testing.T) {
	pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
		var path []byte
		if w.PE() == 0 {
			dir, err := os.MkdirTemp("", "saved")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			path = []byte(dir)
		}
		path, err := pgas.BroadcastSlice(ctx, w.Team(), path, 0)
		if err != nil {
			return err
		}
		store := ckpt.Dir(string(path))
		x, set, ok, err := newSavedAll(ctx, w, store)
		if err != nil || ok {
			return fmt.Errorf("restored: %t, %v", ok, err)
		}
		if err := errors.Join(x.fill(ctx, w), set.Save(ctx)); err != nil {
			return err
		}
		if _, err := set.Wait(ctx); err != nil {
			return err
		}
		y, _, ok, err := newSavedAll(ctx, w, store)
		if err != nil || !ok {
			return fmt.Errorf("restored: %t, %v", ok, err)
		}
		if n, want := y.tickets.Next(), x.tickets.Next(); n != want {
			return fmt.Errorf("PE %d has number %d next, want %d", w.PE(), n, want)
		}
		if err := errors.Join(x.holds(ctx, w), y.holds(ctx, w)); err != nil {
			return err
		}
		return w.Barrier(ctx)
	})
}
