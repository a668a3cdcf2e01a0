package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/internal/protocols"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/npbtest"
)

func TestClassS(t *testing.T) { npbtest.Verify(t, program(), "S") }

// TestEmptyParts: more goroutines than planes, so that some have none.
func TestEmptyParts(t *testing.T) {
	r, err := goroutines(t.Context(), benchmark.Setup{Class: "S", Goroutines: 17})
	if err != nil || !r.Verified() {
		t.Errorf("%v, %+v", err, r.Checks)
	}
}

// TestUnequalParts: goroutines of several PEs with parts of unequal size, also on hosts.
func TestUnequalParts(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		r, err := coherent(ctx, w, benchmark.Setup{Class: "S", Goroutines: 1 + min(w.PE(), 1)})
		if err == nil && w.PE() == 0 && !r.Verified() {
			err = fmt.Errorf("%+v", r.Checks)
		}
		return err
	}
	pgastest.RunGoroutines(t, 3, body)
	pgastest.RunHosts(t, 3, 2, body)
}

// TestProtocols: the result does not depend on how copies are kept coherent.
func TestProtocols(t *testing.T) {
	for _, p := range protocols.All()[1:] {
		t.Run(p.String(), func(t *testing.T) {
			pgastest.RunProcesses(t, 2, func(ctx context.Context, w *pgas.World) error {
				ctx = protocols.With(ctx, protocols.Choice{Protocol: p})
				r, err := coherent(ctx, w, benchmark.Setup{Class: "S", Goroutines: 2})
				if err == nil && w.PE() == 0 && (!r.Verified() || r.Counters.BytesFetched == 0) {
					err = fmt.Errorf("%s: %+v", r.Memory, r)
				}
				return err
			}, dsm.EnvMode+"=soft")
		})
	}
}

// someState returns a state that a fluid can have.
func someState(rng *rand.Rand) state {
	u := state{1 + rng.Float64()}
	for i := 1; i < 4; i++ {
		u[i] = 2*rng.Float64() - 1
	}
	u[4] = 5 + rng.Float64()
	return u
}

// TestJacobians compares the derivatives of the fluxes with differences.
func TestJacobians(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for d := range 3 {
		u := someState(rng)
		m := motionOf(&u)
		var a, g matrix
		m.convectionJacobian(&a, &u, d, 3)
		m.diffusionJacobian(&g, &u, d, 3)
		for j := range u {
			const step = 1e-5
			low, high := u, u
			low[j] -= step
			high[j] += step
			before, after := motionOf(&low), motionOf(&high)
			flux := after.convection(&high, d).minus(before.convection(&low, d))
			spread := after.diffusion(&high, d).minus(before.diffusion(&low, d))
			for i := range u {
				if want := 3 * flux[i] / (2 * step); math.Abs(a[i][j]-want) > 1e-7 {
					t.Errorf("direction %d: derivative of convection %d by %d is %g, by differences %g", d, i, j, a[i][j], want)
				}
				if want := 3 * spread[i] / (2 * step); math.Abs(g[i][j]-want) > 1e-7 {
					t.Errorf("direction %d: derivative of diffusion %d by %d is %g, by differences %g", d, i, j, g[i][j], want)
				}
			}
		}
	}
}

// TestSystem multiplies the solution of a line's system by its matrices again.
func TestSystem(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := class{n: 9, dt: 0.01}
	u, r := make([]state, c.n), make([]state, c.n)
	for i := range u {
		u[i] = someState(rng)
		if 0 < i && i < c.n-1 {
			r[i] = someState(rng)
		}
	}
	s := newSystem(c)
	x := append([]state(nil), r...)
	s.solve(x, line{0, 1}, u, line{0, 1}, 1)
	for i := 1; i < c.n-1; i++ {
		left := x[i]
		for k, weight := range []float64{-1, 2, -1} { // second difference of N, central difference of A
			at := i + k - 1
			for m := range left {
				for j, v := range x[at] {
					left[m] += (weight*s.spread[at][m][j] + float64(k-1)*s.convey[at][m][j]) * v
				}
			}
		}
		for m, v := range left.minus(r[i]) {
			if math.Abs(v) > 1e-12 {
				t.Errorf("point %d, component %d: the solution is wrong by %g", i, m, v)
			}
		}
	}
}

// TestStationary: the exact solution asks for no change, in whatever parts the cube is.
func TestStationary(t *testing.T) {
	c := classOf("S")
	for _, part := range [][2]int{{0, c.n}, {0, 1}, {1, 2}, {4, 7}, {c.n - 3, c.n}} {
		k := newWork(c, part[0], part[1], 0, 1) // its states are the exact ones
		out := make([]state, (part[1]-part[0])*c.plane())
		k.residual(out)
		for i, u := range out {
			for m, v := range u {
				if math.Abs(v) > 1e-14 {
					t.Fatalf("planes %v: point %d, component %d changes by %g", part, i, m, v)
				}
			}
		}
	}
}

// TestInitial: the initial values of the boundary are those of the exact solution.
func TestInitial(t *testing.T) {
	c := classOf("S")
	for _, p := range [][3]int{{0, 3, 4}, {5, c.n - 1, 2}, {1, 2, 0}} {
		if got, want := c.initial(p[0], p[1], p[2]), exact(c.place(p[0], p[1], p[2])); got != want {
			t.Errorf("point %v of the boundary is %v, want %v", p, got, want)
		}
	}
	// The density at two opposite corners of the cube.
	if zero, one := exact([3]float64{})[0], exact([3]float64{1, 1, 1})[0]; zero != 2 || math.Abs(one-15.76) > 1e-12 {
		t.Errorf("density %v and %v, want 2 and 15.76", zero, one)
	}
}
