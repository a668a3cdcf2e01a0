package pgas_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/ucx"
)

type named int32

// TestAtomicsOfEveryType holds every operation on every type against plain Go arithmetic.
func TestAtomicsOfEveryType(t *testing.T) {
	onEvery(t, 2, everyType)
}

func everyType(ctx context.Context, w *pgas.World) error {
	for _, check := range []func(context.Context, *pgas.World) error{
		words[int32], words[uint32], words[int64], words[uint64], words[int], words[uint], words[uintptr], words[named],
		floats[float32], floats[float64],
	} {
		if err := check(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// TestAtomicsOfTheNIC: the same where the network executes every atomic, those to the own host by
// loopback.
func TestAtomicsOfTheNIC(t *testing.T) {
	if !ucx.Available {
		t.Skip("this test binary was built without cgo, so it has no network to execute atomics")
	}
	const nic = "PGAS_AMO=nic"
	pgastest.RunProcesses(t, 2, everyType, nic)
	t.Run("native puts", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, everyType, nic, "PGAS_RMA=native") })
	t.Run("mixed", func(t *testing.T) { pgastest.RunHosts(t, 3, 2, tickets, nic) })
	t.Run("signals", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, signalsCarryData, nic) })
	t.Run("fence", func(t *testing.T) { pgastest.RunProcesses(t, 2, fenceOrders, nic) })
	t.Run("fence between hosts", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, fenceOrders, nic) })
	t.Run("native fence", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, fenceOrders, "PGAS_RMA=native") })
	t.Run("native signals", func(t *testing.T) { pgastest.RunHosts(t, 2, 2, signalsCarryData, "PGAS_RMA=native") })
}

func words[W pgas.Word](ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[W](ctx, w, 3)
	if err != nil {
		return err
	}
	other := 1 - w.PE()
	a := pgas.AtomicOf(s, 1)
	var minusOne W
	minusOne--
	values := []W{0, 1, 5, 0x7ffffffe, minusOne, minusOne - 1, ^(minusOne >> 1)}
	for _, first := range values {
		for _, v := range values {
			for _, op := range []struct {
				name     string
				do       func() W // returns the old value
				want     W
				noReturn bool
			}{
				{"fetch", func() W { return a.Fetch(other) }, first, false},
				{"set", func() W { a.Set(other, v); return 0 }, v, true},
				{"swap", func() W { return a.Swap(other, v) }, v, false},
				{"compare-swap that happens", func() W { return a.CompareSwap(other, first, v) }, v, false},
				{"compare-swap that does not", func() W { return a.CompareSwap(other, first+1, v) }, first, false},
				{"fetch-add", func() W { return a.FetchAdd(other, v) }, first + v, false},
				{"add", func() W { a.Add(other, v); return 0 }, first + v, true},
				{"fetch-inc", func() W { return a.FetchInc(other) }, first + 1, false},
				{"inc", func() W { a.Inc(other); return 0 }, first + 1, true},
				{"fetch-and", func() W { return a.FetchAnd(other, v) }, first & v, false},
				{"and", func() W { a.And(other, v); return 0 }, first & v, true},
				{"fetch-or", func() W { return a.FetchOr(other, v) }, first | v, false},
				{"or", func() W { a.Or(other, v); return 0 }, first | v, true},
				{"fetch-xor", func() W { return a.FetchXor(other, v) }, first ^ v, false},
				{"xor", func() W { a.Xor(other, v); return 0 }, first ^ v, true},
			} {
				a.Set(other, first)
				old := op.do()
				if old != first && !op.noReturn {
					return fmt.Errorf("%s on %T %v: returned %v, not the old value", op.name, first, first, old)
				}
				if got := a.Fetch(other); got != op.want {
					return fmt.Errorf("%s(%v) on %T %v: left %v, want %v", op.name, v, first, first, got, op.want)
				}
			}
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if s.Local()[0] != 0 || s.Local()[2] != 0 {
		return fmt.Errorf("atomics on %T changed their neighbours: %v", values[0], s.Local())
	}
	return s.Free(ctx)
}

func floats[F pgas.Float](ctx context.Context, w *pgas.World) error {
	s, err := pgas.Alloc[F](ctx, w, 1)
	if err != nil {
		return err
	}
	other := 1 - w.PE()
	a := pgas.AtomicFloatOf(s, 0)
	for _, v := range []F{0, 1.5, -2.25e10, F(math.Inf(1)), F(math.Copysign(0, -1))} {
		a.Set(other, v)
		if got := a.Fetch(other); got != v {
			return fmt.Errorf("set %v, fetched %v", v, got)
		}
		if old := a.Swap(other, v+1); old != v {
			return fmt.Errorf("swap returned %v, want %v", old, v)
		}
		if old := a.CompareSwap(other, v+1, 42); old != v+1 || a.Fetch(other) != 42 {
			return fmt.Errorf("compare-swap returned %v and left %v", old, a.Fetch(other))
		}
		if old := a.CompareSwap(other, 41, 7); old != 42 || a.Fetch(other) != 42 {
			return fmt.Errorf("a compare-swap that must not happen returned %v and left %v", old, a.Fetch(other))
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return s.Free(ctx)
}

// TestFetchAddIsAtomic: many goroutines of every PE add to one word; each sees a value of its own.
func TestFetchAddIsAtomic(t *testing.T) {
	onEvery(t, 3, tickets)
}

func tickets(ctx context.Context, w *pgas.World) error {
	const workers, rounds = 4, 100
	s, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	seen, err := pgas.Alloc[int32](ctx, w, workers*rounds*w.NPEs())
	if err != nil {
		return err
	}
	done := make(chan error, workers)
	for range workers {
		go func() {
			done <- panicOf(func() {
				for range rounds {
					ticket := pgas.AtomicOf(s, 0).FetchInc(0)
					pgas.AtomicOf(seen, int(ticket)).Inc(0)
				}
			})
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() != 0 {
		return nil
	}
	for i, n := range seen.Local() {
		if n != 1 {
			return fmt.Errorf("ticket %d was drawn %d times", i, n)
		}
	}
	return nil
}

// TestFenceOrdersPutsAndAtomics: to one PE, whatever carries them (a trap of the OpenSHMEM
// specification). The target looks at plain memory while it changes, so its PEs are processes.
func TestFenceOrdersPutsAndAtomics(t *testing.T) {
	pgastest.RunProcesses(t, 2, fenceOrders)
	if ucx.Available {
		pgastest.RunHosts(t, 2, 2, fenceOrders)
	}
}

func fenceOrders(ctx context.Context, w *pgas.World) error {
	const rounds = 300
	s, err := pgas.Alloc[int64](ctx, w, 3)
	if err != nil {
		return err
	}
	count, data, last := pgas.AtomicOf(s, 0), s.At(1), s.At(2)
	if w.PE() == 0 {
		for i := range int64(rounds) {
			count.Inc(1)
			data.Put(1, i+1)
			if i%2 == 0 {
				w.Fence()
			} else {
				w.Context().FencePE(1)
			}
			last.Put(1, i+1)
			w.Fence()
		}
		return w.Barrier(ctx)
	}
	for seen := int64(0); seen < rounds; {
		if seen = last.Get(1); count.Fetch(1) < seen || data.Get(1) < seen {
			return fmt.Errorf("put %d overtook a fence: count is %d, data %d", seen, count.Fetch(1), data.Get(1))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Barrier(ctx)
}
