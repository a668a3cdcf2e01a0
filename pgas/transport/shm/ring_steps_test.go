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

	// The owner has begun to take the entry, and is through with it after a while.
	ch.PutNotify(0, stepsBase, []byte{1}, 0)
	r.words.taking.Store(1)
	landed := make(chan struct{})
	go func() { ch.Fence(0); close(landed) }()
	for range 1000 {
		runtime.Gosched()
	}
	select {
	case <-landed:
		t.Fatal("a fence did not wait for an owner that was copying")
	default:
	}
	heap[stepsBase] = 1
	r.next = 1
	r.words.taken.Store(1)
	<-landed

	// The owner begins when the other has.
	ch.PutNotify(0, stepsBase, []byte{2}, 0)
	r.entries[1].state.Store(2*statesOf + stateLanding)
	var n transport.Note
	if r.Take(&n) || heap[stepsBase] == 2 || r.words.taking.Load() == 2 {
		t.Fatal("the owner copies what another copies, or keeps it from that")
	}
	r.entries[1].state.Store(2*statesOf + stateInline)
	ch.Fence(0)
	heap[stepsBase] = 99
	if !r.Take(&n) || heap[stepsBase] != 99 {
		t.Fatal("what had landed was copied again")
	}

	// The owner says so before it copies.
	ch.PutNotify(0, stepsBase, []byte{3}, 0)
	if !r.Take(&n) || r.words.taking.Load() != 3 || heap[stepsBase] != 3 {
		t.Fatal("the owner does not say what it copies")
	}
}
