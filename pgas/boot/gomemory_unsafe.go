package boot

import (
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// goMemory describes the memory of a segment in Go memory, for its guards.
type goMemory struct {
	raw     *byte // start of the allocation, as the garbage collector knows it
	skew    int   // bytes from raw to the segment
	unguard sync.Once
}

// newMemory returns n bytes of Go memory that are zero, at a multiple of HeapAlign, and where they are in their
// allocation. The kernel supplies the zeros, page by page, when the pages are touched. The allocator would write them
// into all the pages if the garbage collector had used the memory before: in tests that takes longer than their work.
func newMemory(n uint64) (raw *byte, skew int, mem []byte) {
	var b strings.Builder // the one allocator of the library that leaves out the zeros
	b.Grow(int(n) + HeapAlign)
	b.WriteByte(0)
	p := unsafe.Pointer(unsafe.StringData(b.String()))
	skew = int(-uintptr(p) % HeapAlign)
	mem = unsafe.Slice((*byte)(unsafe.Add(p, skew)), n)
	whole := len(mem) &^ (os.Getpagesize() - 1)
	if unix.Madvise(mem[:whole], unix.MADV_DONTNEED) != nil {
		whole = 0
	}
	clear(mem[whole:])
	return (*byte)(p), skew, mem
}
