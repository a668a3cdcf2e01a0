// Package other has a struct that only it can take apart.
package other

type hidden int64

// Struct has padding, and a field of a type that is not exported.
type Struct struct {
	Fine  int64
	Value hidden
	Array [2]hidden
	_     [8]byte
	own   int64
}

var _ = Struct{own: 1}
