//go:build cgo

package ucx

// Atomics on words of 4 and 8 bytes. Operands and results live in the operation's slot, so nothing of
// Go's is kept.

/*
#cgo noescape gx_atomic
#cgo nocallback gx_atomic
#cgo noescape gx_fetch_atomic
#cgo nocallback gx_fetch_atomic
#include "shim.h"
*/
import "C"

import "fmt"

// PostAtomic applies op to the peer's word of the given size (4 or 8 bytes) at address remote, which must
// be a multiple of the size and lie in the memory of key. operand and compare are what AtomicOp says. The
// word has been updated when a later flush completes. It is atomic with respect to other atomics of UCX,
// not necessarily to those of the peer's processors. It fails with ErrInvalidParam for another size, an address that is
// no multiple of it, or a closed key.
func (ep *Endpoint) PostAtomic(op AtomicOp, bytes int, operand, compare, remote uint64, key *RKey) error {
	if op == AtomicSwap || op == AtomicCompareSwap {
		// UCX knows these in their fetching form only.
		r, err := ep.FetchAtomic(op, bytes, operand, compare, remote, key)
		r.Free()
		return err
	}
	s, err := ep.beginAtomic(op, bytes, remote, key)
	if err != nil {
		return err
	}
	w := ep.w
	defer w.unlock()
	_, err = w.posted(s, C.gx_atomic(ep.c, s.c, C.uint32_t(op), C.uint32_t(bytes), C.uint64_t(operand),
		C.uint64_t(remote), key.c), atomicNames[op])
	return err
}

// FetchAtomic does what PostAtomic does, and returns the old value: Request.Value has it when the request is
// complete. A compare-swap happened if and only if the old value equals compare. It fails as PostAtomic
// does.
func (ep *Endpoint) FetchAtomic(op AtomicOp, bytes int, operand, compare, remote uint64, key *RKey) (Request, error) {
	s, err := ep.beginAtomic(op, bytes, remote, key)
	if err != nil {
		return Request{}, err
	}
	w := ep.w
	defer w.unlock()
	value, swap := operand, uint64(0)
	if op == AtomicCompareSwap {
		value, swap = compare, operand
	}
	return w.posted(s, C.gx_fetch_atomic(ep.c, s.c, C.uint32_t(op), C.uint32_t(bytes), C.uint64_t(value),
		C.uint64_t(swap), C.uint64_t(remote), key.c), atomicNames[op])
}

// beginAtomic begins an atomic after checking what UCX would not forgive.
func (ep *Endpoint) beginAtomic(op AtomicOp, bytes int, remote uint64, key *RKey) (*slot, error) {
	detail := ""
	switch {
	case op >= numAtomicOps:
		detail = fmt.Sprintf("there is no atomic operation %d", op)
	case bytes != 4 && bytes != 8:
		detail = fmt.Sprintf("a word has 4 or 8 bytes, not %d", bytes)
	case remote%uint64(bytes) != 0:
		detail = fmt.Sprintf("address %#x is not a multiple of %d", remote, bytes)
	}
	if detail != "" {
		return nil, &Error{Op: "atomic " + op.String(), Status: ErrInvalidParam, Detail: detail}
	}
	feature, name := FeatureAtomic64, "FeatureAtomic64"
	if bytes == 4 {
		feature, name = FeatureAtomic32, "FeatureAtomic32"
	}
	if err := ep.w.ctx.need(atomicNames[op], feature, name); err != nil {
		return nil, err
	}
	return ep.beginKey(atomicNames[op], key)
}
