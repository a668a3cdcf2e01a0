// Package random is the generator of the NAS Parallel Benchmarks: the linear congruential sequence
//
//	x[k+1] = 5^13 * x[k] mod 2^46
//
// whose values, divided by 2^46, are uniform in (0, 1). The sequence has a jump ahead: x[k+n] is (5^13)^n * x[k],
// and the power takes log2(n) multiplications. So the PEs of a parallel program each make their own part of one
// sequence, and the numbers are those of the sequential program whatever the number of PEs.
//
// 2^46 divides 2^64, so the products of 64 bits that wrap around are right in their low 46 bits. A value has 46 bits
// and is exact as a float64.
//
//ci:norace
package random

// Multiplier is 5^13, the factor of the sequence.
const Multiplier = 1220703125

const modulus = 1 << 46

// Generator is a place in the sequence. Its value may be copied: the copy goes on from the same place.
type Generator struct{ x uint64 }

// New returns a Generator whose x[0] is seed mod 2^46. The seed itself is not among the values. Seeds are odd: an even
// one makes a shorter sequence.
func New(seed uint64) Generator { return Generator{seed % modulus} }

// Next steps once and returns x / 2^46.
func (g *Generator) Next() float64 {
	g.x = g.x * Multiplier % modulus
	return float64(g.x) * (1.0 / modulus)
}

// Skip steps n times, in log2(n) multiplications.
func (g *Generator) Skip(n uint64) {
	factor := uint64(1)
	for base := uint64(Multiplier); n > 0; n >>= 1 {
		if n&1 != 0 {
			factor *= base
		}
		base *= base
	}
	g.x = g.x * factor % modulus
}
