package main

// The equation in the space of wave numbers, where a step of time multiplies each amplitude by exp(-4π²α|k|²). That
// factor is a product of one factor for each direction, so there are as many exponentials as planes, not as points.

import "math"

const alpha = 1e-6

// decay holds the factors of a step.
type decay struct{ x, y, z []float64 }

func newDecay(c class) decay { return decay{decayOf(c.nx), decayOf(c.ny), decayOf(c.nz)} }

// decayOf returns the factors of the wave numbers of one direction: 0 to n/2-1, and then -n/2 to -1.
func decayOf(n int) []float64 {
	factors := make([]float64, n)
	for i := range factors {
		k := float64((i+n/2)%n - n/2)
		factors[i] = math.Exp(-4 * math.Pi * math.Pi * alpha * k * k)
	}
	return factors
}

// step advances the amplitudes of one y by one step of time and stores them in both slices, whose index is z, x.
func (d decay) step(amplitudes, now []complex128, y int) {
	nx := len(d.x)
	for z, fz := range d.z {
		from, to := amplitudes[z*nx:(z+1)*nx], now[z*nx:(z+1)*nx]
		for x, fx := range d.x {
			from[x] *= complex(fx*d.y[y]*fz, 0)
			to[x] = from[x]
		}
	}
}
