package shm

import (
	"runtime"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

const stepsBase = 64 << 10

// TestLandWaitsForTake: who lands does not copy while the owner may be copying, step by step, since the
// moment in which that matters is too short for chance to find.
func TestLandWaitsForTake(t *testing.T) {
	tr := Open(boot.NewSegment(1, 1, 1<<20))
	ch, r, heap := tr.Open(), tr.Ring(0), tr.Heap(0)
	for round := range byte(3) {
		ch.PutNotify(0, stepsBase, []byte{round + 1}, 0)
		r.Lock()
		landed := make(chan struct{})
		go func() { ch.Fence(0); close(landed) }()
		for range 1000 {
			runtime.Gosched()
		}
		select {
		case <-landed:
			t.Fatal("a fence did not wait for an owner that was taking notes")
		default:
		}
		if round == 1 {
			r.Unlock() // having taken none
			<-landed
			heap[stepsBase] = 99 // what is stored after the fence stays
			r.Lock()
		}
		var n transport.Note
		if !r.Take(&n) {
			t.Fatal("the note is gone")
		}
		if want := map[bool]byte{true: 99, false: round + 1}[round == 1]; heap[stepsBase] != want {
			t.Fatalf("round %d: the heap has %d, want %d", round, heap[stepsBase], want)
		}
		r.Unlock()
		<-landed
	}
}
