// Package nested has marked structs inside marked structs, of this and of another package.
package nested

import (
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/nested/inner"
	"github.com/gopgas/gopgas/pgas"
)

// Node holds no word that others update, so it also moves as a whole.
//
//pgas:symmetric
type Node struct {
	Key  uint64
	Next int32
}

// Table holds marked structs, some of which move as a whole.
//
//pgas:symmetric
type Table struct {
	Root    Node
	Fixed   [4][8]Node
	Lock    inner.Lock
	Locks   [3]inner.Lock
	Span    inner.Span
	Arrived [2][2]pgas.Signal
}
