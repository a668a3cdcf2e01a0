// Package syntax does not parse.
package syntax

//pgas:symmetric
type Cell struct {
	X int64,
	Y int64
}
