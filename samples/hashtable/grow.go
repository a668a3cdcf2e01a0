package main

// Making the table larger. It happens at a meeting: every PE is in this call, so no PE updates the
// table meanwhile. The home of an identifier does not depend on the size, so each PE moves its own
// volume by itself, and the PEs only agree on the size: twice the slots that the fullest volume needs,
// and a heap for entries whose slot is taken. Spellings stay where they are; only new pages are
// added.

import (
	"context"
	"fmt"
)

// grow makes room for all entries and pages that could not be had. It is collective. Places of words may be
// void afterwards. On an error (a symmetric heap is full) the table must not be used any more.
func (t *table) grow(ctx context.Context) error {
	if err := t.w.Barrier(ctx); err != nil { // all updates have been made
		return err
	}
	if err := t.growPages(ctx); err != nil {
		return err
	}
	entries, err := t.most(ctx, t.wantEntries())
	if err != nil || entries == 0 {
		return err
	}
	slots := max(2*t.slots, 2*entries)
	heap, err := t.most(ctx, t.wantHeap(slots))
	if err != nil {
		return err
	}
	return t.rebuild(ctx, slots, heap)
}

// growPages makes room for spellings, if a PE has none left.
func (t *table) growPages(ctx context.Context) error {
	pages, err := t.most(ctx, t.wantPages())
	if err != nil || pages <= t.pages.Len() {
		return err
	}
	if uint64(pages) > textMax/pageBytes {
		return fmt.Errorf("the long identifiers of one PE exceed %d bytes: use more PEs", uint64(textMax))
	}
	clear(t.mute)
	if t.pages, err = t.pages.Realloc(ctx, pages); err != nil {
		return tooLarge(err, t.slots, t.heap)
	}
	return nil
}

// most returns the largest n of all PEs. It is collective.
func (t *table) most(ctx context.Context, n int) (int, error) {
	t.volume.PutWant(t.w.PE(), uint64(n))
	if err := t.w.Barrier(ctx); err != nil {
		return 0, err
	}
	for pe := range t.w.NPEs() {
		n = max(n, int(t.volume.GetWant(pe)))
	}
	return n, t.w.Barrier(ctx) // all have read
}

// wantEntries returns how many entries this PE's volume needs, or 0 if it is not full.
func (t *table) wantEntries() (n int) {
	if t.inVain() == 0 {
		return 0
	}
	t.own(func(uint64, string, int64) { n++ })
	return n + t.inVain()
}

// inVain returns how many entries were asked of this PE's heap after it was full.
func (t *table) inVain() int {
	return max(0, int(t.volume.FetchHeapFree(t.w.PE()))-t.slots-t.heap)
}

// wantHeap returns the size of the overflow heap that this PE's volume needs with so many slots: for entries whose slot
// is taken, and for all that were asked for in vain, which may need one.
func (t *table) wantHeap(slots int) int {
	taken := make([]bool, slots)
	n := t.inVain()
	t.own(func(_ uint64, name string, _ int64) {
		slot := slotOf(t.hash(name), slots)
		if taken[slot] {
			n++
		}
		taken[slot] = true
	})
	return max(2*t.heap, n+n/2)
}

// wantPages returns the pages that this PE needs. It takes back those handed out past the end.
func (t *table) wantPages() int {
	me, have := t.w.PE(), t.pages.Len()
	asked := int(t.volume.FetchTextFree(me))
	if asked <= have {
		return have
	}
	t.volume.SetTextFree(me, uint64(have))
	return max(2*have, asked)
}

// rebuild moves the table to one with the given slots and heap.
func (t *table) rebuild(ctx context.Context, slots, heap int) error {
	entries, err := AllocEntry(ctx, t.w, slots+heap)
	if err != nil {
		return tooLarge(err, slots, heap)
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
