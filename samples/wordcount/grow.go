package main

// Making the table larger. It happens at a meeting: every PE is in this call, so nobody updates the
// table meanwhile. The home of an identifier does not depend on the size, so each PE moves its own
// volume by itself, and only the size has to be agreed on: twice as many slots, and a heap that holds
// what the fullest one needs. Spellings stay where they are; their pages are only added to.

import (
	"context"
	"fmt"
)

// grow makes room for everything that was asked for in vain. It is collective; places of words are
// void afterwards. On an error, a symmetric heap that is full, the table must not be used any more.
func (t *table) grow(ctx context.Context) error {
	if err := t.w.Barrier(ctx); err != nil { // all updates are in
		return err
	}
	heap, pages, err := t.agreeOnSize(ctx)
	if err != nil {
		return err
	}
	if pages > t.pages.Len() {
		if t.pages, err = t.pages.Realloc(ctx, pages); err != nil {
			return fmt.Errorf("growing the spellings of the table to %d bytes per PE: %w", pages*pageBytes, err)
		}
	}
	if heap == 0 {
		return t.w.Barrier(ctx)
	}
	return t.rebuild(ctx, 2*t.slots, heap)
}

// agreeOnSize is the heap that a table with twice the slots needs, or 0 if no volume is full, and the
// pages that all spellings need.
func (t *table) agreeOnSize(ctx context.Context) (heap, pages int, err error) {
	me := t.w.PE()
	t.volume.PutWantHeap(me, t.wantHeap())
	t.volume.PutWantPages(me, t.wantPages())
	if err := t.w.Barrier(ctx); err != nil {
		return 0, 0, err
	}
	for pe := range t.w.NPEs() {
		heap = max(heap, int(t.volume.GetWantHeap(pe)))
		pages = max(pages, int(t.volume.GetWantPages(pe)))
	}
	if uint64(pages) > textMax/pageBytes {
		return 0, 0, fmt.Errorf("the long identifiers of one PE exceed %d bytes: use more PEs", uint64(textMax))
	}
	return heap, pages, t.w.Barrier(ctx) // all have read
}

// wantHeap is the overflow heap that this PE's volume needs with twice the slots; 0 if it is not full.
func (t *table) wantHeap() uint64 {
	asked := t.volume.FetchHeapFree(t.w.PE()) - uint64(t.slots)
	if asked <= uint64(t.heap) {
		return 0
	}
	// Entries that meet another in a slot of the new table go to its heap, and all that was asked for
	// in vain may.
	taken := make([]bool, 2*t.slots)
	overflow := asked - uint64(t.heap)
	t.own(func(_ uint64, name string, _ int64) {
		slot := slotOf(t.hash(name), 2*t.slots)
		if taken[slot] {
			overflow++
		}
		taken[slot] = true
	})
	return max(2*uint64(t.heap), overflow+overflow/2)
}

// wantPages is the pages that this PE needs. It takes back what was handed out past the end.
func (t *table) wantPages() uint64 {
	me, have := t.w.PE(), uint64(t.pages.Len())
	asked := t.volume.FetchTextFree(me)
	if asked <= have {
		return have
	}
	t.volume.SetTextFree(me, have)
	return max(2*have, asked)
}

// rebuild moves the table to one with the given slots and heap.
func (t *table) rebuild(ctx context.Context, slots, heap int) error {
	entries, err := AllocEntry(ctx, t.w, slots+heap)
	if err != nil {
		return tooLarge(fmt.Errorf("growing: %w", err), slots, heap)
	}
	me, free := t.w.PE(), slots
	t.own(func(key uint64, name string, count int64) {
		e := entries.At(slotOf(t.hash(name), slots))
		if e.FetchKey(me) != 0 { // second in the list
			head := e
			e = entries.At(free)
			e.SetNext(me, head.FetchNext(me))
			head.SetNext(me, uint64(free))
			free++
		}
		e.SetKey(me, key)
		e.SetCount(me, count)
	})
	t.volume.SetHeapFree(me, uint64(free))
	old := t.entries
	t.entries, t.slots, t.heap = entries, slots, heap
	t.round++
	clear(t.spare)
	return old.Free(ctx) // starts with a barrier: all have moved
}
