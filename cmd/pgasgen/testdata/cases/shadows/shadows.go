// Package shadows declares names that generated code needs.
package shadows

type pe struct{ X int64 }

type uint64 int64

func error() {}

//pgas:symmetric
type Cell struct {
	Left pe
	N    uint64
}
