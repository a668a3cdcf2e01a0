package containers_test

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
)

// savedText returns string i of a test: some are short, and some take several pieces.
func savedText(i int) string {
	return fmt.Sprint(i, " ", strings.Repeat("x", int(uint(i)*37%200)))
}

// differ returns an error unless a map has the elements of want and no others.
func differ[V comparable](got iter.Seq2[string, V], want map[string]V) error {
	if all := maps.Collect(got); !maps.Equal(all, want) {
		for k, v := range all {
			if w, ok := want[k]; !ok || w != v {
				return fmt.Errorf("%d elements, want %d; %.20q is %v, want %v, %t", len(all), len(want), k, v, w, ok)
			}
		}
		return fmt.Errorf("%d elements, want %d", len(all), len(want))
	}
	return nil
}

// TestStringMapSaved: a map is restored on other numbers of PEs and members, with all of its elements and no others,
// and can be written to.
func TestStringMapSaved(t *testing.T) {
	store, want := ckpt.Dir(t.TempDir()), map[string]int32{}
	for i, j := range savedOns {
		next := maps.Clone(want)
		for k := range 200 {
			if n := 150*i + k; k%3 == 0 {
				delete(next, savedText(n-200))
			} else {
				next[savedText(n)] = int32(n + i)
			}
		}
		err := j.run(t, store, func(ctx context.Context, p *savedPE) error {
			m, err := containers.NewStringMap[int32](ctx, p.World, append(p.over, containers.Capacity(4000))...)
			if err != nil {
				return err
			}
			if p.team != nil {
				if err := m.Set(ctx, "before", 1); err != nil { // what is restored takes its place
					return err
				}
			}
			if err := p.restore(ctx, m, i > 0); err != nil {
				return err
			}
			if p.team == nil {
				return p.save(ctx)
			}
			if there, err := m.Delete(ctx, "before"); err != nil || there && i > 0 {
				return fmt.Errorf("a key from before Restore: %t, %v", there, err)
			}
			if err := p.team.Barrier(ctx); err != nil {
				return err
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
					err = m.Set(ctx, savedText(n), int32(n+i))
				}
				if err != nil {
					return err
				}
			}
			return p.save(ctx)
		})
		if err != nil {
			t.Fatalf("job %d, %v: %v", i, j, err)
		}
		want = next
	}
}

// TestMapSavedPromised: a map that waits for inserts is not saved.
func TestMapSavedPromised(t *testing.T) {
	err := savedOn{pes: 2}.run(t, ckpt.Dir(t.TempDir()), func(ctx context.Context, p *savedPE) error {
		m, err := containers.NewStringMap[int](ctx, p.World, containers.Capacity(1000))
		if err != nil {
			return err
		}
		if err := p.restore(ctx, m, false); err != nil {
			return err
		}
		if err := m.OnlyInserts(ctx); err != nil {
			return err
		}
		if _, err := m.Insert(ctx, fmt.Sprint("key ", p.PE()), p.PE()); err != nil {
			return err
		}
		if err := p.save(ctx); err == nil || !strings.Contains(err.Error(), "call Writes before Save") {
			return fmt.Errorf("under OnlyInserts: %v", err)
		}
		if err := m.Writes(ctx); err != nil {
			return err
		}
		return p.save(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMapSavedOtherwise: a map of another type is refused, on all PEs, also where a PE alone sees it.
func TestMapSavedOtherwise(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	err := savedOn{pes: 3}.run(t, store, func(ctx context.Context, p *savedPE) error {
		m, err := containers.NewStringMap[int](ctx, p.World, containers.Capacity(100))
		if err != nil {
			return err
		}
		if err := p.restore(ctx, m, false); err != nil {
			return err
		}
		return p.save(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = savedOn{pes: 5}.run(t, store, func(ctx context.Context, p *savedPE) error {
		m, err := containers.NewStringMap[int32](ctx, p.World, containers.Capacity(100))
		if err != nil {
			return err
		}
		return p.restore(ctx, m, true)
	})
	mustRefuse(t, err, "it was saved with other types of keys or values")
}

// missingOnce is an item that is not whole in the newest cut.
type missingOnce struct{ tried bool }

func (m *missingOnce) Checkpoint() ckpt.Parts {
	return ckpt.Parts{
		Kind: "missingOnce",
		Save: func(context.Context) ([]ckpt.Section, error) { return nil, nil },
		Restore: func(context.Context, *ckpt.Saved) error {
			if m.tried {
				return nil
			}
			m.tried = true
			return fs.ErrNotExist
		},
	}
}

// TestMapSavedOlder: a map that is restored from an older cut, after it was from the newest one, which is damaged, has
// nothing of the newest one.
func TestMapSavedOlder(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	for i := range 2 {
		err := savedOn{pes: 2}.run(t, store, func(ctx context.Context, p *savedPE) error {
			m, err := containers.NewMap[int, int](ctx, p.World, containers.Capacity(1000))
			if err != nil {
				return err
			}
			p.set.Add("m", m)
			p.set.Add("other", &missingOnce{tried: i == 0})
			if _, _, err := p.set.Restore(ctx); err != nil {
				return err
			}
			if i == 1 {
				return differ(textKeys(m.All()), map[string]int{"0": 0, "1": 0})
			}
			for cut := range 2 {
				if err := m.Set(ctx, 2*cut+p.PE(), cut); err != nil {
					return err
				}
				if err := p.save(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// textKeys has texts in place of keys.
func textKeys[K comparable, V any](elements iter.Seq2[K, V]) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for k, v := range elements {
			if !yield(fmt.Sprint(k), v) {
				return
			}
		}
	}
}
