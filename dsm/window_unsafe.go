package dsm

// Views that are used after the fence that ends them, told at the access (Options.Check). What View, Update and
// Overwrite return lies in a window then: a second mapping of the pages of these elements. A fence takes the pages away
// from all windows of its PE, so that a later access faults. The addresses are not used again for a while. Read and
// Write return the memory itself, since they inline.

import (
	"runtime/debug"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas"
)

const (
	maxWindows = 8 << 10 // between two fences: the kernel limits mappings; views beyond that are not checked
	maxEnded   = 4 << 10 // the last windows that a fence has ended: a fault in them is explained
)

// windows are the windows of a PE. A nil *windows has none.
type windows struct {
	mu    sync.Mutex
	live  []window
	ended []window
}

// window is what one call has returned.
type window struct {
	base  unsafe.Pointer
	bytes uintptr
	what  string
}

// open maps the pages of memory again and returns where memory is in that mapping. It returns nil if they cannot be
// mapped again. The goroutine that calls it gets a panic for an access that faults, and not the end of the program.
func (w *windows) open(memory unsafe.Pointer, bytes uintptr, what string) unsafe.Pointer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.live) >= maxWindows {
		return nil
	}
	page := uintptr(unix.Getpagesize())
	skip := uintptr(memory) % page
	all := (skip + bytes + page - 1) / page * page
	// A size of 0 for the old mapping leaves it, and maps its pages a second time.
	base, err := unix.MremapPtr(unsafe.Add(memory, -int(skip)), 0, nil, all, unix.MREMAP_MAYMOVE)
	if err != nil {
		return nil
	}
	w.live = append(w.live, window{base, all, what})
	debug.SetPanicOnFault(true)
	return unsafe.Add(base, skip)
}

// end makes all windows inaccessible.
func (w *windows) end() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.live {
		// The fault would not come if this failed. That is no error of the program.
		_, _ = unix.MmapPtr(-1, 0, v.base, v.bytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED)
	}
	w.ended = append(w.ended, w.live...)
	w.live = w.live[:0]
	if extra := len(w.ended) - maxEnded; extra > 0 {
		unmap(w.ended[:extra])
		w.ended = append([]window(nil), w.ended[extra:]...)
	}
}

// close unmaps all windows.
func (w *windows) close() {
	if w == nil {
		return
	}
	w.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	unmap(w.ended)
	w.ended = nil
}

func unmap(list []window) {
	for _, v := range list {
		_ = unix.MunmapPtr(v.base, v.bytes)
	}
}

// explain returns the misuse that a fault at an address in a window is, or nil.
func (w *windows) explain(fault error) error {
	f, ok := fault.(interface{ Addr() uintptr })
	if w == nil || !ok {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.ended {
		if f.Addr()-uintptr(v.base) < v.bytes {
			return &pgas.UsageError{Op: "dsm." + v.what, Msg: "its result is used after a fence of this PE, which has ended it: call it again after the fence"}
		}
	}
	return nil
}

// remappable returns zeroed memory of which windows can be made. It is Go memory if the kernel has no other.
func remappable(bytes int) (memory []byte, free func() error) {
	m, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return make([]byte, bytes), func() error { return nil }
	}
	return m, func() error { return unix.Munmap(m) }
}
