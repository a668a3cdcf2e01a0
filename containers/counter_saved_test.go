package containers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
)

// TestCounterSaved: the sum is restored on other numbers of PEs and members, and goes on from there.
func TestCounterSaved(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	want := int64(0)
	for i, j := range savedOns {
		err := j.run(t, store, func(ctx context.Context, p *savedPE) error {
			c, err := containers.NewCounter(ctx, p.World, p.over...)
			if err != nil {
				return err
			}
			if p.team != nil {
				c.Add(77) // what is restored takes its place
			}
			if err := p.restore(ctx, c, i > 0); err != nil {
				return err
			}
			if p.team != nil {
				if i == 0 {
					c.Add(-77)
				}
				sum, err := c.SumAll(ctx)
				if about, err2 := c.Sum(ctx); err != nil || err2 != nil || sum != want || about != want {
					return fmt.Errorf("%d and %d, want %d: %v, %v", sum, about, want, err, err2)
				}
				if err := p.team.Barrier(ctx); err != nil {
					return err
				}
				c.Add(int64(1000*i + p.team.PE()))
			}
			return p.save(ctx)
		})
		if err != nil {
			t.Fatalf("job %d, %v: %v", i, j, err)
		}
		members := j.members()
		want += int64(1000*i*members + members*(members-1)/2)
	}
}

// TestCounterSavedOwn: on as many PEs each has what it had added.
func TestCounterSavedOwn(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	for i := range 2 {
		err := savedOn{pes: 3}.run(t, store, func(ctx context.Context, p *savedPE) error {
			c, err := containers.NewCounter(ctx, p.World)
			if err != nil {
				return err
			}
			if err := p.restore(ctx, c, i > 0); err != nil {
				return err
			}
			if want := int64(i * (p.PE() + 5)); c.Own() != want {
				return fmt.Errorf("PE %d has added %d, want %d", p.PE(), c.Own(), want)
			}
			c.Add(int64(p.PE() + 5))
			return p.save(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
