package main

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

const testRows, testSteps = 7, 12

// sequential solves the equation on one grid.
func sequential(n, steps int) float64 { return unevenness(alone(n, steps)) }

// All versions have the result of the sequential one, but for the order in which cells are added at the end.
func TestVersions(t *testing.T) {
	want := sequential(testRows, testSteps)
	if start := sequential(testRows, 0); want <= start/100 || want >= start/2 {
		t.Fatalf("the unevenness is %g, and was %g: the steps are too few or too many to show a mistake", want, start)
	}
	for _, o := range []options{
		{version: "put", goroutines: 1}, {version: "coherent", goroutines: 1}, {version: "coherent", goroutines: 2},
		{version: "saved", save: 5, verify: true},
	} {
		o.rows, o.steps = testRows, testSteps
		t.Run(fmt.Sprintf("%s, %d goroutines", o.version, o.goroutines), func(t *testing.T) {
			pgastest.Run(t, 3, func(ctx context.Context, w *pgas.World) error {
				left, err := o.solve(ctx, w)
				if err == nil && (w.PE() == 0) && math.Abs(left-want) > 1e-9*want {
					err = fmt.Errorf("the unevenness is %.17g, want %.17g", left, want)
				}
				return err
			})
		})
	}
}
