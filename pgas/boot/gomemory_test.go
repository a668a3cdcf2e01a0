package boot

import (
	"runtime"
	"testing"
)

// TestNewSegmentIsZero: a segment is zero, although the garbage collector has used its memory for another one, of which
// a guard had shut a part.
func TestNewSegmentIsZero(t *testing.T) {
	for range 3 {
		s := NewSegment(1, 1, RoundHeap(1<<20))
		g, err := s.Guard(0)
		if err != nil {
			t.Fatal(err)
		}
		const opened = 1 << 20
		if err := g.Open(ReservedBytes, opened); err != nil {
			t.Fatal(err)
		}
		heap := s.Heap(0)[:ReservedBytes+opened]
		for i := 0; i < len(heap); i += 16 * PageBytes {
			if heap[i] != 0 {
				t.Fatalf("byte %d of the heap is %d", i, heap[i])
			}
			heap[i] = 7
		}
		runtime.GC() // finds the segment unused, and has the guard undone
		runtime.GC()
	}
}
