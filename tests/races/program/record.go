package main

//go:generate go tool pgasgen

// Record has two fields, which are accessed together and one by one.
//
//pgas:symmetric
type Record struct{ A, B int64 }
