package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestAlloc(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		before := w.HeapUsage()
		a, err := pgas.Alloc[byte](ctx, w, 1000)
		if err != nil {
			return err
		}
		b, err := pgas.AllocAligned[int32](ctx, w, 10, 4096)
		if err != nil {
			return err
		}
		if at := uintptr(unsafe.Pointer(&b.Local()[0])); at%4096 != 0 {
			return fmt.Errorf("an allocation aligned to 4096 is at %#x", at)
		}
		for i := range a.Local() {
			a.Local()[i] = byte(i)
		}
		grown, err := a.Realloc(ctx, 3000)
		if err != nil {
			return err
		}
		for i, v := range grown.Local() {
			if want := byte(i); i < 1000 && v != want || i >= 1000 && v != 0 {
				return fmt.Errorf("after realloc element %d is %d", i, v)
			}
		}
		raw, err := pgas.AllocRaw[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		if use := w.HeapUsage(); use.Blocks != before.Blocks+3 || use.InUse < before.InUse+3000+40+800 {
			return fmt.Errorf("usage is %+v", use)
		}
		for _, free := range []func(context.Context) error{grown.Free, b.Free, raw.Free} {
			if err := free(ctx); err != nil {
				return err
			}
		}
		if use := w.HeapUsage(); use.InUse != before.InUse || use.Blocks != before.Blocks {
			return fmt.Errorf("usage is %+v after everything was freed, was %+v", use, before)
		}
		again, err := pgas.Alloc[byte](ctx, w, 5000)
		if err != nil {
			return err
		}
		for i, v := range again.Local() {
			if v != 0 {
				return fmt.Errorf("reused memory is not zero at %d", i)
			}
		}
		return again.Free(ctx)
	})
}

// TestAllocAligned: the address is a multiple of every alignment that is allowed, on every PE, and the memory is
// like any other: zeroed, reachable from other PEs, and it can be reallocated and freed.
func TestAllocAligned(t *testing.T) {
	const largest = 2 << 20
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		before := w.HeapUsage()
		for align := 1; align <= largest; align *= 2 {
			if err := useAligned(ctx, w, align); err != nil {
				return fmt.Errorf("alignment %d: %w", align, err)
			}
		}
		if use := w.HeapUsage(); use.InUse != before.InUse || use.Blocks != before.Blocks {
			return fmt.Errorf("usage is %+v after everything was freed, was %+v", use, before)
		}
		for _, align := range []int{-8, 0, 3, 4097, largest + 4096, 2 * largest, 1 << 40} {
			err := panicOf(func() { pgas.AllocAligned[byte](ctx, w, 1, align) })
			var misuse *pgas.UsageError
			if !errors.As(err, &misuse) {
				return fmt.Errorf("alignment %d: %v", align, err)
			}
			if align == 2*largest && !strings.Contains(err.Error(), "2097152") {
				return fmt.Errorf("the message does not say which alignment is the largest: %w", err)
			}
		}
		return nil
	})
}

