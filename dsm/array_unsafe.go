package dsm

// Accesses to arrays. In modes Shared and Paged an access is a load or a store. In mode Soft it looks at the state of the
// block first (checks.go).

import "unsafe"

// Array is a PE's view of n elements of a region. It is a small value and may be copied.
type Array[T any] struct {
	r      *Region
	base   unsafe.Pointer // of this PE's copy of element 0
	n      int
	direct []T     // the elements that an access reaches without a check: all, or none in mode Soft
	from   uint64  // offset of element 0 in the region
	checks *checks // of accesses; nil only in the zero Array
}

func makeArray[T any](r *Region, from uint64, n int) Array[T] {
	a := Array[T]{r: r, n: n, from: from, checks: newChecks(r, from, n, unsafe.Sizeof(*new(T)))}
	if n > 0 && len(r.memory) > 0 {
		a.base = unsafe.Pointer(unsafe.SliceData(r.memory[from:]))
	}
	if r.soft == nil {
		a.direct = a.slice(0, n)
	}
	return a
}

// Len returns the number of elements.
func (a Array[T]) Len() int { return a.n }

// offset returns where element i is in the region.
func (a Array[T]) offset(i int) uint64 { return a.from + uint64(i)*uint64(unsafe.Sizeof(*new(T))) }

// slice returns elements lo to hi-1 of this PE's copy.
func (a Array[T]) slice(lo, hi int) []T {
	if lo == hi {
		return nil
	}
	return unsafe.Slice((*T)(a.base), a.n)[lo:hi:hi]
}

// Slice returns the array as memory. In mode Paged, accesses to it fetch what this PE does not have, and notice what it
// writes. It panics with *pgas.UsageError in mode Soft, where a plain access cannot be noticed.
func (a Array[T]) Slice() []T {
	a.r.mustBeOpen("Array.Slice")
	if a.r.mode == Soft {
		misuse("Array.Slice", "mode Soft does not notice plain accesses: use View, Update, At and Set, or make Paged possible (%s)", a.r.whySoft())
	}
	return a.slice(0, a.n)
}

// View returns valid copies of the elements from lo to hi-1, to be read until the next fence of this PE. What is missing
// is fetched, all at once. It panics with *pgas.PeerError if a PE that has some of them is lost, and with
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

// Overwrite returns memory for the elements from lo to hi-1, all of which the caller writes before the next fence of this
// PE: their contents are undefined, and nothing is fetched for blocks that lie wholly in the range. It panics as View does.
func (a Array[T]) Overwrite(lo, hi int) []T {
	a.mustHold("Overwrite", lo, hi)
	if a.r.cache == nil || lo == hi {
		return a.handOut("Overwrite", lo, hi)
	}
	from, to := a.offset(lo), a.offset(hi)
	first, last := a.r.blocksOf(from, to)
	whole, end := int32((from+uint64(a.r.o.Block)-1)>>a.r.shift), int32(to>>a.r.shift)
	if end <= whole {
		a.r.ensure(first, last, true)
		return a.handOut("Overwrite", lo, hi)
	}
	a.r.ensure(first, whole, true)
	a.r.ensure(end, last, true)
	a.r.cache.overwritten(whole, end)
	return a.handOut("Overwrite", lo, hi)
}

// Read returns a pointer to element i, valid for reading until the next fence of this PE. It panics as View does.
func (a Array[T]) Read(i int) *T {
	if uint(i) >= uint(len(a.direct)) {
		a.checks.read(i)
	}
	return (*T)(unsafe.Add(a.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// Write returns a pointer to element i, valid for reading and writing until the next fence of this PE. It panics as View
// does.
func (a Array[T]) Write(i int) *T {
	if uint(i) >= uint(len(a.direct)) {
		a.checks.write(i)
	}
	return (*T)(unsafe.Add(a.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// At returns element i. It panics as View does.
func (a Array[T]) At(i int) T {
	if uint(i) >= uint(len(a.direct)) {
		a.checks.read(i)
	}
	return *(*T)(unsafe.Add(a.base, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// Set stores v in element i. The next release of this PE publishes it. It panics as View does.
func (a Array[T]) Set(i int, v T) {
	if uint(i) < uint(len(a.direct)) {
		a.direct[i] = v
	} else {
		a.setSoft(i, v)
	}
}

// setSoft stores v while no fence of another goroutine can take the block from it.
func (a Array[T]) setSoft(i int, v T) {
	for {
		p := a.Write(i) // it panics if i is out of range
		a.r.soft.mu.Lock()
		if ok := a.writable(i); ok {
			*p = v
			a.r.soft.mu.Unlock()
			return
		}
		a.r.soft.mu.Unlock()
	}
}

// writable reports whether all blocks of element i may be written.
func (a Array[T]) writable(i int) bool {
	lo, hi := a.r.blocksOf(a.offset(i), a.offset(i+1))
	for b := lo; b < hi; b++ {
		if a.r.soft.states[b].Load()&changeable == 0 {
			return false
		}
	}
	return true
}
