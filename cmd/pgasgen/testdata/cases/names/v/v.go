// Package v has the name of a parameter of generated code.
package v

// V is a value.
type V struct{ X int64 }
