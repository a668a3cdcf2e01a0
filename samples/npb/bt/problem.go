package main

// The problem. At each point of a cube the fluid has a density, a momentum and an energy. A forcing term is chosen such
// that a polynomial is a stationary solution. The program starts from other values inside of the cube, makes steps
// of time, and compares the error and the residual then with the published ones.

import (
	"fmt"
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
)

// A state is what the fluid has at a point: its density, the momentum in x, y and z, and its energy.
type state [5]float64

// class is a size of the problem, with its published norms.
type class struct {
	n               int // points in each direction; the first and the last are of the boundary
	steps           int
	dt              float64
	residual, error state
}

func classOf(name string) class {
	return map[string]class{
		"S": {12, 60, 0.010,
			state{1.7034283709541311e-1, 1.2975252070034097e-2, 3.2527926989486055e-2, 2.6436421275166801e-2, 1.9211784131744430e-1},
			state{4.9976913345811579e-4, 4.5195666782961927e-5, 7.3973765172921357e-5, 7.3821238632439731e-5, 8.9269630987491446e-4}},
		"W": {24, 200, 0.0008,
			state{1.125590409344e2, 1.180007595731e1, 2.710329767846e1, 2.469174937669e1, 2.638427874317e2},
			state{4.419655736008, 4.638531260002e-1, 1.011551749967, 9.235878729944e-1, 1.018045837718e1}},
		"A": {64, 200, 0.0008,
			state{1.0806346714637264e2, 1.1319730901220813e1, 2.5974354511582465e1, 2.3665622544678910e1, 2.5278963211748344e2},
			state{4.2348416040525025, 4.4390282496995698e-1, 9.6692480136345650e-1, 8.8302063039765474e-1, 9.7379901770829278}},
	}[name]
}

// size returns the number of points, and plane that of a plane, of one z or of one y.
func (c class) size() int  { return c.n * c.n * c.n }
func (c class) plane() int { return c.n * c.n }

// polynomial returns, for each component of the exact solution, the constant and the factors of powers 1 to 4 of x, y,
// z.
func polynomial() [5]struct {
	constant float64
	powers   [3][4]float64
} {
	return [5]struct {
		constant float64
		powers   [3][4]float64
	}{
		{2, [3][4]float64{{0, 5, 0.02, 0.5}, {0, 3, 0.01, 0.4}, {4, 0.5, 0.03, 0.3}}},
		{1, [3][4]float64{{0, 1, 0.01, 0.4}, {0, 2, 0.03, 0.3}, {0, 3, 0.02, 0.5}}},
		{2, [3][4]float64{{2, 0, 0.04, 0.3}, {0, 2, 0.03, 0.5}, {0, 3, 0.05, 0.4}}},
		{2, [3][4]float64{{2, 0, 0.03, 0.2}, {0, 2, 0.05, 0.1}, {0, 3, 0.04, 0.3}}},
		{5, [3][4]float64{{4, 0.1, 0.05, 0.1}, {3, 0.4, 0.04, 0.3}, {2, 0.3, 0.03, 0.2}}},
	}
}

// exact returns the exact solution at a place, each coordinate of which is from 0 to 1.
func exact(place [3]float64) (u state) {
	for m, p := range polynomial() {
		u[m] = p.constant
		for d, c := range p.powers {
			t := place[d]
			u[m] += t * (c[0] + t*(c[1]+t*(c[2]+t*c[3])))
		}
	}
	return u
}

// place returns the coordinates of a point.
func (c class) place(x, y, z int) [3]float64 {
	last := float64(c.n - 1)
	return [3]float64{float64(x) / last, float64(y) / last, float64(z) / last}
}

// initial returns the initial value of a point: on the boundary the exact solution; inside, for each component,
// 1 - (1-a)(1-b)(1-c), where a, b and c interpolate linearly between the values on opposite faces.
func (c class) initial(x, y, z int) state {
	place := c.place(x, y, z)
	inside := func(i int) bool { return 0 < i && i < c.n-1 }
	if !inside(x) || !inside(y) || !inside(z) {
		return exact(place)
	}
	u := state{1, 1, 1, 1, 1}
	for d, t := range place {
		from, to := place, place
		from[d], to[d] = 0, 1
		a, b := exact(from), exact(to)
		for m := range u {
			u[m] *= 1 - (t*b[m] + (1-t)*a[m])
		}
	}
	for m := range u {
		u[m] = 1 - u[m]
	}
	return u
}

// addSquares adds the squares of the components of a.
func (s *state) addSquares(a state) {
	for m, v := range a {
		s[m] += v * v
	}
}

// minus returns s - o.
func (s state) minus(o state) state {
	for m, v := range o {
		s[m] -= v
	}
	return s
}

// result compares norms with the published ones. The sums are of the squares of all points: five of the residual, which
// has the factor dt, and five of the error.
func (c class) result(sums []float64, took time.Duration) benchmark.Result {
	r := benchmark.Result{Elapsed: took, Operations: c.operations()}
	inside := float64((c.n - 2) * (c.n - 2) * (c.n - 2))
	for i, sum := range sums {
		norm, name, want := math.Sqrt(sum/inside), "error", c.error[i%5]
		if i < 5 {
			norm, name, want = norm/c.dt, "residual", c.residual[i]
		}
		r.Checks = append(r.Checks, benchmark.Check{Name: fmt.Sprintf("%s %d", name, i%5+1), Value: norm, Reference: want, Tolerance: 1e-8})
	}
	return r
}

// operations returns the number of floating-point operations as the benchmark counts them.
func (c class) operations() float64 {
	n := float64(c.n)
	return float64(c.steps) * (3478.8*n*n*n - 17655.7*n*n + 28023.7*n)
}
