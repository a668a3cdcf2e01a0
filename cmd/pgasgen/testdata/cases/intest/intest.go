// Package intest has a marked struct in a test file.
package intest

//pgas:symmetric
type Fine struct{ X int64 }
