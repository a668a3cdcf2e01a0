// Dsmvet finds mistakes in programs over coherent memory (package dsm) that no mode tells of when the program runs, or
// only a job on several hosts does:
//
//   - copy, clear, bytes and slices functions and system calls on an Array's Slice with no View, Update or Overwrite before;
//   - the result of a View, an Update or an Overwrite that is used after a fence;
//   - sync/atomic on an element.
//
// It runs alone, dsmvet ./..., and under go vet: go vet -vettool=$(which dsmvet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/gopgas/gopgas/cmd/dsmvet/coherent"
)

func main() { singlechecker.Main(coherent.Analyzer()) }
