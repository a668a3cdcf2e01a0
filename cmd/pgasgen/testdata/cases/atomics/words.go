// Package atomics has every type of atomic word, alone and in arrays.
package atomics

type ticket uint32

// Seconds is a word of a type with a name.
type Seconds float64

//pgas:symmetric
type Words struct {
	I32  int32   `pgas:"atomic"`
	U32  uint32  `pgas:"atomic" json:"u32"`
	I64  int64   `json:"i64" pgas:"atomic"`
	U64  uint64  `pgas:"atomic"`
	I    int     `pgas:"atomic"`
	U    uint    `pgas:"atomic"`
	P    uintptr `pgas:"atomic"`
	F32  float32 `pgas:"atomic"`
	F64  Seconds `pgas:"atomic"`
	Next ticket  `pgas:"atomic"`

	Hist   [16]int64         `pgas:"atomic"`
	Grid   [3][5]uint32      `pgas:"atomic"`
	Cube   [2][3][4]float64  `pgas:"atomic"`
	Deep   [2][2][2][2]int32 `pgas:"atomic"`
	Single [1]ticket         `pgas:"atomic"`
}
