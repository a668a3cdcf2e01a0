//go:build !amd64

package main

// This CPU has no vector code: the loops in Go do everything.

func addVectors(to, from []float64) int { return 0 }

func lanesAcrossVectors(to []float64, stride int, from []float64, order, rows int, stream bool) int {
	return 0
}
