package pgas

// The fast path, once. See peer_unsafe.go for why the slow path is a parameter.

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/node"
)

// farFunc moves n bytes between p and offset off of pe's heap through a transport. It does not keep p.
type farFunc = func(c *Context, pe int, off uintptr, p unsafe.Pointer, n uintptr)

// store puts v: one comparison, one load, one store.
//
//gcassert:inline
func store[T any](c *Context, off uintptr, pe int, v T, far farFunc) {
	if i := uint(pe - c.first); i < uint(len(c.near)) {
		*(*T)(unsafe.Add(c.near[i], off)) = v
	} else {
		t := v // a copy, so that v itself need not live in memory
		far(c, pe, off, unsafe.Pointer(&t), unsafe.Sizeof(t))
	}
}

// fetch gets the element.
//
//gcassert:inline
func fetch[T any](c *Context, off uintptr, pe int, far farFunc) T {
	if i := uint(pe - c.first); i < uint(len(c.near)) {
		return *(*T)(unsafe.Add(c.near[i], off))
	}
	var t T
	far(c, pe, off, unsafe.Pointer(&t), unsafe.Sizeof(t))
	return t
}

//go:noinline
func putFar(c *Context, pe int, off uintptr, p unsafe.Pointer, n uintptr) {
	via, to := c.far("Put", pe)
	via.Put(to, c.place("Put", off, n), node.NoescapeBytes(p, n))
}

//go:noinline
func getFar(c *Context, pe int, off uintptr, p unsafe.Pointer, n uintptr) {
	c.mustGet("Get", pe, node.NoescapeBytes(p, n), uint64(off))
}
