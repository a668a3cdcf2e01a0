// Package design is the record of the design page.
package design

import "github.com/gopgas/gopgas/pgas"

// Cell is one record of the symmetric heap.
//
//pgas:symmetric
type Cell struct {
	Count int64 `pgas:"atomic"`
	Sum   float64
	Halo  [2][64]float64
	Ready pgas.Signal
}
