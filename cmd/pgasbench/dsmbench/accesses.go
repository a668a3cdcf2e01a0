package dsmbench

// Accesses to what a PE has, beside loads of a slice of Go.

import (
	"fmt"

	"github.com/gopgas/gopgas/dsm"
)

const (
	accessElements = 4096 // as many elements stay in the cache
	accessPasses   = 16
)

func atSoft(m *meter) error {
	return accesses(m, dsm.Soft, func(a dsm.Array[int64]) int64 {
		sum := int64(0)
		for i := range a.Len() {
			sum += a.At(i)
		}
		return sum
	})
}

func slicePaged(m *meter) error {
	return accesses(m, dsm.Paged, func(a dsm.Array[int64]) int64 { return sumOf(a.Slice()) })
}

// sumOf loads each element.
//
//go:noinline
func sumOf(s []int64) (sum int64) {
	for _, v := range s {
		sum += v
	}
	return sum
}

// accesses measures reads of every element. PE 0 has all of them.
func accesses(m *meter, mode dsm.Mode, read func(dsm.Array[int64]) int64) error {
	const block = 32 << 10
	r, err := dsm.Open(m.ctx, m.w, dsm.Options{Bytes: 8 * accessElements, Block: block, Mode: mode})
	if err != nil {
		return err
	}
	a, err := dsm.Alloc[int64](m.ctx, r, accessElements)
	if err != nil {
		return err
	}
	plain, want := make([]int64, accessElements), int64(accessElements*(accessElements-1)/2)
	for i := range plain {
		plain[i] = int64(i)
	}
	if m.first {
		copy(a.Overwrite(0, a.Len()), plain)
	}
	if err := r.Barrier(m.ctx); err != nil {
		return err
	}
	passes := func(sum func() int64) func(int) error {
		return func(int) error {
			for range accessPasses {
				if got := sum(); got != want {
					return fmt.Errorf("the elements' sum is %d instead of %d", got, want)
				}
			}
			return nil
		}
	}
	t := trial{
		block: block, region: r, ops: accessPasses * accessElements, alone: true,
		operate: passes(func() int64 { return read(a) }), beside: passes(func() int64 { return sumOf(plain) }),
	}
	if err := m.measure(t); err != nil {
		return err
	}
	return r.Close(m.ctx)
}
