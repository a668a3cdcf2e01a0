//go:build !race

package main

// detecting: the race detector is not there, so the program has nothing to show.
const detecting = false

func unseenByDetector(f func()) { f() }
