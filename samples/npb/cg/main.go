// Command cg is the benchmark CG of the NAS Parallel Benchmarks (conjugate gradient): it estimates the smallest
// eigenvalue of a large sparse matrix with entries at random places, by inverse power iteration with 25 steps of the
// conjugate gradient method each. A product with the matrix reads all of a vector, whose parts other goroutines have
// written.
//
//	class.go       sizes, published results, counts of operations
//	matrix.go      the random matrix, by rows
//	kernel.go      what is done to the rows of one goroutine
//	sequential.go  in order
//	goroutines.go  by goroutines over Go's memory
//	coherent.go    by the goroutines of all PEs over coherent memory
//	putget.go      by PEs: each keeps its rows, and collects the vector before a product
package main

import "github.com/gopgas/gopgas/samples/npb/benchmark"

func main() { benchmark.Main(program()) }

func program() *benchmark.Program {
	return &benchmark.Program{
		Name:    "cg",
		Help:    "cg estimates the smallest eigenvalue of a random sparse matrix by the conjugate gradient method (NAS Parallel\nBenchmarks, CG). It measures irregular reads of a vector that has been written by others.",
		Classes: []string{"S", "W", "A", "B", "C"},
		Versions: []benchmark.Version{
			{Name: benchmark.Sequential, Help: "one goroutine", Alone: sequential},
			{Name: benchmark.Goroutines, Help: "goroutines over the memory of this process", Alone: goroutines},
			{Name: benchmark.Coherent, Help: "goroutines of all PEs over coherent memory", Job: coherent},
			{Name: benchmark.PutGet, Help: "one goroutine a PE, by collectives over symmetric memory", Job: putget},
		},
	}
}
