package boot

// Mappings at a multiple of HeapAlign. The kernel chooses addresses that are multiples of a page only, so a mapping
// is placed inside a reservation that is larger by HeapAlign. The reserved addresses have no memory; those before
// and after the mapping are given back.

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapAligned maps the first n bytes of f, shared, at a multiple of HeapAlign.
func mapAligned(f *os.File, n int) ([]byte, error) {
	return mapOver(int(f.Fd()), n, unix.MAP_SHARED)
}

// MapAnonymous maps n zeroed bytes of no file at a multiple of HeapAlign. Only touched pages take memory. It returns
// the kernel's error.
func MapAnonymous(n int) ([]byte, error) {
	return mapOver(-1, n, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// UnmapAnonymous ends a mapping of MapAnonymous. It returns the kernel's error.
func UnmapAnonymous(mem []byte) error { return unmap(mem) }

// mapOver maps over a reservation, so that no other goroutine's mapping can come between.
func mapOver(fd, n, flags int) ([]byte, error) {
	mem, err := reserve(n)
	if err != nil {
		return nil, err
	}
	_, err = unix.MmapPtr(fd, 0, unsafe.Pointer(&mem[0]), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		unmap(mem)
		return nil, err
	}
	return mem, nil
}

// reserve returns n bytes of addresses without memory, whole pages at a multiple of HeapAlign. unmap gives them back.
func reserve(n int) ([]byte, error) {
	n = (n + PageBytes - 1) &^ (PageBytes - 1)
	all := n + HeapAlign
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(all), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	mem := unsafe.Slice((*byte)(p), all)
	skew := int(-uintptr(p) % HeapAlign)
	for _, rest := range [][]byte{mem[:skew], mem[skew+n:]} {
		if len(rest) > 0 {
			_ = unmap(rest) // on failure the rest stays reserved, which costs addresses only
		}
	}
	return mem[skew:][:n:n], nil
}

// cover takes the memory of mem, which is part of a mapping, and leaves the addresses reserved.
func cover(mem []byte) error {
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&mem[0]), uintptr(len(mem)), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED)
	return err
}

func unmap(mem []byte) error { return unix.MunmapPtr(unsafe.Pointer(&mem[0]), uintptr(len(mem))) }
