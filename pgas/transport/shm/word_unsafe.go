package shm

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/pgas/transport"
)

// apply executes op on one word of heap and returns its old value.
func apply(heap []byte, op transport.Op, word transport.Word, operand, cond uint64) uint64 {
	p := unsafe.Pointer(unsafe.SliceData(heap[word.Off:][:word.Bytes])) // checks bounds without touching the word
	if word.Bytes == 4 {
		return uint64(Apply32((*uint32)(p), op, uint32(operand), uint32(cond)))
	}
	return Apply64((*uint64)(p), op, operand, cond)
}

// Apply64 executes op on *p with CPU atomics and returns the old value. It is one locked instruction, or
// from Xor on a loop of them that repeats when another has changed the word in between.
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

// changed64 is what op makes of a word that is old.
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

// Apply32 is Apply64 for 4-byte words.
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

// CompareSwap64 stores v if *p equals cond and returns what *p was: the swap happened iff the result
// equals cond. Go's own instruction tells only whether it happened, so a failure is followed by a
// load; when that finds cond again the word changed in between and the attempt is repeated.
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

// CompareSwap32 is CompareSwap64 for 4-byte words.
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

// Load loads a word of heap atomically, zero-extended.
func Load(heap []byte, word transport.Word) uint64 { return apply(heap, transport.Fetch, word, 0, 0) }
