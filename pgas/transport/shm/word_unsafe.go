package shm

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// apply executes op on one word of heap and returns the word's old value.
func apply(heap []byte, op transport.Op, word transport.Word, operand, cond uint64) uint64 {
	p := unsafe.Pointer(unsafe.SliceData(heap[word.Off:][:word.Bytes])) // checks bounds without touching the word
	if word.Bytes == 4 {
		return uint64(Apply32((*uint32)(p), op, uint32(operand), uint32(cond)))
	}
	return Apply64((*uint64)(p), op, operand, cond)
}

// Apply64 executes op on *p with CPU atomics and returns the old value. It is one locked instruction. From Xor on
// it is a loop of compare-swaps that repeats if the word has changed in between.
func Apply64(p *uint64, op transport.Op, operand, cond uint64) uint64 {
	switch op {
	case transport.Fetch:
		return atomic.LoadUint64(p)
	case transport.Set, transport.Swap:
		return atomic.SwapUint64(p, operand)
	case transport.CompareSwap:
		return CompareSwap64(p, cond, operand)
	case transport.Add:
		return atomic.AddUint64(p, operand) - operand
	case transport.And:
		return atomic.AndUint64(p, operand)
	case transport.Or:
		return atomic.OrUint64(p, operand)
	}
	for {
		old := atomic.LoadUint64(p)
		if v := changed64(op, old, operand); v == old || atomic.CompareAndSwapUint64(p, old, v) {
			return old
		}
	}
}

// changed64 returns the result of op on a word with value old.
func changed64(op transport.Op, old, operand uint64) uint64 {
	switch op {
	case transport.Xor:
		return old ^ operand
	case transport.Min:
		return uint64(min(int64(old), int64(operand)))
	case transport.Max:
		return uint64(max(int64(old), int64(operand)))
	case transport.MinUnsigned:
		return min(old, operand)
	case transport.MaxUnsigned:
		return max(old, operand)
	}
	a, b := math.Float64frombits(old), math.Float64frombits(operand)
	return math.Float64bits(changedFloat(op, a, b))
}

func changedFloat[F float32 | float64](op transport.Op, old, operand F) F {
	switch op {
	case transport.AddFloat:
		return old + operand
	case transport.MinFloat:
		return min(old, operand)
	case transport.MaxFloat:
		return max(old, operand)
	}
	panic("shm: unknown atomic operation")
}

// Apply32 executes op on *p as Apply64 does, for a 4-byte word.
func Apply32(p *uint32, op transport.Op, operand, cond uint32) uint32 {
	switch op {
	case transport.Fetch:
		return atomic.LoadUint32(p)
	case transport.Set, transport.Swap:
		return atomic.SwapUint32(p, operand)
	case transport.CompareSwap:
		return CompareSwap32(p, cond, operand)
	case transport.Add:
		return atomic.AddUint32(p, operand) - operand
	case transport.And:
		return atomic.AndUint32(p, operand)
	case transport.Or:
		return atomic.OrUint32(p, operand)
	}
	for {
		old := atomic.LoadUint32(p)
		if v := changed32(op, old, operand); v == old || atomic.CompareAndSwapUint32(p, old, v) {
			return old
		}
	}
}

func changed32(op transport.Op, old, operand uint32) uint32 {
	switch op {
	case transport.Xor:
		return old ^ operand
	case transport.Min:
		return uint32(min(int32(old), int32(operand)))
	case transport.Max:
		return uint32(max(int32(old), int32(operand)))
	case transport.MinUnsigned:
		return min(old, operand)
	case transport.MaxUnsigned:
		return max(old, operand)
	}
	a, b := math.Float32frombits(old), math.Float32frombits(operand)
	return math.Float32bits(changedFloat(op, a, b))
}

// CompareSwap64 stores v if *p equals cond, and returns the old value: the swap happened iff the result equals
// cond. Go's own compare-swap reports only whether it has swapped, so a load follows a failure. If that load
// finds cond, the word has changed in between, and the attempt is repeated.
func CompareSwap64(p *uint64, cond, v uint64) uint64 {
	for {
		if atomic.CompareAndSwapUint64(p, cond, v) {
			return cond
		}
		if old := atomic.LoadUint64(p); old != cond {
			return old
		}
	}
}

// CompareSwap32 compares and swaps as CompareSwap64 does, for a 4-byte word.
func CompareSwap32(p *uint32, cond, v uint32) uint32 {
	for {
		if atomic.CompareAndSwapUint32(p, cond, v) {
			return cond
		}
		if old := atomic.LoadUint32(p); old != cond {
			return old
		}
	}
}

// Load returns a word of heap, loaded atomically and zero-extended.
func Load(heap []byte, word transport.Word) uint64 { return apply(heap, transport.Fetch, word, 0, 0) }
