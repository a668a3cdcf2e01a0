// Package stale uses names that are generated for it, at package level, while its generated file is
// of an older struct.
package stale

// Cell had one field when it was generated for.
//
//pgas:symmetric
type Cell struct {
	Count int64 `pgas:"atomic"`
	Added int64
}

// Cells is a type made of a generated one.
type Cells struct{ all CellSym }

// Add is a method of a generated type.
func (r CellRef) Add(n int64) { r.AddCount(0, n) }

func first(s CellSym) CellRef { return s.At(0) }

var alloc = AllocCell

var _, _, _ = Cells{}, first, alloc
