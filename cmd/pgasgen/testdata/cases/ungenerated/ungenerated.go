// Package ungenerated holds a marked struct of a package that nobody generated for.
package ungenerated

import "github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/ungenerated/raw"

//pgas:symmetric
type Cell struct {
	Lock raw.Lock
}
