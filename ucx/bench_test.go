//go:build cgo

package ucx

import (
	"fmt"
	"testing"
)

// What a call costs: crossings, not networks. Within one process and over shared memory UCX completes a
// small put with a store, so nearly all of it is the way there and back.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{8, CopyMax, CopyMax + 1, 1 << 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := newPair(b, "self,posix", 1<<20)
			src := make([]byte, n)
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				r, err := p.ep.Put(src, p.mem.Addr(), p.key)
				if err != nil {
					b.Fatal(err)
				}
				r.Free()
			}
		})
	}
}

func BenchmarkFetchAdd(b *testing.B) {
	p := newPair(b, "self,posix", 64)
	b.ReportAllocs()
	for b.Loop() {
		r, err := p.ep.FetchAtomic(AtomicAdd, 8, 1, 0, p.mem.Addr(), p.key)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Wait(p.ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// The floor: a crossing that does almost nothing.
func BenchmarkFence(b *testing.B) {
	p := newPair(b, "self,posix", 64)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.origin.Fence(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutFlushTCP(b *testing.B) {
	p := newPair(b, "tcp", 64)
	src := make([]byte, 8)
	b.ReportAllocs()
	for b.Loop() {
		r, err := p.ep.Put(src, p.mem.Addr(), p.key)
		if err != nil {
			b.Fatal(err)
		}
		r.Free()
		p.flush(b)
	}
}
