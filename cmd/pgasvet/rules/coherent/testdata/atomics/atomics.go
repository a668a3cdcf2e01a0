// Package atomics has atomics on elements of coherent arrays, and others on ordinary memory.
package atomics

import (
	"sync/atomic"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/coherent"
	"github.com/gopgas/gopgas/dsm"
)

type record struct {
	count int64
	flag  atomic.Int32
}

func elements(a dsm.Array[int64], b dsm.Array[record], bodies coherent.BodyArray) {
	s := a.Slice()
	atomic.AddInt64(&s[3], 1)                            // want `atomic AddInt64 on an element of a coherent array is atomic within this PE only: use a word of symmetric memory \(pgas.Atomic\), or a dsm.Mutex`
	atomic.StoreInt64(&a.Update(0, 5)[1], 1)             // want `atomic StoreInt64 on an element`
	atomic.CompareAndSwapInt64(a.Write(2), 0, 1)         // want `atomic CompareAndSwapInt64 on an element`
	atomic.LoadInt64(&b.View(0, 1)[0].count)             // want `atomic LoadInt64 on an element`
	b.Update(0, 1)[0].flag.Store(1)                      // want `atomic Store on an element`
	atomic.AddInt32(&bodies.Update(0, 1)[0].Child[2], 1) // want `atomic AddInt32 on an element`
	p := &s[4]
	for range 3 {
		defer atomic.AddInt64(p, 1) // want `atomic AddInt64 on an element`
	}
}

func ordinary(a dsm.Array[int64], next *atomic.Int64) {
	var n int64
	atomic.AddInt64(&n, a.At(3))
	next.Add(a.View(0, 1)[0])
	own := append([]int64(nil), a.View(0, 5)...)
	atomic.AddInt64(&own[2], 1)
}
