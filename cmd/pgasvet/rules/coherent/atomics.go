package coherent

// Atomics on elements. A PE's copy of an element is memory of its own, so an atomic update of it is atomic among the
// goroutines of this PE only.

import (
	"fmt"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// atomicAccesses reports functions and methods of sync/atomic on memory of an array.
func atomicAccesses(fn *ssa.Function, known origins) (found []analysis.Diagnostic) {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			call, ok := i.(ssa.CallInstruction)
			if !ok {
				continue
			}
			c := call.Common()
			f := called(c)
			if f == nil || f.Pkg() == nil || f.Pkg().Path() != "sync/atomic" || len(c.Args) == 0 {
				continue
			}
			if o := known[c.Args[0]]; o != nil {
				found = append(found, analysis.Diagnostic{Pos: flow.PositionOf(i, o.call.Pos()), Message: fmt.Sprintf(
					"atomic %s on an element of a coherent array is atomic within this PE only: use a word of symmetric memory (pgas.Atomic), or a dsm.Mutex",
					f.Name())})
			}
		}
	}
	return found
}
