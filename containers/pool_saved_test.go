package containers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// TestWorkPoolSaved: the tasks of a pool, most of them in Go's memory, are restored on other numbers of PEs and
// members, dealt out evenly; each is run once in the end, and makes others.
func TestWorkPoolSaved(t *testing.T) {
	const deque = 16
	store := ckpt.Dir(t.TempDir())
	next, popped := 0, map[int32]bool{} // tasks that were added, and taken from the pool before a Save
	for i, j := range savedOns {
		last := i == len(savedOns)-1
		taken := make([][]int32, j.members())
		adds := 100 + 17*i
		first := next
		err := j.run(t, store, func(ctx context.Context, p *savedPE) error {
			pool, err := containers.NewWorkPoolAt[int32](ctx, p.World, ^uint32(0)-uint32(i), deque, p.over...)
			if err != nil {
				return err
			}
			if p.team != nil {
				pool.Add(-1) // what is restored takes its place
			}
			if err := p.restore(ctx, pool, i > 0); err != nil {
				return err
			}
			if p.team == nil {
				return p.save(ctx)
			}
			if i == 0 {
				if v, ok := pool.PopOnce(); !ok || v != -1 {
					return fmt.Errorf("the first task is %d, %t", v, ok)
				}
			}
			me := p.team.PE()
			if last {
				taken[me], err = runTasks(ctx, p.team, pool)
				return err
			}
			lo, hi := p.team.Share(adds)
			for k := lo; k < hi; k++ {
				pool.Add(int32(first + k))
			}
			for range 20 {
				if v, ok := pool.PopOnce(); ok {
					taken[me] = append(taken[me], v)
				}
			}
			return p.save(ctx)
		})
		if err != nil {
			t.Fatalf("job %d, %v: %v", i, j, err)
		}
		if !last {
			next += adds
		}
		for _, all := range taken {
			for _, v := range all {
				if popped[v] || v < 0 || int(v) >= next {
					t.Fatalf("job %d: task %d has come twice, or from nowhere", i, v)
				}
				popped[v] = true
			}
		}
	}
	if len(popped) != next {
		t.Errorf("%d tasks have been run, want %d", len(popped), next)
	}
}

// runTasks runs all tasks of a pool, each of which makes one more that does nothing, and returns those of this PE.
func runTasks(ctx context.Context, team *pgas.Team, pool *containers.WorkPool[int32]) (mine []int32, err error) {
	ends := int64(0)
	err = pool.Run(ctx, func(_ context.Context, v int32, add func(int32)) error {
		if v == -2 {
			ends++
			return nil
		}
		mine = append(mine, v)
		add(-2)
		return nil
	})
	if err != nil {
		return nil, err
	}
	ends, err = pgas.SumValue(ctx, team, ends)
	runs, err2 := pgas.SumValue(ctx, team, int64(len(mine)))
	if err != nil || err2 != nil || ends != runs {
		return nil, fmt.Errorf("%d ends of %d tasks: %v, %v", ends, runs, err, err2)
	}
	return mine, nil
}

// TestWorkPoolNotSaved: a pool is not saved by a task, and not restored without room for its tasks or with tasks of
// another type.
func TestWorkPoolNotSaved(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	err := savedOn{pes: 2}.run(t, store, func(ctx context.Context, p *savedPE) error {
		pool, err := containers.NewWorkPool[int32](ctx, p.World, 64)
		if err != nil {
			return err
		}
		if err := p.restore(ctx, pool, false); err != nil {
			return err
		}
		for i := range 40 {
			pool.Add(int32(i))
		}
		if err := p.save(ctx); err != nil {
			return err
		}
		return pool.Run(ctx, func(ctx context.Context, task int32, _ func(int32)) error {
			if _, err := pool.Checkpoint().Save(ctx); err == nil || !strings.Contains(err.Error(), "WorkPool.Run is under way: call Save between runs") {
				return fmt.Errorf("in a task: %v", err)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = savedOn{pes: 1}.run(t, store, func(ctx context.Context, p *savedPE) error {
		pool, err := containers.NewWorkPool[int32](ctx, p.World, 64, containers.Spill(15))
		if err != nil {
			return err
		}
		return p.restore(ctx, pool, true)
	})
	mustRefuse(t, err, "80 tasks were saved, and each of 1 member has room for 64 and 15 more")
	err = savedOn{pes: 1}.run(t, store, func(ctx context.Context, p *savedPE) error {
		pool, err := containers.NewWorkPool[int64](ctx, p.World, 64)
		if err != nil {
			return err
		}
		return p.restore(ctx, pool, true)
	})
	mustRefuse(t, err, "were saved as another type, of 4 bytes")
}
