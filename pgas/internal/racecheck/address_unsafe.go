package racecheck

import "unsafe"

// address returns where b starts, or 0 if it is empty.
func address(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))
}
