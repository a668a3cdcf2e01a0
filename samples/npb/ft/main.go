// Command ft is the benchmark FT of the NAS Parallel Benchmarks: it solves a diffusion equation in three dimensions by
// fast Fourier transforms. A transform of a grid whose planes are spread over the PEs needs what every PE has: in the
// dsm version it comes by reading coherent memory, in the putget version by an all-to-all exchange.
//
//	problem.go     the classes, the initial values, the checksum
//	spectral.go    the equation in the space of wave numbers
//	fourier.go     transforms of lines; work.go: of planes and columns
//	sequential.go  in order
//	goroutines.go  by goroutines over Go's memory
//	coherent.go    by the goroutines of all PEs over coherent memory
//	putget.go      by PEs that exchange their parts
package main

import "github.com/gopgas/gopgas/samples/npb/benchmark"

func main() { benchmark.Main(program()) }

const help = `ft solves a diffusion equation on a grid of 64x64x64 (class S) to 256x256x128 (class A) points by fast Fourier transforms
(NAS Parallel Benchmarks, FT). It measures how fast a grid is transposed: each PE needs a part of what every PE has.`

func program() *benchmark.Program {
	return &benchmark.Program{
		Name:    "ft",
		Help:    help,
		Classes: []string{"S", "W", "A"},
		Versions: []benchmark.Version{
			{Name: benchmark.Sequential, Help: "one goroutine", Alone: sequential},
			{Name: benchmark.Goroutines, Help: "goroutines over the memory of this process", Alone: goroutines},
			{Name: benchmark.Coherent, Help: "goroutines of all PEs over coherent memory", Job: coherent},
			{Name: benchmark.PutGet, Help: "PEs of one goroutine each that exchange their parts by AllToAllV", Job: exchanged},
		},
	}
}
