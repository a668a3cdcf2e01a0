// Package vector has the inner loops of reductions by the vectors of the CPU, d[i] = a[i] op b[i], and a copy that goes
// past the caches.
//
// The loops are in assembly, for amd64 with AVX2; tests/assembly writes them. On other CPUs, and for what has no loop
// here, Combine does nothing, and its caller's loop in Go everything: that is also what the tests compare with.
//
//	op.go                                    operators
//	kernels_stubs_amd64.go, kernels_amd64.s  the loops
//	table_amd64.go, table_other.go           which loop is for which operator and type
//	vector.go                                Combine and CopyPast
//	detector_race_unsafe.go                  what assembly reads and writes, for the race detector
//	detector_norace.go                       nothing, where there is none
//
//ci:norace
package vector

import "reflect"

// Combine combines the first elements of a and b, which are of kind k, into d. It returns how many bytes it did: 0, or
// all but those that fill no vector. a and b are as long as d, which may be one of them.
func Combine(op Op, k reflect.Kind, d, a, b []byte) int {
	if len(d) < Least {
		return 0
	}
	return combine(loopOf(op, k), d, a, b)
}

// combine does it by one loop, which may be nil.
func combine(loop func(d, a, b *byte, n int), d, a, b []byte) int {
	n := len(d) &^ (vectorBytes - 1)
	if loop == nil || n == 0 {
		return 0
	}
	_, _ = a[n-1], b[n-1]
	ToDetector(d[:n], a[:n], b[:n])
	loop(&d[0], &a[0], &b[0], n)
	return n
}

// CopyPast copies src to dst, which is as long, by stores that go past the caches: they need not fetch what they
// overwrite, and evict nothing. It is for more than the caches hold. On other CPUs it is copy.
func CopyPast(dst, src []byte) {
	if len(src) < Least || !canCopyPast() {
		copy(dst, src)
		return
	}
	_ = dst[len(src)-1]
	ToDetector(dst, src, nil)
	copyPast(&dst[0], &src[0], len(src))
}
