// Package overwrite has a file with the name of a generated one.
package overwrite

//pgas:symmetric
type Cell struct{ X int64 }
