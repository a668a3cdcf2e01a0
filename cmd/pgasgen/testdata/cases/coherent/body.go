// Package coherent is a case: records of coherent arrays, and one symmetric record that holds another.
package coherent

import "time"

// Moment is no marked struct: it moves as a whole.
type Moment struct {
	Mass   float64
	Center [3]float64
}

// Body is one record of a coherent array.
//
//pgas:coherent
type Body struct {
	Pos, Vel [3]float64
	Mass     float64
	Moment   Moment
	Moments  [2]Moment
	Table    [2][3]int16
	Name     [5]byte
	_        [3]byte
	Child    [8]int32 // indexes, not pointers
	Age      time.Duration
	Leaf     bool
	Tree     Tree
}

// Tree is a coherent record too; inside of Body it is a value.
//
//pgas:coherent
type Tree struct{ First, Last int32 }

// Root is symmetric, and holds a coherent record as a value.
//
//pgas:symmetric views
type Root struct {
	Tree  Tree
	Count int64 `pgas:"atomic"`
}
