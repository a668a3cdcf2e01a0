package transporttest

import (
	"math"

	"github.com/gopgas/gopgas/pgas/transport"
)

// Twin returns the value of a word of width bytes after an atomic operation on old, computed in the plainest way.
func Twin(op transport.Op, old, operand, cond uint64, width int) uint64 {
	if width == 4 {
		return uint64(twin(op, uint32(old), uint32(operand), uint32(cond),
			func(v uint32) int64 { return int64(int32(v)) },
			func(v uint32) float64 { return float64(math.Float32frombits(v)) },
			func(f float64) uint32 { return math.Float32bits(float32(f)) }))
	}
	return twin(op, old, operand, cond,
		func(v uint64) int64 { return int64(v) }, math.Float64frombits, math.Float64bits)
}

func twin[W uint32 | uint64](op transport.Op, old, operand, cond W, signed func(W) int64, float func(W) float64, bits func(float64) W) W {
	switch op {
	case transport.Fetch:
		return old
	case transport.Set, transport.Swap:
		return operand
	case transport.CompareSwap:
		if old == cond {
			return operand
		}
		return old
	case transport.Add:
		return old + operand
	case transport.And:
		return old & operand
	case transport.Or:
		return old | operand
	case transport.Xor:
		return old ^ operand
	case transport.Min, transport.Max:
		if (signed(operand) < signed(old)) == (op == transport.Min) {
			return operand
		}
		return old
	case transport.MinUnsigned, transport.MaxUnsigned:
		if (operand < old) == (op == transport.MinUnsigned) {
			return operand
		}
		return old
	case transport.AddFloat:
		// exact enough for both widths: a float64 holds the sum of two float32 well
		return bits(float(old) + float(operand))
	case transport.MinFloat:
		return bits(math.Min(float(old), float(operand)))
	case transport.MaxFloat:
		return bits(math.Max(float(old), float(operand)))
	}
	panic("transporttest: an operation without a twin")
}

// Orderly reports whether the outcome of op on these words is defined to the bit. A floating-point operation on a NaN
// has no such outcome.
func Orderly(op transport.Op, old, operand uint64, width int) bool {
	if op < transport.AddFloat {
		return true
	}
	if width == 4 {
		a, b := math.Float32frombits(uint32(old)), math.Float32frombits(uint32(operand))
		return a == a && b == b && a+b == a+b
	}
	a, b := math.Float64frombits(old), math.Float64frombits(operand)
	return a == a && b == b && a+b == a+b
}
