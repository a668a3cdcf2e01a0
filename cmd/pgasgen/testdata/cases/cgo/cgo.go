// Package cgo has a field of a C type.
package cgo

// typedef struct { int x; } thing;
import "C"

//pgas:symmetric
type Cell struct {
	Thing C.thing
	X     int64
}
