package containers_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
)

// TestTicketsSaved: over jobs on other numbers of PEs and members, with other homes and batches, no number comes twice,
// and the numbers go on where they were.
func TestTicketsSaved(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	had := map[uint64]bool{}
	for i, j := range savedOns {
		var mu sync.Mutex
		batch := 1 + 7*(i%3)
		err := j.run(t, store, func(ctx context.Context, p *savedPE) error {
			tickets, err := containers.NewTickets(ctx, p.World, append(p.over, containers.Home(i%j.members()), containers.Batch(batch))...)
			if err != nil {
				return err
			}
			if p.team != nil && i > 0 {
				tickets.Next() // from before Restore
			}
			if err := p.restore(ctx, tickets, i > 0); err != nil {
				return err
			}
			if p.team == nil {
				return p.save(ctx)
			}
			for range 30 {
				n := tickets.Next()
				mu.Lock()
				twice := had[n]
				had[n] = true
				mu.Unlock()
				if twice {
					return fmt.Errorf("number %d has come twice", n)
				}
			}
			return p.save(ctx)
		})
		if err != nil {
			t.Fatalf("job %d, %v: %v", i, j, err)
		}
	}
	most := uint64(0)
	for n := range had {
		most = max(most, n)
	}
	// Each member of a job with a batch leaves less than two batches.
	if most >= uint64(len(had))+2*15*10*uint64(len(savedOns)) {
		t.Errorf("of %d numbers the last is %d", len(had), most)
	}
}

// TestTicketsSavedInOrder: with no batch the next number is the one that it would have been.
func TestTicketsSavedInOrder(t *testing.T) {
	store := ckpt.Dir(t.TempDir())
	for i := range 3 {
		err := savedOn{pes: 3 - i}.run(t, store, func(ctx context.Context, p *savedPE) error {
			tickets, err := containers.NewTickets(ctx, p.World)
			if err != nil {
				return err
			}
			if err := p.restore(ctx, tickets, i > 0); err != nil {
				return err
			}
			if p.PE() == 0 {
				if n := tickets.NextN(10); n != uint64(10*i) {
					return fmt.Errorf("the next number is %d, want %d", n, 10*i)
				}
			}
			return p.save(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
