package main

// The benchmark's random numbers: successive powers of x in GF(2)[x], modulo a primitive polynomial.

// polynomial is x⁶⁴ modulo the polynomial: x² + x + 1.
const polynomial = 7

// next returns the number after x.
func next(x uint64) uint64 { return x<<1 ^ uint64(int64(x)>>63)&polynomial }

// streamAt returns the n-th number of the stream, which begins with 1: x to the power of n, by squaring.
func streamAt(n uint64) uint64 {
	power, result := next(1), uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = times(result, power)
		}
		power = times(power, power)
	}
	return result
}

// times returns the product of two polynomials.
func times(a, b uint64) uint64 {
	product := uint64(0)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			product ^= a
		}
		a = next(a)
	}
	return product
}
