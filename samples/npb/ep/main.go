// Command ep is the benchmark EP of the NAS Parallel Benchmarks (embarrassingly parallel): it makes pairs of random
// numbers of normal distribution, adds them, and counts them by size. Its parts meet only at the end.
//
//	kernel.go      the pairs and the tallies
//	sequential.go  in order
//	goroutines.go  by goroutines over Go's memory
//	coherent.go    by the goroutines of all PEs over coherent memory
package main

import "github.com/gopgas/gopgas/samples/npb/benchmark"

func main() { benchmark.Main(program()) }

func program() *benchmark.Program {
	return &benchmark.Program{
		Name:    "ep",
		Help:    "ep makes 2^24 (class S) to 2^32 (class C) pairs of random numbers of normal distribution and adds them (NAS Parallel\nBenchmarks, EP). It measures arithmetic: the parts of the work meet only at the end.",
		Classes: []string{"S", "W", "A", "B", "C"},
		Versions: []benchmark.Version{
			{Name: benchmark.Sequential, Help: "one goroutine", Alone: sequential},
			{Name: benchmark.Goroutines, Help: "goroutines over the memory of this process", Alone: goroutines},
			{Name: benchmark.Coherent, Help: "goroutines of all PEs over coherent memory", Job: coherent},
		},
	}
}
