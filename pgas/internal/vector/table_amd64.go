package vector

import (
	"reflect"

	"golang.org/x/sys/cpu"
)

// loops are the loops by operator and type. What has none is not faster with AVX2: it multiplies no numbers of 8 bytes,
// and compares none without a sign.
var loops = [ops][reflect.Complex128 + 1]func(d, a, b *byte, n int){
	And: everyInteger(and),
	Or:  everyInteger(or),
	Xor: everyInteger(xor),
	Min: {
		reflect.Int8: minInt8, reflect.Int16: minInt16, reflect.Int32: minInt32, reflect.Int64: minInt64, reflect.Int: minInt64,
		reflect.Uint8: minUint8, reflect.Uint16: minUint16, reflect.Uint32: minUint32,
		reflect.Float32: minFloat32, reflect.Float64: minFloat64,
	},
	Max: {
		reflect.Int8: maxInt8, reflect.Int16: maxInt16, reflect.Int32: maxInt32, reflect.Int64: maxInt64, reflect.Int: maxInt64,
		reflect.Uint8: maxUint8, reflect.Uint16: maxUint16, reflect.Uint32: maxUint32,
		reflect.Float32: maxFloat32, reflect.Float64: maxFloat64,
	},
	Sum: {
		reflect.Int8: sumInt8, reflect.Int16: sumInt16, reflect.Int32: sumInt32, reflect.Int64: sumInt64, reflect.Int: sumInt64,
		reflect.Uint8: sumInt8, reflect.Uint16: sumInt16, reflect.Uint32: sumInt32, reflect.Uint64: sumInt64, reflect.Uint: sumInt64,
		reflect.Uintptr: sumInt64, reflect.Float32: sumFloat32, reflect.Float64: sumFloat64,
		reflect.Complex64: sumFloat32, reflect.Complex128: sumFloat64,
	},
	Prod: {
		reflect.Int16: prodInt16, reflect.Int32: prodInt32, reflect.Uint16: prodInt16, reflect.Uint32: prodInt32,
		reflect.Float32: prodFloat32, reflect.Float64: prodFloat64,
	},
}

// everyInteger returns a row of loops for an operator on bits.
func everyInteger(loop func(d, a, b *byte, n int)) (row [reflect.Complex128 + 1]func(d, a, b *byte, n int)) {
	for k := reflect.Int; k <= reflect.Uintptr; k++ {
		row[k] = loop
	}
	return row
}

// loopOf returns the loop for an operator on elements of kind k, or nil.
func loopOf(op Op, k reflect.Kind) func(d, a, b *byte, n int) {
	if !cpu.X86.HasAVX2 {
		return nil
	}
	return loops[op][k]
}

// canCopyPast reports whether the CPU has what copyPast uses.
func canCopyPast() bool { return cpu.X86.HasAVX2 }
