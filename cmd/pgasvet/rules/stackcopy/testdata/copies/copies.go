// Package copies has copies of symmetric records that are used as if they were symmetric, and others.
package copies

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/pgas"
)

func atomics(c design.CellRef) {
	v := *c.Local()
	atomic.AddInt64(&v.Count, 1) // want `the address of a word in a copy of a symmetric record: other PEs update the record itself; use the field's accessor, or the pointer that Local returns`
	p := c.Local()
	atomic.AddInt64(&p.Count, 1)
}

func ranges(cells design.CellSym) (sum float64) {
	for _, v := range cells.Local() {
		v.Sum = 0 // want `store to a copy of a symmetric record: no PE sees it, this one neither; store through the pointer that Local returns`
	}
	for i := range cells.Local() {
		cells.Local()[i].Sum = 0
	}
	for _, v := range cells.Local() {
		sum += v.Sum
	}
	return sum
}

func stores(c design.CellRef) {
	v := *c.Local()
	v.Sum = 5 // want `store to a copy of a symmetric record`
}

func addresses(c design.CellRef) (uintptr, uintptr) {
	v := *c.Local()
	return uintptr(unsafe.Pointer(&v)), // want `the address of a copy of a symmetric record: no other PE has this memory at that place; use the pointer that Local returns`
		uintptr(unsafe.Pointer(c.Local()))
}

func snapshots(c design.CellRef, r pgas.Ref[design.Cell], pe int) {
	v := *c.Local()
	fmt.Println(v.Sum, v.Count)
	v.Sum = 5
	r.PutNB(pe, &v)
	u := *c.Local()
	u.Sum++
	fmt.Println(u.Sum)
	back := *c.Local()
	back.Sum = 7
	*c.Local() = back
}

func own() {
	var v design.Cell
	atomic.AddInt64(&v.Count, 1)
	v.Sum = 5
}
