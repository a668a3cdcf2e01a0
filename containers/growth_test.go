package containers_test

// What is opened and closed again and again leaves nothing: everything that ends with its World unless it is closed
// before.

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/dsm/pager"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/progress"
)

// freer is a container of any type.
type freer interface {
	Free(ctx context.Context) error
}

// freed frees what has just been made.
func freed(ctx context.Context, c freer, err error) error {
	if err != nil {
		return err
	}
	return c.Free(ctx)
}

// A cycle opens something, uses it, and closes it.
type cycle struct {
	name string
	do   func(ctx context.Context, w *pgas.World) error

	hosts bool // it is tried between hosts, too
}

var cycles = []cycle{
	{name: "AtClose", do: func(_ context.Context, w *pgas.World) error {
		if forget := w.AtClose(func() error { return nil }); !forget() {
			return fmt.Errorf("it is not forgotten")
		}
		return nil
	}},
	{name: "Alloc", do: func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 100)
		return freed(ctx, s, err)
	}},
	{name: "Context", hosts: true, do: func(_ context.Context, w *pgas.World) error {
		c, err := w.NewContext()
		if err != nil {
			return err
		}
		return c.Close()
	}},
	{name: "Team", do: func(ctx context.Context, w *pgas.World) error {
		t, err := w.Team().SplitStrided(ctx, 0, 1, w.NPEs())
		if err != nil {
			return err
		}
		if _, err := t.NewContext(); err != nil {
			return err
		}
		return t.Destroy(ctx)
	}},
	{name: "Go", do: func(ctx context.Context, w *pgas.World) error {
		return w.Go(ctx, func(context.Context) error { return nil }).Wait()
	}},
	{name: "Progress", do: func(ctx context.Context, w *pgas.World) error {
		p, err := progress.New(ctx, w, "growth", 10)
		if err != nil {
			return err
		}
		return p.End(ctx)
	}},
	{name: "notify.Request", do: func(_ context.Context, w *pgas.World) error {
		r := notify.New(w, 0, 7, 1)
		r.Start()
		r.Cancel()
		r.Free()
		return nil
	}},
	{name: "locks.Service", do: func(ctx context.Context, w *pgas.World) error {
		s, err := locks.NewService(ctx, w, locks.ServiceOptions{Places: 2})
		return freed(ctx, s, err)
	}},
	{name: "locks.Table", do: func(ctx context.Context, w *pgas.World) error {
		t, err := locks.AllocTable(ctx, w, 4, locks.TableOptions{})
		return freed(ctx, t, err)
	}},
	{name: "dsm soft", hosts: true, do: func(ctx context.Context, w *pgas.World) error { return regionCycle(ctx, w, dsm.Soft) }},
	{name: "dsm shared", do: func(ctx context.Context, w *pgas.World) error { return regionCycle(ctx, w, dsm.Shared) }},
	{name: "dsm paged", hosts: true, do: func(ctx context.Context, w *pgas.World) error { return regionCycle(ctx, w, dsm.Paged) }},
	{name: "Array", do: func(ctx context.Context, w *pgas.World) error {
		a, err := containers.NewArray[int64](ctx, w, 100)
		return freed(ctx, a, err)
	}},
	{name: "Bloom", do: func(ctx context.Context, w *pgas.World) error {
		b, err := containers.NewBloom[int](ctx, w, 100, 0.01)
		return freed(ctx, b, err)
	}},
	{name: "Counter", do: func(ctx context.Context, w *pgas.World) error {
		c, err := containers.NewCounter(ctx, w)
		return freed(ctx, c, err)
	}},
	{name: "DistObject", do: func(ctx context.Context, w *pgas.World) error {
		d, err := containers.NewDistObject[int](ctx, w)
		return freed(ctx, d, err)
	}},
	{name: "Mailbox", hosts: true, do: func(ctx context.Context, w *pgas.World) error {
		b, err := containers.NewMailbox(ctx, w, func(int, []int64) error { return nil })
		return freed(ctx, b, err)
	}},
	{name: "Map", do: func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewMap[int, int](ctx, w, containers.Capacity(100))
		return freed(ctx, m, err)
	}},
	{name: "StringMap", do: func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewStringMap[int64](ctx, w, containers.Capacity(100))
		return freed(ctx, m, err)
	}},
	{name: "TextMap", do: func(ctx context.Context, w *pgas.World) error {
		m, err := containers.NewTextMap(ctx, w, containers.Capacity(100))
		return freed(ctx, m, err)
	}},
	{name: "WorkPool", do: func(ctx context.Context, w *pgas.World) error {
		p, err := containers.NewWorkPool[int](ctx, w, 16)
		return freed(ctx, p, err)
	}},
	{name: "Queue", do: func(ctx context.Context, w *pgas.World) error {
		q, err := containers.NewQueue[int64](ctx, w, 16)
		return freed(ctx, q, err)
	}},
	{name: "Queues", do: func(ctx context.Context, w *pgas.World) error {
		q, err := containers.NewQueues[int64](ctx, w, 16)
		return freed(ctx, q, err)
	}},
	{name: "Tickets", do: func(ctx context.Context, w *pgas.World) error {
		t, err := containers.NewTickets(ctx, w)
		return freed(ctx, t, err)
	}},
}

