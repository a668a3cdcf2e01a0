package pgas_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
)

// TestPtr: a neighbour's memory is there to load and store, another host's is nil.
func TestPtr(t *testing.T) {
	onReal(t, 4, func(ctx context.Context, w *pgas.World) error {
		s, err := pgas.Alloc[int64](ctx, w, 8)
		if err != nil {
			return err
		}
		sigs, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
		if err != nil {
			return err
		}
		mine := s.Local()
		mine[1] = int64(w.PE()) + 100
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for pe := range w.NPEs() {
			near := w.HostOf(pe) == w.Host()
			all, some, one := s.Ptr(pe), s.Range(1, 3).Ptr(pe), s.At(1).Ptr(pe)
			if (all != nil) != near || (some != nil) != near || (one != nil) != near {
				return fmt.Errorf("PE %d on %s: pointers %v, %v, %v", pe, w.HostOf(pe), all != nil, some != nil, one != nil)
			}
			if near && (len(all) != 8 || len(some) != 2 || *one != int64(pe)+100 || &all[1] != one || &some[0] != one) {
				return fmt.Errorf("PE %d: %v, %v, %d", pe, all, some, *one)
			}
		}
		return storeThrough(ctx, w, s, pgas.SignalOf(sigs, 0))
	})
}

// storeThrough lets each PE store into the memory of the next one of its host, and tell it.
func storeThrough(ctx context.Context, w *pgas.World, s pgas.Sym[int64], sig pgas.SignalRef) error {
	host := w.SharedTeam()
	next := (host.PE() + 1) % host.NPEs()
	before := host.WorldPE((host.PE() + host.NPEs() - 1) % host.NPEs())
	theirs := s.On(host.Context()).At(7).Ptr(next) // a number of the team
	for i := range int64(100) {
		*theirs = i<<8 | int64(w.PE())
		w.Fence()
		sig.On(host.Context()).Set(next, uint64(i+1))
		if _, err := sig.WaitUntil(ctx, pgas.GE, uint64(i+1)); err != nil {
			return err
		}
		if got, want := *s.At(7).Local(), i<<8|int64(before); got != want {
			return fmt.Errorf("round %d: %#x, want %#x", i, got, want)
		}
		if err := host.Sync(ctx); err != nil {
			return err
		}
	}
	return w.Barrier(ctx)
}

// TestPtrOfNothing: the zero Slice has no memory. A zero Ref, which would have one element, is misuse (zero_test.go).
func TestPtrOfNothing(t *testing.T) {
	var s pgas.Slice[int32]
	if s.Ptr(0) != nil {
		t.Fatal("a reference to nothing has memory")
	}
}
