// Package twice declares things twice, and does not type-check in other ways.
package twice

import "example.com/missing/package"

//pgas:symmetric
type Cell struct {
	X int64
	Y Undefined
	X int32
}

//pgas:symmetric
type Cell struct{ Z int64 }

var unknown = nowhere.At(3)

var tolerated CellRef
