package dsm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestBarriersWithAndWithoutNews: barriers after which there is something to acquire follow others, under every
// protocol and with so short a list of notices that there is only a number to tell.
func TestBarriersWithAndWithoutNews(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		for _, p := range protocols.All() {
			for _, limit := range []int{0, 1, 64} {
				o := opened{
					dsm.Options{Bytes: 1 << 16, Block: 1 << 12, Mode: dsm.Soft, Notices: limit}, protocols.Choice{Protocol: p},
				}
				if err := newsNowAndThen(ctx, w, o); err != nil {
					return fmt.Errorf("%v, %d notices: %w", p, limit, err)
				}
			}
		}
		return nil
	}
	pgastest.RunGoroutines(t, 3, body)
	pgastest.RunSim(t, 3, body)
}

func TestBarriersWithAndWithoutNewsPaged(t *testing.T) {
	needsPaging(t)
	body := func(ctx context.Context, w *pgas.World) error {
		return newsNowAndThen(ctx, w, opened{Options: dsm.Options{Bytes: 1 << 16, Block: 1 << 12, Mode: dsm.Paged}})
	}
	pgastest.RunProcesses(t, 2, body)
	pgastest.RunHosts(t, 3, 2, body)
}

// newsNowAndThen writes before some barriers, and reads everything after each.
func newsNowAndThen(ctx context.Context, w *pgas.World, o opened) error {
	r, err := o.open(ctx, w)
	if err != nil {
		return err
	}
	const elements, apart = 16, 512 // an element in each block
	a, err := dsm.Alloc[int64](ctx, r, elements*apart)
	if err != nil {
		return err
	}
	var want [elements]int64
	for round := range 20 {
		for k := range elements {
			if round%5 < 3 || k%w.NPEs() != round%w.NPEs() {
				continue // nothing is new, or this PE leaves the element alone
			}
			want[k]++
			if (k+round/5)%w.NPEs() == w.PE() {
				a.Set(k*apart, want[k])
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		for k, v := range want {
			if got := a.At(k * apart); got != v {
				return fmt.Errorf("PE %d, round %d: element %d is %d, want %d", w.PE(), round, k, got, v)
			}
		}
		if (round+1)%5 >= 3 { // the readers are done before the next round's writers begin
			if err := r.Barrier(ctx); err != nil {
				return err
			}
		}
	}
	return r.Close(ctx)
}
