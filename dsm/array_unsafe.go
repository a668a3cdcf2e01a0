package dsm

// Accesses to arrays. In modes Shared and Paged an access is a load or a store. In mode Soft it looks at the state of
// the block first (checks.go).

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Array is a PE's view of the elements of an array of a region. It is a small value and may be copied: the compiler
// keeps it in registers, also as part of a generated reference, as long as it has no more than three words.
type Array[T any] struct {
	base   unsafe.Pointer // the address of element 0 in this PE's copy
	direct uint           // the number of elements that an access reaches without a check: all, or none in mode Soft
	checks *checks        // the checks of accesses; nil only in the zero Array
}

func makeArray[T any](r *Region, from uint64, n int) Array[T] {
	a := Array[T]{checks: newChecks(r, from, n, unsafe.Sizeof(*new(T)))}
	if n > 0 && len(r.memory.bytes) > 0 {
		a.base = unsafe.Pointer(unsafe.SliceData(r.memory.bytes[from:]))
	}
	if r.memory.soft == nil {
		a.direct = uint(n)
	}
	return a
}

// Len returns the number of elements.
func (a Array[T]) Len() int {
	if a.checks == nil {
		return 0
	}
	return int(a.checks.n)
}

// region returns the region of the array, or nil for the zero Array.
func (a Array[T]) region() *Region {
	if a.checks == nil {
		return nil
	}
	return a.checks.r
}

// offset returns where element i is in the region.
func (a Array[T]) offset(i int) uint64 { return a.checks.from + uint64(i)*a.checks.size }

// slice returns elements lo to hi-1 of this PE's copy.
func (a Array[T]) slice(lo, hi int) []T {
	if lo == hi {
		return nil
	}
	return unsafe.Slice((*T)(a.base), a.checks.n)[lo:hi:hi]
}

// Slice returns the array as memory. In mode Paged, accesses to it fetch what this PE does not have, and notice what it
// writes. It panics with *pgas.UsageError in mode Soft, where a plain access cannot be noticed.
func (a Array[T]) Slice() []T {
	a.region().mustBeOpen("Array.Slice")
	if a.checks.r.mode == Soft {
		misuse("Array.Slice", "mode Soft does not notice plain accesses: use View, Update, At and Set, or make Paged possible (%s)", a.checks.r.whySoft())
	}
	return a.slice(0, a.Len())
}

// View returns valid copies of the elements from lo to hi-1, to be read until the next fence of this PE. What is
// missing is fetched, all at once. It panics with *pgas.PeerError if a PE that has some of them is lost, and with
// *pgas.UsageError if the range is not of the array.
func (a Array[T]) View(lo, hi int) []T {
	a.checks.prepare("View", lo, hi, false)
	return a.handOut("View", lo, hi)
}

// Update returns valid copies of the elements from lo to hi-1, to be read and written until the next fence of this PE.
// The next release publishes what has been changed. It panics as View does.
func (a Array[T]) Update(lo, hi int) []T {
	a.checks.prepare("Update", lo, hi, true)
	return a.handOut("Update", lo, hi)
}

// Overwrite returns memory for the elements from lo to hi-1, all of which the caller writes before the next fence of
// this PE: their contents are undefined, and nothing is fetched for blocks that lie wholly in the range. It panics as
// View does.
func (a Array[T]) Overwrite(lo, hi int) []T {
	a.mustHold("Overwrite", lo, hi)
	if a.checks.r.fences.Cache == nil || lo == hi {
		return a.handOut("Overwrite", lo, hi)
	}
	from, to := a.offset(lo), a.offset(hi)
	first, last := a.checks.r.memory.blocksOf(from, to)
	whole, end := int32((from+uint64(a.checks.r.o.Block)-1)>>a.checks.r.memory.shift), int32(to>>a.checks.r.memory.shift)
	if end <= whole {
		a.checks.r.ensure(first, last, true)
		return a.handOut("Overwrite", lo, hi)
	}
	a.checks.r.ensure(first, whole, true)
	a.checks.r.ensure(end, last, true)
	a.checks.r.fences.Cache.Overwritten(whole, end)
	return a.handOut("Overwrite", lo, hi)
}

// Read returns a pointer to element i, valid for reading until the next fence of this PE. It panics as View does.
func (a Array[T]) Read(i int) *T {
	reading(a.checks, a.direct, i, read)
	return (*T)(unsafe.Add(a.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// Write returns a pointer to element i, valid for reading and writing until the next fence of this PE. It panics as
// View does.
func (a Array[T]) Write(i int) *T {
	writing(a.checks, a.direct, i, write)
	return (*T)(unsafe.Add(a.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// At returns element i. It panics as View does.
func (a Array[T]) At(i int) T {
	reading(a.checks, a.direct, i, read)
	return *(*T)(unsafe.Add(a.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// Set stores v in element i. The next release of this PE publishes it. It panics as View does.
func (a Array[T]) Set(i int, v T) { set(a, i, v, Array[T].setSoft) }

// set stores v in an element that is accessed directly, or calls otherwise, which is a parameter so that Set inlines.
func set[T any](a Array[T], i int, v T, otherwise func(Array[T], int, T)) {
	if uint(i) >= a.direct {
		otherwise(a, i, v)
		return
	}
	*(*T)(unsafe.Add(a.base, uintptr(i)*unsafe.Sizeof(v))) = v
}

// setSoft stores v while no fence of another goroutine can take the block from it.
func (a Array[T]) setSoft(i int, v T) {
	for {
		p := a.Write(i) // it panics if i is out of range
		a.checks.r.memory.soft.mu.Lock()
		if ok := a.writable(i); ok {
			*p = v
			a.checks.r.memory.soft.mu.Unlock()
			return
		}
		a.checks.r.memory.soft.mu.Unlock()
	}
}

// writable reports whether all blocks of element i may be written.
func (a Array[T]) writable(i int) bool {
	lo, hi := a.checks.r.memory.blocksOf(a.offset(i), a.offset(i+1))
	for b := lo; b < hi; b++ {
		if a.checks.r.memory.soft.states[b].Load()&changeable == 0 {
			return false
		}
	}
	return true
}

// handOut returns elements lo to hi-1 of this PE's copy, in a window if the region checks views.
func (a Array[T]) handOut(op string, lo, hi int) []T {
	s := a.slice(lo, hi)
	if a.checks.r.observed.windows == nil || len(s) == 0 || unsafe.Sizeof(s[0]) == 0 {
		return s
	}
	_, file, line, _ := runtime.Caller(2)
	what := fmt.Sprintf("Array.%s of elements [%d:%d] at %s:%d", op, lo, hi, file, line)
	p := a.checks.r.observed.windows.open(unsafe.Pointer(unsafe.SliceData(s)), uintptr(len(s))*unsafe.Sizeof(s[0]), what)
	if p == nil {
		return s
	}
	return unsafe.Slice((*T)(p), len(s))
}

func (a Array[T]) mustHold(op string, lo, hi int) { a.checks.mustHold(op, lo, hi) }
