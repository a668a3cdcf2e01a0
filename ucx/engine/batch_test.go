//go:build cgo

package engine

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"
)

const batchTicks = 16 // BATCH_TICKS of state.h

// TestBatchLeavesLater: what a batch gathers leaves by itself, but only after many looks of the service
// thread; a signal too.
func TestBatchLeavesLater(t *testing.T) {
	a, b, c := pair(t, false, 0)
	if err := c.Quiet(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(5) {
		c.Batch(true)
		start := atomic.LoadUint64(a.ticks)
		if i%2 == 0 {
			c.Put(1, 4096, binary.NativeEndian.AppendUint64(nil, i+1))
		} else {
			c.PutSignal(1, 0, nil, 4096, wordSet, i+1)
		}
		eventually(t, "it arrives", func() bool { return word(b.heap, 4096) == i+1 })
		if n := atomic.LoadUint64(a.ticks) - start; n < batchTicks {
			t.Fatalf("it has left after %d ticks", n)
		}
	}
}

// BenchmarkBatch is a program that computes for a microsecond between two small operations. What is
// counted is messages: each costs both sides a system call, and the target an acknowledgement.
func BenchmarkBatch(b *testing.B) {
	for _, signal := range []bool{false, true} {
		for _, on := range []bool{false, true} {
			b.Run(fmt.Sprintf("signal=%v/batch=%v", signal, on), func(b *testing.B) {
				_, target, c := pair(b, false, 0)
				c.Batch(on)
				src, x := make([]byte, 8), uint64(1)
				before := target.Served()
				for i := 0; b.Loop(); i++ {
					if signal {
						c.PutSignal(1, 4096+8*uint64(i%1000), src, 64, wordSet, x)
					} else {
						c.Put(1, 4096+8*uint64(i%1000), src)
					}
					for range 1000 {
						x = x*6364136223846793005 + 1442695040888963407
					}
				}
				if err := c.Quiet(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(1000*float64(target.Served()-before)/float64(b.N), "messages/1000ops")
			})
		}
	}
}
