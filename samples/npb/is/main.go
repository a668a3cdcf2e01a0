// Command is is the benchmark IS of the NAS Parallel Benchmarks (integer sort): it ranks many small integers ten times,
// each time after two of them have changed, and puts them in order at the end. A ranking reads counts that all
// goroutines have written.
//
//	class.go       sizes, published ranks
//	kernel.go      the keys, counting and placing them
//	sequential.go  in order
//	goroutines.go  by goroutines over Go's memory
//	coherent.go    by the goroutines of all PEs over coherent memory
package main

import "github.com/gopgas/gopgas/samples/npb/benchmark"

func main() { benchmark.Main(program()) }

func program() *benchmark.Program {
	return &benchmark.Program{
		Name:    "is",
		Help:    "is ranks 2^16 (class S) to 2^27 (class C) integers by counting (NAS Parallel Benchmarks, IS). It measures memory, and\nan exchange between all goroutines in each of ten rankings.",
		Classes: []string{"S", "W", "A", "B", "C"},
		Versions: []benchmark.Version{
			{Name: benchmark.Sequential, Help: "one goroutine", Alone: sequential},
			{Name: benchmark.Goroutines, Help: "goroutines over the memory of this process", Alone: goroutines},
			{Name: benchmark.Coherent, Help: "goroutines of all PEs over coherent memory", Job: coherent},
		},
	}
}
