// Package huge has a struct that no machine holds.
package huge

//pgas:symmetric
type Huge struct {
	Rows [1 << 21][1 << 20]byte
}

// Endless has a size that overflows.
//
//pgas:symmetric
type Endless struct {
	A [1 << 62]int64
}

// Sum has fields whose sizes overflow together.
//
//pgas:symmetric
type Sum struct {
	A, B, C, D, E, F, G, H, I [1 << 58]int64
}
