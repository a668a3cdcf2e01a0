//go:build !race

package vector

// Detected reports whether the program is built with the race detector.
const Detected = false

// ToDetector does nothing, because there is no race detector.
func ToDetector(d, a, b []byte) {}
