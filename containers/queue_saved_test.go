package containers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
)

// TestQueueSaved: the items of a queue are restored in their order at another home, on other numbers of PEs and members
// and with another capacity, and pushes and pops go on. Its tickets begin before they wrap.
func TestQueueSaved(t *testing.T) {
	for _, many := range []bool{false, true} {
		store := ckpt.Dir(t.TempDir())
		var want []int32
		next := int32(0)
		for i, j := range savedOns {
			home := i % j.members()
			pushes, pops := 300+i, 270
			err := j.run(t, store, func(ctx context.Context, p *savedPE) error {
				opts := append(p.over, containers.Home(home))
				if many {
					opts = append(opts, containers.ManyConsumers())
				}
				q, err := containers.NewQueueAt[int32](ctx, p.World, containers.QueueWrap-uint64(40*i), 1000+100*i, opts...)
				if err != nil {
					return err
				}
				if p.team != nil {
					if err := q.Push(ctx, -1); err != nil { // what is restored takes its place
						return err
					}
				}
				if err := p.restore(ctx, q, i > 0); err != nil {
					return err
				}
				if p.team == nil {
					return p.save(ctx)
				}
				return queueJob(ctx, p, q, home, i == 0, want, next, pushes, pops)
			})
			if err != nil {
				t.Fatalf("job %d, %v, many %t: %v", i, j, many, err)
			}
			for range pushes {
				want, next = append(want, next), next+1
			}
			want = want[pops:]
		}
	}
}

// queueJob compares the queue with the items that it should have, and pushes and pops some, all at the home.
func queueJob(ctx context.Context, p *savedPE, q *containers.Queue[int32], home int, first bool, want []int32, next int32, pushes, pops int) error {
	if p.team.PE() != home {
		return p.save(ctx)
	}
	if first {
		for range p.team.NPEs() {
			if _, err := q.Pop(ctx); err != nil {
				return err
			}
		}
	}
	if q.Len() != len(want) {
		return fmt.Errorf("%d items, want %d", q.Len(), len(want))
	}
	items := make([]int32, pushes)
	for i := range items {
		items[i] = next + int32(i)
	}
	if n, err := q.PushAll(ctx, items); err != nil || n != pushes {
		return fmt.Errorf("%d pushed: %v", n, err)
	}
	want = append(want[:len(want):len(want)], items...)
	for i := range pops {
		if v, err := q.Pop(ctx); err != nil || v != want[i] {
			return fmt.Errorf("item %d is %d, want %d: %v", i, v, want[i], err)
		}
	}
	return p.save(ctx)
}

// TestQueueSavedClosed: a queue that was closed is closed, and has its items before.
func TestQueueSavedClosed(t *testing.T) {
	for _, many := range []bool{false, true} {
		store := ckpt.Dir(t.TempDir())
		for i := range 2 {
			err := savedOn{pes: 2 + i}.run(t, store, func(ctx context.Context, p *savedPE) error {
				var opts []containers.Option
				if many {
					opts = append(opts, containers.ManyConsumers())
				}
				q, err := containers.NewQueue[int64](ctx, p.World, 2000, opts...)
				if err != nil {
					return err
				}
				if err := p.restore(ctx, q, i > 0); err != nil || p.PE() > 0 && i > 0 {
					return err
				}
				if i == 0 {
					items := make([]int64, 600)
					if _, err := q.PushAll(ctx, items); err != nil {
						return err
					}
					if err := p.Barrier(ctx); err != nil {
						return err
					}
					if err := q.Close(); err != nil {
						return err
					}
					return p.save(ctx)
				}
				if err := q.Push(ctx, 1); !errors.Is(err, containers.ErrQueueClosed) {
					return fmt.Errorf("a push: %v", err)
				}
				for range 1200 {
					if _, err := q.Pop(ctx); err != nil {
						return err
					}
				}
				if _, err := q.Pop(ctx); !errors.Is(err, containers.ErrQueueClosed) {
					return fmt.Errorf("a pop: %v", err)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestQueuesSaved: each queue of Queues is restored.
func TestQueuesSaved(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	run := func(j savedOn, saved bool) error {
		return j.run(t, store, func(ctx context.Context, p *savedPE) error {
			q, err := containers.NewQueues[int](ctx, p.World, 100, p.over...)
			if err != nil {
				return err
			}
			if err := p.restore(ctx, q, saved); err != nil {
				return err
			}
			if p.team == nil {
				return p.save(ctx)
			}
			for i := range p.team.NPEs() {
				if n := q.Of(i).Len(); saved != (n > 0) {
					return fmt.Errorf("queue %d has %d items", i, n)
				}
			}
			if err := p.team.Barrier(ctx); err != nil {
				return err
			}
			if saved {
				for range p.team.NPEs() {
					if v, err := q.Mine().Pop(ctx); err != nil || v%10 != p.team.PE() {
						return fmt.Errorf("queue %d has %d: %v", p.team.PE(), v, err)
					}
				}
			}
			if err := p.team.Barrier(ctx); err != nil {
				return err
			}
			for i := range p.team.NPEs() {
				if err := q.Of(i).Push(ctx, 10*p.team.PE()+i); err != nil {
					return err
				}
			}
			return p.save(ctx)
		})
	}
	for i := range 3 {
		if err := run(savedOn{5, true}, i > 0); err != nil {
			t.Fatal(err)
		}
	}
	mustRefuse(t, run(savedOn{pes: 3}, true), "start the job with 5 PEs, and not with 3")
	mustRefuse(t, run(savedOn{pes: 5}, true), "PE 1 has saved no queue: its members were others")
}

// TestQueueNotSaved: a queue is not saved while a push waits for room, and not restored without room for its items.
func TestQueueNotSaved(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	err := savedOn{pes: 2}.run(t, store, func(ctx context.Context, p *savedPE) error {
		q, err := containers.NewQueue[int](ctx, p.World, 100)
		if err != nil {
			return err
		}
		if err := p.restore(ctx, q, false); err != nil {
			return err
		}
		if p.PE() == 0 {
			if _, err := q.PushAll(ctx, make([]int, 90)); err != nil {
				return err
			}
		}
		if err := p.save(ctx); err != nil {
			return err
		}
		if p.PE() == 0 {
			q.ReserveOnly()
		}
		if err := p.save(ctx); err == nil || !strings.Contains(err.Error(), "a Push is under way") {
			return fmt.Errorf("with a push: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = savedOn{pes: 3}.run(t, store, func(ctx context.Context, p *savedPE) error {
		q, err := containers.NewQueue[int](ctx, p.World, 89)
		if err != nil {
			return err
		}
		return p.restore(ctx, q, true)
	})
	mustRefuse(t, err, "it has room for 89 items, and was saved with 90: give it a capacity of 90 at least")
}
