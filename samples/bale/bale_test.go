package main

import (
	"context"
	"io"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestKernels: every kernel checks its result; on every kind of PE, and for numbers of PEs that divide nothing.
func TestKernels(t *testing.T) {
	for name := range kernels {
		for _, npes := range []int{1, 3, 4} {
			t.Run(name, func(t *testing.T) {
				pgastest.Run(t, npes, func(ctx context.Context, w *pgas.World) error {
					return bale(ctx, w, options{kernel: name, logarithm: 9, degree: 12}, io.Discard)
				})
			})
		}
	}
}

// TestCommon compares with loops over both rows.
func TestCommon(t *testing.T) {
	for i := 50; i < 100; i++ {
		a, b := drawRow(i, 20, i), drawRow(i+1, 30, i)
		want := 0
		for _, x := range a {
			for _, y := range b {
				if x == y {
					want++
				}
			}
		}
		if got := common(a, b); got != want {
			t.Errorf("%d and %d have %d in common, want %d", a, b, got, want)
		}
	}
}

// TestFlags: what is out of range is refused in one line.
func TestFlags(t *testing.T) {
	for _, o := range []options{
		{kernel: "histo", logarithm: 10, degree: 1},
		{kernel: "gather", logarithm: 3, degree: 1},
		{kernel: "gather", logarithm: 32, degree: 1},
		{kernel: "gather", logarithm: 10, degree: 1, ops: -1},
		{kernel: "gather", logarithm: 10, degree: 0},
	} {
		if err := o.check(1); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
