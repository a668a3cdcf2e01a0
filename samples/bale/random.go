package main

// What the kernels draw: number k of stream s is a hash of both, so that every PE can compute any of them.

// draw returns number k of stream s: the finalizer of SplitMix64 over both (G. Steele, D. Lea and C. Flood, "Fast
// splittable pseudorandom number generators", 2014).
func draw(s, k uint64) uint64 {
	x := (s+1)*0x9e3779b97f4a7c15 + (k+1)*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns number k of stream s, as a number from 0 to n-1.
func below(s, k uint64, n int) int { return int(draw(s, k) % uint64(n)) }
