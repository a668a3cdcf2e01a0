package containers_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// damagedItem saves other sections than the item in it.
type damagedItem struct {
	ckpt.Item
	r *rand.Rand
}

func (d damagedItem) Checkpoint() ckpt.Parts {
	parts := d.Item.Checkpoint()
	save := parts.Save
	parts.Save = func(ctx context.Context) ([]ckpt.Section, error) {
		all, err := save(ctx)
		for i := range all {
			d.damage(&all[i])
		}
		if d.r.IntN(8) == 0 && len(all) > 0 {
			all = all[:len(all)-1]
		}
		return all, err
	}
	return parts
}

// damage changes a section so that it can still be written.
func (d damagedItem) damage(s *ckpt.Section) {
	data := slices.Concat(s.Data...)
	switch d.r.IntN(5) {
	case 0:
		s.Shape = bytes.Clone(s.Shape)
		for i := range s.Shape {
			s.Shape[i] ^= byte(d.r.Uint32())
		}
	case 1:
		s.Shape = s.Shape[:d.r.IntN(len(s.Shape)+1)]
	case 2:
		s.Count = d.r.IntN(s.Count + 1)
		data = data[:s.Count*s.Width]
	case 3:
		s.Count += 1 + d.r.IntN(20)
		data = append(data, make([]byte, s.Count*s.Width-len(data))...)
	case 4:
		for i := range data {
			if d.r.IntN(4) == 0 {
				data[i] ^= byte(d.r.Uint32())
			}
		}
	}
	s.Data = [][]byte{data}
}

// savedItems makes an item of each kind, with something in it.
var savedItems = []func(ctx context.Context, w *pgas.World) (ckpt.Item, error){
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		return containers.NewArray[savedElement](ctx, w, 50)
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		return containers.NewCounter(ctx, w)
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		m, err := containers.NewTextMap(ctx, w, containers.Capacity(100))
		if err == nil {
			err = m.Set(ctx, savedText(100+w.PE()), savedText(200+w.PE()))
		}
		return m, err
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		q, err := containers.NewQueues[int](ctx, w, 20)
		if err == nil {
			err = q.Mine().Push(ctx, 3)
		}
		return q, err
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		q, err := containers.NewQueue[int](ctx, w, 20)
		if err == nil {
			err = q.Push(ctx, 3)
		}
		return q, err
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		p, err := containers.NewWorkPool[int](ctx, w, 8)
		if err == nil {
			p.Add(1)
		}
		return p, err
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		x, err := containers.NewTickets(ctx, w, containers.Batch(4))
		if err == nil {
			x.Next()
		}
		return x, err
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		d, err := containers.NewDistObject[int](ctx, w)
		if err == nil {
			d.Publish(1)
		}
		return d, err
	},
	func(ctx context.Context, w *pgas.World) (ckpt.Item, error) {
		b, err := containers.NewBloom[int64](ctx, w, 100, 0.1)
		if err == nil {
			b.Add(1)
		}
		return b, err
	},
}

// TestSavedDamaged: sections that no container has saved are an error, or restored as far as they make sense. Nothing
// panics, and all PEs get the same.
func TestSavedDamaged(t *testing.T) {
	refused := 0
	for kind, make := range savedItems {
		for seed := range uint64(8) {
			store := ckpt.Dir(t.TempDir())
			for job := range 2 {
				var restored [2]error
				err := savedOn{pes: 2}.run(t, store, func(ctx context.Context, p *savedPE) error {
					it, err := make(ctx, p.World)
					if err != nil {
						return err
					}
					if job == 1 {
						p.set.Add("it", it)
						_, _, restored[p.PE()] = p.set.Restore(ctx)
						return nil
					}
					r := rand.New(rand.NewPCG(seed, uint64(10*kind+p.PE())))
					if err := p.restore(ctx, damagedItem{it, r}, false); err != nil {
						return err
					}
					return p.save(ctx)
				})
				if err == nil && (restored[0] == nil) != (restored[1] == nil) {
					err = fmt.Errorf("PEs got %v and %v", restored[0], restored[1])
				}
				if err != nil {
					t.Fatalf("item %d, seed %d, job %d: %v", kind, seed, job, err)
				}
				if restored[0] != nil {
					refused++
				}
			}
		}
	}
	if refused < 20 {
		t.Errorf("%d were refused", refused)
	}
}
