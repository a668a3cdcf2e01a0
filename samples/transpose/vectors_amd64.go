package main

// The inner loops by vectors of AVX2, in assembly: tests/assembly writes it. Each does what whole vectors can do, and
// returns how much that was; the loop in Go does the rest.

import "golang.org/x/sys/cpu"

// addVectors adds the first elements of from to those of to, which is as long, and returns how many.
func addVectors(to, from []float64) int {
	n := min(len(to), len(from)) &^ 3
	if !cpu.X86.HasAVX2 || n == 0 {
		return 0
	}
	addAVX2(&to[0], &from[0], n)
	return n
}

// lanesAcrossVectors does what lanesAcross does with the first rows, and returns how many.
func lanesAcrossVectors(to []float64, stride int, from []float64, order, rows int, stream bool) int {
	n := rows &^ 3
	if !cpu.X86.HasAVX2 || n == 0 {
		return 0
	}
	_, _ = to[(n-1)*stride+lanes-1], from[(lanes-1)*order+n-1] // the last elements
	past := 0
	if stream {
		past = 1
	}
	lanesAcrossAVX2(&to[0], stride, &from[0], order, n, 1, past)
	return n
}
