package main

// The problem. A grid of complex random values u(x, y, z) diffuses by ∂u/∂t = α ∇²u on a torus. After each of six steps
// of time a checksum of 1024 points is compared with the published one. The checksum is added by planes first and then
// in the order of planes, so its last digits do not depend on the number of PEs.

import (
	"fmt"
	"math"
	"time"

	"github.com/gopgas/gopgas/samples/npb/benchmark"
	"github.com/gopgas/gopgas/samples/npb/random"
)

const (
	seed   = 314159265
	steps  = 6
	points = 1024 // of a checksum
)

// class is a size of the problem, with its published checksums.
type class struct {
	nx, ny, nz int
	checksums  [steps]complex128
}

func classOf(name string) class {
	return map[string]class{
		"S": {64, 64, 64, [steps]complex128{
			554.6087004964 + 484.5363331978i, 554.6385409189 + 486.5304269511i, 554.6148406171 + 488.3910722336i,
			554.5423607415 + 490.1273169046i, 554.4255039624 + 491.7475857993i, 554.2683411902 + 493.2597244941i,
		}},
		"W": {128, 128, 32, [steps]complex128{
			567.3612178944 + 529.3246849175i, 563.1436885271 + 528.2149986629i, 559.4024089970 + 527.0996558037i,
			556.0698047020 + 526.0027904925i, 553.0898991250 + 524.9400845633i, 550.4159734538 + 523.9212247086i,
		}},
		"A": {256, 256, 128, [steps]complex128{
			504.6735008193 + 511.4047905510i, 505.9412319734 + 509.8809666433i, 506.9376896287 + 509.8144042213i,
			507.7892868474 + 510.1336130759i, 508.5233095391 + 510.4914655194i, 509.1487099959 + 510.7917842803i,
		}},
	}[name]
}

// size returns the number of points, plane that of a plane of one z, and column that of the points of one y.
func (c class) size() int   { return c.nx * c.ny * c.nz }
func (c class) plane() int  { return c.nx * c.ny }
func (c class) column() int { return c.nx * c.nz }

// fill stores the initial values of plane z.
func (c class) fill(plane []complex128, z int) {
	g := random.New(seed)
	g.Skip(uint64(2 * z * c.plane()))
	for i := range plane {
		re := g.Next()
		plane[i] = complex(re, g.Next())
	}
}

// checksum returns the part of a checksum that lies in plane z.
func (c class) checksum(plane []complex128, z int) (sum complex128) {
	for j := 1; j <= points; j++ {
		if 5*j%c.nz == z {
			sum += plane[3*j%c.ny*c.nx+j%c.nx]
		}
	}
	return sum / complex(float64(c.size()), 0)
}

// result compares the checksums with the published ones. Element z*steps+t of sums is the part of plane z after step t.
func (c class) result(sums []complex128, took time.Duration) benchmark.Result {
	r := benchmark.Result{Elapsed: took, Operations: c.operations()}
	for t, want := range c.checksums {
		var sum complex128
		for z := range c.nz {
			sum += sums[z*steps+t]
		}
		r.Checks = append(r.Checks,
			benchmark.Check{Name: fmt.Sprintf("checksum %d, real", t+1), Value: real(sum), Reference: real(want), Tolerance: 1e-12},
			benchmark.Check{Name: fmt.Sprintf("checksum %d, imaginary", t+1), Value: imag(sum), Reference: imag(want), Tolerance: 1e-12})
	}
	return r
}

// operations returns the number of floating-point operations as the benchmark counts them.
func (c class) operations() float64 {
	n := float64(c.size())
	return n * (14.8157 + 7.19641*math.Log(n) + (5.23518+7.21113*math.Log(n))*steps)
}
