package node

// Addresses in the own heap.

import "unsafe"

// Own returns the address of offset off in this PE's own heap, for the runtime.
func (n *Node) Own(off uintptr) unsafe.Pointer { return unsafe.Add(n.HeapBase.P, off) }
