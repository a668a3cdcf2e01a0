// Command bt is the benchmark BT of the NAS Parallel Benchmarks: it solves the Navier-Stokes equations of a
// compressible fluid in a cube, by steps that each solve block-tridiagonal systems along all lines of the three
// directions. Lines of two directions lie in planes, which a goroutine has for itself. Those of the third cross all
// planes.
//
//	problem.go     the classes, the exact solution, the initial values
//	flow.go        fluxes, and what they change along a line
//	jacobian.go    the derivatives of fluxes; matrix.go: 5x5 matrices
//	tridiagonal.go the systems of a line
//	work.go        what a goroutine does with its planes and columns
//	sequential.go  in order
//	goroutines.go  by goroutines over Go's memory
//	coherent.go    by the goroutines of all PEs over coherent memory
package main

import "github.com/gopgas/gopgas/samples/npb/benchmark"

func main() { benchmark.Main(program()) }

const help = `bt solves the Navier-Stokes equations of a compressible fluid in a cube of 12x12x12 (class S) to 64x64x64 (class A) points
by an implicit method (NAS Parallel Benchmarks, BT). It measures arithmetic on blocks of five numbers, and twice in each
step how fast planes become columns.`

func program() *benchmark.Program {
	return &benchmark.Program{
		Name:    "bt",
		Help:    help,
		Classes: []string{"S", "W", "A"},
		Versions: []benchmark.Version{
			{Name: benchmark.Sequential, Help: "one goroutine", Alone: sequential},
			{Name: benchmark.Goroutines, Help: "goroutines over the memory of this process", Alone: goroutines},
			{Name: benchmark.Coherent, Help: "goroutines of all PEs over coherent memory", Job: coherent},
		},
	}
}