// useAligned allocates a small neighbour first, so that the next free offset is not aligned by chance.
func useAligned(ctx context.Context, w *pgas.World, align int) error {
	const n = 24
	neighbour, err := pgas.Alloc[byte](ctx, w, 1)
	if err != nil {
		return err
	}
	s, err := pgas.AllocAligned[int64](ctx, w, n, align)
	if err != nil {
		return err
	}
	if at := uintptr(unsafe.Pointer(&s.Local()[0])); at%uintptr(align) != 0 {
		return fmt.Errorf("the block is at %#x on PE %d", at, w.PE())
	}
	for i, v := range s.Local() {
		if v != 0 {
			return fmt.Errorf("element %d is %d in a new block", i, v)
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	next := (w.PE() + 1) % w.NPEs()
	for i := range n {
		s.At(i).Put(next, int64(align+i))
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	s, err = s.Realloc(ctx, 2*n)
	if err != nil {
		return err
	}
	for i, v := range s.Local() {
		if want := int64(align + i); i < n && v != want || i >= n && v != 0 {
			return fmt.Errorf("after realloc element %d is %d", i, v)
		}
	}
	return errors.Join(s.Free(ctx), neighbour.Free(ctx))
}

// TestEmptyAllocMakesNoBarrier: only one PE allocates nothing, and nobody waits (a trap of the
// OpenSHMEM specification).
func TestEmptyAllocMakesNoBarrier(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		if w.PE() == 0 {
			s, err := pgas.Alloc[int64](ctx, w, 0) //pgasvet:ok nothing is allocated
			if err != nil || s.Len() != 0 || len(s.Local()) != 0 {
				return fmt.Errorf("%d elements, %w", s.Len(), err)
			}
			if err := s.Free(ctx); err != nil {
				return err
			}
		}
		return w.Barrier(ctx)
	})
}

// TestHeapFull: too large a request fails in the same way everywhere and leaves the heap as it was.
func TestHeapFull(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		before := w.HeapUsage()
		for _, n := range []int{1 << 40, 1 << 62} {
			_, err := pgas.Alloc[int64](ctx, w, n)
			var full *pgas.HeapFullError
			if !errors.As(err, &full) || !strings.Contains(err.Error(), "PGAS_HEAP_MAX") {
				return fmt.Errorf("%d elements: %v", n, err)
			}
		}
		if after := w.HeapUsage(); after.InUse != before.InUse || after.Blocks != before.Blocks {
			return fmt.Errorf("a failed allocation changed the heap: %+v, was %+v", after, before)
		}
		s, err := pgas.Alloc[int64](ctx, w, 1)
		if err != nil {
			return err
		}
		return s.Free(ctx)
	})
}

// TestMismatch: PEs that disagree all learn who asked for what, and can go on.
func TestMismatch(t *testing.T) {
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		n := 8
		if w.PE() == 1 {
			n = 9
		}
		_, err := pgas.Alloc[int32](ctx, w, n)
		var mismatch *pgas.MismatchError
		if !errors.As(err, &mismatch) {
			return fmt.Errorf("different counts: %v", err)
		}
		for _, want := range []string{"PE 0,2: alloc of 8 × int32", "PE 1: alloc of 9 × int32"} {
			if !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%q does not say %q", err, want)
			}
		}
		layout := pgas.Layout{Name: "x.Cell", Hash: 1}
		if w.PE() == 2 {
			layout.Hash = 2
		}
		if _, err := pgas.AllocLayout[int32](ctx, w, 8, layout); !errors.As(err, &mismatch) {
			return fmt.Errorf("different layouts: %v", err)
		}
		align := 64
		if w.PE() == 2 {
			align = 4096
		}
		if _, err := pgas.AllocAligned[int32](ctx, w, 8, align); !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "aligned to 4096") {
			return fmt.Errorf("different alignments: %v", err)
		}
		s, err := pgas.Alloc[int32](ctx, w, 8)
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			_, err = pgas.Alloc[int32](ctx, w, 1) //pgasvet:ok tests the mismatch
		} else {
			err = s.Free(ctx)
		}
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "free of the block") {
			return fmt.Errorf("alloc against free: %v", err)
		}
		return s.Free(ctx)
	})
}

// TestRepeatedCollectives: records of one call are not overwritten by the next.
func TestRepeatedCollectives(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error {
		for i := range 50 {
			s, err := pgas.Alloc[int64](ctx, w, i+1)
			if err != nil {
				return err
			}
			if err := s.Free(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestLargeBlocksComeBackZero: a large block's pages go back to the kernel when it is freed, and
// whatever takes its place is zero, at its ends too.
func TestLargeBlocksComeBackZero(t *testing.T) {
	onEvery(t, 2, func(ctx context.Context, w *pgas.World) error {
		small, err := pgas.Alloc[byte](ctx, w, 100) // so that the large ones do not start on a page
		if err != nil {
			return err
		}
		for _, n := range []int{3<<20 + 17, 2<<20 + 5, 4 << 20} {
			s, err := pgas.Alloc[byte](ctx, w, n)
			if err != nil {
				return err
			}
			for i, v := range s.Local() {
				if v != 0 {
					return fmt.Errorf("byte %d of %d is %d", i, n, v)
				}
				s.Local()[i] = 0xee
			}
			if err := s.Free(ctx); err != nil {
				return err
			}
		}
		return small.Free(ctx)
	})
}
