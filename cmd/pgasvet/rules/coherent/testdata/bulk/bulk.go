// Package bulk has bulk accesses to memory that may not be there, and others that follow a View.
package bulk

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"slices"
	"unsafe"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/coherent"
	"github.com/gopgas/gopgas/dsm"
)

func copies(a dsm.Array[int], own []int) {
	s := a.Slice()
	copy(own, s[2:8])           // want `copy on the Slice of a coherent array with no View of it since the last fence: .*; call View before it, or Update or Overwrite if it writes to it`
	copy(s, own)                // want `copy on the Slice`
	clear(a.Slice())            // want `clear on the Slice`
	own = append(own, s...)     // want `append on the Slice`
	own = slices.Clone(s)       // want `slices.Clone on the Slice`
	_ = slices.Concat(own, own) // no array
}

func viewed(a dsm.Array[int], own []int) {
	s := a.Slice()
	a.View(0, a.Len())
	copy(own, s)
	a.Update(0, a.Len())
	clear(s)
	copy(own, a.View(0, 10))
	copy(a.Overwrite(0, 10), own)
}

func loops(a dsm.Array[int]) (sum int) {
	for _, v := range a.Slice() { // faults of a loop can be preempted between each other
		sum += v
	}
	return sum + slices.Max(a.Slice())
}

func anotherArray(a, b dsm.Array[int], own []int) {
	a.View(0, 10)
	copy(own, b.Slice()) // want `copy on the Slice`
}

func fenceBetween(ctx context.Context, r *dsm.Region, a dsm.Array[int], own []int) error {
	s := a.Slice()
	a.View(0, 10)
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	copy(own, s) // want `copy on the Slice`
	return nil
}

func fenceInALoop(ctx context.Context, r *dsm.Region, a dsm.Array[int], own []int) error {
	s := a.Slice()
	a.View(0, 10)
	for range 3 {
		copy(own, s) // want `copy on the Slice`
		if err := r.Barrier(ctx); err != nil {
			return err
		}
	}
	for range 3 {
		a.View(0, 10)
		copy(own, s)
		if err := r.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

func onOnePathOnly(a dsm.Array[int], own []int, view bool) {
	if view {
		a.View(0, 10)
	}
	copy(own, a.Slice()) // want `copy on the Slice`
}

type holder struct{ a dsm.Array[byte] }

func (h *holder) systemCalls(f *os.File, c net.Conn, r io.Reader) {
	s := h.a.Slice()
	f.Write(s)            // want `Write on the Slice`
	f.ReadAt(s[:5], 0)    // want `ReadAt on the Slice`
	c.Read(s)             // want `Read on the Slice`
	io.ReadFull(r, s)     // want `io.ReadFull on the Slice`
	_ = bytes.Equal(s, s) // want `bytes.Equal on the Slice`
	_ = string(s)         // want `a conversion to string on the Slice`
	h.a.Update(0, 10)
	f.Write(s)
	io.ReadFull(r, s)
	_ = bytes.Equal(s, s)
	_ = string(s)
}

func asBytes(a dsm.Array[float64], f *os.File) {
	s := a.Slice()
	f.Write(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 8*len(s))) // want `Write on the Slice`
}

func generated(bodies coherent.BodyArray, own []coherent.Body) {
	copy(own, bodies.Slice()) // want `copy on the Slice`
	bodies.Array().View(0, 10)
	copy(own, bodies.Slice())
}

func captured(ctx context.Context, r *dsm.Region, a dsm.Array[int], own []int) error {
	s := a.Slice()
	return r.Run(ctx, 1, func(context.Context, dsm.Member) error {
		copy(own, s[:2]) // want `copy on the Slice`
		a.View(0, 10)
		copy(own, s[:5])
		return nil
	})
}
