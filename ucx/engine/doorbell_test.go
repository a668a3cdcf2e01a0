//go:build cgo

package engine

import "testing"

// TestDoorbellOfWatchedRange: the doorbell of a PE that sleeps on a range of words (boot.WatchRange) is rung for all of
// it, and for nothing else.
func TestDoorbellOfWatchedRange(t *testing.T) {
	_, b, c := pair(t, false, 0)
	settle := func() { // the doorbell is rung after the answer has left, and before the next message is applied
		for range 2 {
			c.Post(1, wordSet, 8192, 8, 1)
			if err := c.Quiet(t.Context(), -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, block := range []struct{ lo, hi, waiting uint64 }{
		{64, 128, 64 | 2},
		{512, 1024, 512 | 3},
		{4096, 8192, 4096 | 4},
	} {
		b.waiting.Store(block.waiting)
		for _, update := range []struct {
			name string
			run  func()
			ring bool
		}{
			{"the word before", func() { c.Post(1, wordSet, block.lo-8, 8, 1) }, false},
			{"the word after", func() { c.Post(1, wordSet, block.hi, 8, 1) }, false},
			{"the first word", func() { c.Post(1, wordSet, block.lo, 4, 1) }, true},
			{"the last word", func() { c.Post(1, wordSet, block.hi-4, 4, 1) }, true},
			{"a put over its start", func() { c.Put(1, block.lo-4, make([]byte, 8)) }, true},
			{"a put over its end", func() { c.Put(1, block.hi-4, make([]byte, 8)) }, true},
			{"a put over all of it", func() { c.Put(1, 0, make([]byte, 10_000)) }, true},
			{"a signal", func() { c.PutSignal(1, 16384, nil, block.lo+8, wordSet, 1) }, true},
		} {
			door := b.door.Load()
			update.run()
			settle()
			if rung := b.door.Load() != door; rung != update.ring {
				t.Errorf("block %d to %d, %s: rung: %v", block.lo, block.hi, update.name, rung)
			}
		}
	}
}

// TestWaitDoorbellEnds: it returns when something has been served, when the doorbell has been rung before, and
// when its time is up.
func TestWaitDoorbellEnds(t *testing.T) {
	_, b, c := pair(t, false, 0)
	b.WaitDoorbell(b.door.Load()-1, 1<<62)
	b.WaitDoorbell(b.door.Load(), 1)
	b.waiting.Store(1)
	for range 100 {
		door := b.door.Load()
		c.Post(1, wordSet, 64, 8, 1)
		if err := c.Quiet(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		b.WaitDoorbell(door, 1<<62)
	}
}
