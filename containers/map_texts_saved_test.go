package containers_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
)

// TestTextMapSaved: a map is restored on other numbers of PEs and members, with all of its elements and no others. What
// is written afterwards has no number of a value that was restored: all values are compared again.
func TestTextMapSaved(t *testing.T) {
	store, want := ckpt.Dir(t.TempDir()), map[string]string{}
	for i, j := range savedOns {
		next := maps.Clone(want)
		for k := range 200 {
			if n := 150*i + k; k%3 == 0 {
				delete(next, savedText(n-200))
			} else {
				next[savedText(n)] = savedText(7*n + i)
			}
		}
		err := j.run(t, store, func(ctx context.Context, p *savedPE) error {
			m, err := containers.NewTextMap(ctx, p.World, append(p.over, containers.Capacity(4000))...)
			if err != nil {
				return err
			}
			if err := p.restore(ctx, m, i > 0); err != nil {
				return err
			}
			if p.team == nil {
				return p.save(ctx)
			}
			if err := differ(m.All(), want); err != nil {
				return err
			}
			if err := p.team.Barrier(ctx); err != nil {
				return err
			}
			lo, hi := p.team.Share(200)
			for k := lo; k < hi; k++ {
				n := 150*i + k
				if k%3 == 0 {
					_, err = m.Delete(ctx, savedText(n-200))
				} else {
					err = m.Set(ctx, savedText(n), savedText(7*n+i))
				}
				if err != nil {
					return err
				}
			}
			if err := p.team.Barrier(ctx); err != nil {
				return err
			}
			if err := differ(m.All(), next); err != nil {
				return fmt.Errorf("after writes: %w", err)
			}
			return p.save(ctx)
		})
		if err != nil {
			t.Fatalf("job %d, %v: %v", i, j, err)
		}
		want = next
	}
}