// regionCycle opens a region, with arrays and an event, and closes it.
func regionCycle(ctx context.Context, w *pgas.World, mode dsm.Mode) error {
	r, err := dsm.Open(ctx, w, dsm.Options{Mode: mode, Bytes: 1 << 16, Block: 1 << 12})
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[int64](ctx, r, 1<<10)
	if err != nil {
		return err
	}
	if _, err := dsm.NewEvent(ctx, r); err != nil {
		return err
	}
	a.Set(w.PE(), 1)
	return r.Close(ctx)
}

// used is what a PE, or a process, uses.
type used struct {
	heap       uint64 // of Go
	symmetric  uint64
	goroutines int
	files      int
}

// usedNow measures, between two barriers.
func usedNow(ctx context.Context, w *pgas.World) (u used, err error) {
	if err := w.Barrier(ctx); err != nil {
		return u, err
	}
	runtime.GC()
	runtime.GC() // pools keep their contents for one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return u, err
	}
	u = used{m.HeapAlloc, w.HeapUsage().InUse, runtime.NumGoroutine(), len(files)}
	return u, w.Barrier(ctx)
}

// TestNothingGrows does each cycle many times.
func TestNothingGrows(t *testing.T) {
	t.Setenv("PGAS_CHECK", "0") // checks remember what has been freed
	times := map[bool]int{false: 1000, true: 100}[testing.Short()]
	for _, c := range cycles {
		t.Run(c.name, func(t *testing.T) {
			if err := pager.Available(); err != nil && c.name == "dsm paged" {
				t.Skip(err)
			}
			pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error { return c.mustNotGrow(ctx, w, times) })
			if !testing.Short() && c.hosts {
				pgastest.RunHosts(t, 2, 2, func(ctx context.Context, w *pgas.World) error { return c.mustNotGrow(ctx, w, times/10) })
			}
		})
	}
}

// mustNotGrow returns an error if the process uses more after many cycles than after a few.
func (c cycle) mustNotGrow(ctx context.Context, w *pgas.World, times int) error {
	const perCycle = 48 // bytes: a closed thing that is kept takes more; tables that have grown once less
	var before, after used
	for i := range times + 30 {
		if err := c.do(ctx, w); err != nil {
			return fmt.Errorf("cycle %d: %w", i, err)
		}
		var err error
		switch i {
		case 29:
			before, err = usedNow(ctx, w)
		case times + 29:
			after, err = usedNow(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	grown := int64(after.heap) - int64(before.heap)
	if grown > int64(perCycle*times+1<<14) || after.symmetric > before.symmetric || after.goroutines > before.goroutines+4 || after.files > before.files+2 {
		return fmt.Errorf("%d cycles have left %d bytes (%.0f a cycle): before %+v, after %+v", times, grown, float64(grown)/float64(times), before, after)
	}
	return nil
}
