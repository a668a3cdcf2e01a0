// Package example is what the examples of docs/use/pgasvet.md are compiled with.
package example

import "github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"

// The records of the examples.
type (
	CellSym = design.CellSym
	CellRef = design.CellRef
)
