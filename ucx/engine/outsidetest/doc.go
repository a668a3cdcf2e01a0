//go:build !cgo

// Package outsidetest is for tests of what an engine gives to threads that are not Go's, and is empty without C.
package outsidetest
