package coll

// Which CPU this goroutine runs on.

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// currentCPU returns the number of the CPU on which the caller was a moment ago; 0 if the kernel does not say. It takes
// some 100 ns.
func currentCPU() uint32 {
	var cpu uint32
	unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return cpu
}
