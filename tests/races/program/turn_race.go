//go:build race

package main

import "runtime"

// detecting: the race detector is there.
const detecting = true

// unseenByDetector runs f, whose atomics order nothing as the race detector sees it.
func unseenByDetector(f func()) {
	runtime.RaceDisable()
	defer runtime.RaceEnable()
	f()
}
