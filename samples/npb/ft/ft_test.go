package main

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/npbtest"
)

func TestClassS(t *testing.T) { npbtest.Verify(t, program(), "S") }

// TestSameDigits: all versions have all digits of the sequential one, whatever the parts.
func TestSameDigits(t *testing.T) {
	want, err := sequential(t.Context(), benchmark.Setup{Class: "S"})
	if err != nil {
		t.Fatal(err)
	}
	sameDigits := func(r benchmark.Result, err error) error {
		if err == nil && !slices.Equal(r.Checks, want.Checks) {
			err = fmt.Errorf("got %+v, in sequence %+v", r.Checks, want.Checks)
		}
		return err
	}
	t.Run("goroutines", func(t *testing.T) {
		if err := sameDigits(goroutines(t.Context(), benchmark.Setup{Class: "S", Goroutines: 5})); err != nil {
			t.Error(err)
		}
	})
	for name, version := range map[string]func(context.Context, *pgas.World, benchmark.Setup) (benchmark.Result, error){
		"coherent": coherent, "exchanged": exchanged,
	} {
		body := func(ctx context.Context, w *pgas.World) error {
			r, err := version(ctx, w, benchmark.Setup{Class: "S", Goroutines: 1 + w.PE()%2})
			if err != nil || w.PE() != 0 {
				return err
			}
			return sameDigits(r, nil)
		}
		t.Run(name, func(t *testing.T) {
			pgastest.RunGoroutines(t, 3, body)
			pgastest.RunHosts(t, 3, 2, body)
		})
	}
}

// TestTransform compares lines of all lengths with the definition, in both directions, contiguous and not.
func TestTransform(t *testing.T) {
	const longest, lines = 128, together + 3
	f := newFourier(longest)
	for n := 1; n <= longest; n *= 2 {
		for _, of := range []bundle{{lines, n, n, 1}, {lines, 1, n, lines}} {
			for _, inverse := range []bool{false, true} {
				data := make([]complex128, lines*n)
				for i := range data {
					data[i] = cmplx.Rect(1, float64(i*i%1009))
				}
				want := defined(data, of, inverse)
				f.transform(data, of, inverse)
				for i := range data {
					if e := cmplx.Abs(data[i] - want[i]); e > 1e-12 {
						t.Fatalf("length %d, %+v, inverse %v: element %d is wrong by %g", n, of, inverse, i, e)
					}
				}
			}
		}
	}
}

// defined returns the transform of lines by its definition.
func defined(data []complex128, of bundle, inverse bool) []complex128 {
	sign := -2 * math.Pi / float64(of.length)
	if inverse {
		sign = -sign
	}
	out := make([]complex128, len(data))
	for line := range of.lines {
		for k := range of.length {
			for j := range of.length {
				w := cmplx.Rect(1, sign*float64(j*k%of.length))
				out[line*of.apart+k*of.step] += w * data[line*of.apart+j*of.step]
			}
		}
	}
	return out
}

// TestDecay compares a factor of negative wave numbers with the definition.
func TestDecay(t *testing.T) {
	d := decayOf(8)
	for i, k := range []float64{0, 1, 2, 3, -4, -3, -2, -1} {
		if want := math.Exp(-4 * math.Pi * math.Pi * alpha * k * k); d[i] != want {
			t.Errorf("factor %d is %v, want %v", i, d[i], want)
		}
	}
}
