// Package names declares names that generated files would use.
package names

import "github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/names/v"

//pgas:symmetric
type T struct {
	A v.V
	B v.V
}

func context() {}

var unsafe, pgas int

func init() { context(); _, _ = unsafe, pgas }
