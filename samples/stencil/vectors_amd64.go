package main

// The inner loops by vectors of AVX2, in assembly: tests/assembly writes it. Each does the points at the start of a row
// that fill whole vectors, and returns how many; the loop in Go does the rest.

import "golang.org/x/sys/cpu"

// hasVectors reports whether the CPU has the vectors.
func hasVectors() bool { return cpu.X86.HasAVX2 }

// oneRowVectors does what oneRow does.
func oneRowVectors(to, row, north2, north1, south1, south2 []float64) int {
	n := len(to) &^ 3
	if !hasVectors() || n == 0 {
		return 0
	}
	_, _, _, _, _ = row[n-1+2*radius], north2[n-1], north1[n-1], south1[n-1], south2[n-1]
	oneRowAVX2(&to[0], &row[0], &north2[0], &north1[0], &south1[0], &south2[0], n, near, far)
	return n
}

// incrementVectors does what increment does.
func incrementVectors(row []float64) int {
	n := len(row) &^ 3
	if !hasVectors() || n == 0 {
		return 0
	}
	incrementAVX2(&row[0], n, 1)
	return n
}
