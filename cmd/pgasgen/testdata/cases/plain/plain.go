// Package plain has every kind of field that moves by put and get.
package plain

import "image"

// Width is a constant that arrays use.
const Width = 8

type point struct{ X, Y int32 }

// Row is an array with a name.
type Row [Width]float32

// Pair is generic, and has a layout as Pair[int16].
type Pair[T any] struct{ First, Second T }

// Length is an alias.
type Length = float64

type (
	// Numbers has one of each number, and padding.
	//
	//pgas:symmetric
	Numbers struct {
		B    bool
		I8   int8
		_    [6]byte
		C64  complex64
		C128 complex128
		Up   uintptr
		R    rune
		By   byte
	}

	// Shapes has structs and arrays of them.
	//
	//pgas:symmetric
	Shapes struct {
		At     point
		Bounds image.Rectangle
		Pair   Pair[int16]
		Pairs  [3]Pair[image.Point]
		Len    Length
		Lens   [4]Length
		Row    Row
		Rows   [2]Row
		Name   [32]byte
		Cube   [2][3][4]point
		Deep   [2][2][2][2][1]bool
	}
)

// hidden generates names that are not exported either.
//
//pgas:symmetric
type hidden struct {
	Value int64
}

// Concrete is a generic struct with a layout.
//
//pgas:symmetric
type Concrete Pair[uint32]

// Copy is a struct by way of another.
//
//pgas:symmetric
type Copy Numbers2

// Numbers2 is not marked itself.
type Numbers2 struct {
	A, B int16
	C    [3]uint8
}

var _ = hidden{}
