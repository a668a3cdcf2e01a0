package boot

// The guarded view of the heaps, for programs that run with PGAS_CHECK=1: pages that hold no live allocation
// cannot be read or written through it.
//
// A mapped segment is mapped a second time. The program gets its pointers into the second view; transports and
// the runtime keep the first, which is never protected, so an access that arrives late from another PE does not
// crash the process that serves it. Protection belongs to the mapping of one process, so each PE guards its
// view of every heap of the host.
//
// A segment in Go memory cannot be mapped twice, and must not be: the race detector knows Go memory only. Of such a
// segment the pages themselves are protected, and each PE guards its own heap for all PEs.

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Guard is a guarded view of the heaps of a segment.
type Guard struct {
	seg    *Segment
	mem    []byte // the view
	lo, hi int    // the heaps that this view protects
	mapped bool   // mem is a mapping of its own
}

// Guard makes a guarded view for local PE i. The heap beyond the reserved bytes is inaccessible until Open. It returns
// an error if the pages of the heaps cannot be protected: their size is not the system's, the segment is part of
// another mapping, or the kernel refuses.
func (s *Segment) Guard(i int) (*Guard, error) {
	switch {
	case os.Getpagesize() != PageBytes || s.Header.HeapMax%PageBytes != 0 || s.Header.HeapMax < ReservedBytes:
		return nil, fmt.Errorf("heaps of %d bytes do not end on pages of %d", s.Header.HeapMax, os.Getpagesize())
	case !s.mapped && s.raw == nil:
		return nil, errors.New("the segment is part of another mapping")
	}
	g := &Guard{seg: s, mem: s.mem, lo: i, hi: i + 1}
	if s.mapped {
		mem, err := mapAgain(s.mem)
		if err != nil {
			return nil, err
		}
		g.mem, g.lo, g.hi, g.mapped = mem, 0, int(s.Header.Local), true
		s.view = mem
	} else {
		s.unguard.Do(func() { runtime.SetFinalizer(s.raw, unprotectAll(s.skew, len(s.mem))) })
	}
	if err := g.Shut(ReservedBytes, s.Header.HeapMax-ReservedBytes); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// mapAgain maps the pages of a shared mapping a second time, at a multiple of HeapAlign.
func mapAgain(mem []byte) ([]byte, error) {
	to, err := reserve(len(mem))
	if err == nil {
		_, err = unix.MremapPtr(unsafe.Pointer(&mem[0]), 0, unsafe.Pointer(&to[0]), uintptr(len(mem)), unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
		if err != nil {
			unmap(to)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of host segment a second time: %w", len(mem), err)
	}
	return to, nil
}

// unprotectAll returns the finalizer of guarded Go memory: it makes the memory accessible again before the
// garbage collector reuses it. It gets the memory as its argument, since a reference in the closure would keep
// it alive.
func unprotectAll(skew, n int) func(*byte) {
	return func(raw *byte) {
		mem := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(raw), skew)), n)
		if err := unix.Mprotect(mem, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			panic(fmt.Sprintf("unprotecting %d bytes of a host segment: %v", n, err))
		}
	}
}

// Heap returns the view of the heap of local PE i.
func (g *Guard) Heap(i int) []byte {
	at := g.seg.HeapOffset(i)
	return g.mem[at:][:g.seg.Header.HeapMax]
}

// Open makes n bytes from off accessible, rounded to whole pages. It returns the kernel's error.
func (g *Guard) Open(off, n uint64) error { return g.protect(off, n, unix.PROT_READ|unix.PROT_WRITE) }

// Shut makes n bytes from off inaccessible, rounded to whole pages. It returns the kernel's error.
func (g *Guard) Shut(off, n uint64) error { return g.protect(off, n, unix.PROT_NONE) }

func (g *Guard) protect(off, n uint64, access int) error {
	lo, hi := off&^(PageBytes-1), (off+n+PageBytes-1)&^(PageBytes-1)
	for i := g.lo; i < g.hi; i++ {
		if err := unix.Mprotect(g.Heap(i)[lo:min(hi, g.seg.Header.HeapMax)], access); err != nil {
			return fmt.Errorf("protecting %d bytes of a heap: %w", hi-lo, err)
		}
	}
	return nil
}

// Find returns the local PE with an address of the view in its heap, and the offset in that heap. ok reports whether
// such a PE exists.
func (g *Guard) Find(addr uintptr) (i int, off uint64, ok bool) {
	at := uint64(addr - uintptr(unsafe.Pointer(&g.mem[0])))
	first := g.seg.HeapOffset(0)
	if at < first || at >= uint64(len(g.mem)) {
		return 0, 0, false
	}
	at -= first
	i, off = int(at/alignUp(g.seg.Header.HeapMax)), at%alignUp(g.seg.Header.HeapMax)
	return i, off, off < g.seg.Header.HeapMax
}

// Close ends the view. If the view was mapped separately, pointers into it become invalid. It returns the kernel's
// error.
func (g *Guard) Close() error {
	if !g.mapped {
		return nil
	}
	g.mapped, g.seg.view = false, nil
	if err := unmap(g.mem); err != nil {
		return fmt.Errorf("unmapping a guarded view: %w", err)
	}
	return nil
}
