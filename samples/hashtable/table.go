package main

// The distributed hashtable: "High-Performance Distributed RMA Locks" (Schmid, Besta, Hoefler, HPDC
// 2016), section 5.3, with identifiers for keys and a list that also finds duplicates.
//
// A hash names a home PE and a slot there. Words used below: the volume of a PE is its slots and its
// overflow heap; a list starts at a slot and goes on in the heap.
//
// To find or make the entry of an identifier, a PE
//
//  1. compare-swaps its key into the slot: free → it is there; the same identifier → it was there;
//  2. follows the list as long as it finds other identifiers;
//  3. at the end takes an entry of the heap by a fetch-add on the next-free word, fills it in, and
//     compare-swaps its index into the last entry's Next. A PE that loses that goes on with the winner's
//     entry, so that two PEs with one identifier end at one entry, and keeps its own for the next time.
//
// Invariant: a list only ever grows, at its end; keys in it are different. So every identifier has at
// most one entry, and its place is good until the table is rebuilt.
//
// No step waits for another PE. A count is added without waiting, and complete after a Quiet. When a
// home is full the word comes back unplaced; grow.go then makes the table larger.

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

// A table is one PE's handle on the hashtable. Goroutines must not share it.
type table struct {
	w       *pgas.World
	entries EntrySym
	pages   PageSym
	volume  VolumeRef
	sym     VolumeSym
	hash    func(string) uint64

	slots, heap int    // entries of each volume: slots, then heap
	round       uint64 // how often the table was rebuilt: places of other rounds are void

	spare [][]uint64 // by home: heap entries that this PE has taken and not used
	room  []room     // by home: where this PE's next spelling goes
	mute  []bool     // by home: its pages are used up, as found in this round

	inserts, made int64 // counts added, and entries made for them, since the last report
}

// A room is the rest of the pages that this PE reserved last at some home.
type room struct{ at, end uint64 }

// A word is one identifier as this PE sees it.
type word struct {
	name    string
	hash    uint64
	pending int64 // seen, and not yet in the table
	at      int   // the entry of the word at its home
	round   uint64
	placed  bool // at and round mean something
}

// errFull is the error of a word that stays unplaced: its home has no room for it.
var errFull = errors.New("full")

// newTable makes a table with room for slots and heap identifiers and pages of long spellings on each
// PE. It is collective.
func newTable(ctx context.Context, w *pgas.World, slots, heap, pages int, hash func(string) uint64) (*table, error) {
	t := &table{w: w, hash: hash, slots: slots, heap: heap, spare: make([][]uint64, w.NPEs()), room: make([]room, w.NPEs()), mute: make([]bool, w.NPEs())}
	var err error
	if t.entries, err = AllocEntry(ctx, w, slots+heap); err != nil {
		return nil, tooLarge(err, slots, heap)
	}
	if t.pages, err = AllocPage(ctx, w, pages); err != nil {
		return nil, tooLarge(err, slots, heap)
	}
	if t.sym, err = AllocVolume(ctx, w, 1); err != nil {
		return nil, tooLarge(err, slots, heap)
	}
	t.volume = t.sym.At(0)
	t.volume.SetHeapFree(w.PE(), uint64(slots))
	return t, w.Barrier(ctx)
}

// tooLarge explains an allocation that failed.
func tooLarge(err error, slots, heap int) error {
	var full *pgas.HeapFullError
	if errors.As(err, &full) {
		return fmt.Errorf("a table with -table %d -heap %d needs PGAS_HEAP_MAX=%d at least: %w", slots, heap, full.InUse+full.Bytes, err)
	}
	return err
}

// free frees the table. It is collective.
func (t *table) free(ctx context.Context) error {
	if err := t.entries.Free(ctx); err != nil {
		return err
	}
	if err := t.pages.Free(ctx); err != nil {
		return err
	}
	return t.sym.Free(ctx)
}

// home returns the PE, and its slot, where the search for a hash starts. They use different bits.
func (t *table) home(hash uint64) (pe, slot int) {
	return int((hash >> 32) % uint64(t.w.NPEs())), slotOf(hash, t.slots)
}

func slotOf(hash uint64, slots int) int { return int(uint64(uint32(hash)) % uint64(slots)) }

// A doubt is a long key that may be the word's: its spelling is being fetched.
type doubt struct {
	word *word
	at   int
	text []byte
}

// merge adds the pending counts of words, which must be different, to the table. It returns words whose home is full,
// with their counts. Spellings to compare are fetched together.
func (t *table) merge(ctx context.Context, words []*word) (unplaced []*word, err error) {
	var doubts []doubt
	settle := func(w *word, d *doubt, err error) {
		switch {
		case err != nil:
			unplaced = append(unplaced, w)
		case d != nil:
			doubts = append(doubts, *d)
		}
	}
	for _, w := range words {
		if w.placed && w.round == t.round {
			t.add(w)
			continue
		}
		d, err := t.find(w)
		settle(w, d, err)
	}
	for len(doubts) > 0 {
		if err := t.w.Quiet(ctx); err != nil {
			return nil, err
		}
		open := doubts
		doubts = nil
		for _, d := range open {
			if string(d.text) == d.word.name {
				t.place(d.word, d.at)
				continue
			}
			next, err := t.follow(d.word, d.at)
			settle(d.word, next, err)
		}
	}
	return unplaced, nil
}

// place records where w's entry is, and adds to it.
func (t *table) place(w *word, at int) {
	w.at, w.round, w.placed = at, t.round, true
	t.add(w)
}

func (t *table) add(w *word) {
	pe, _ := t.home(w.hash)
	t.entries.At(w.at).AddCount(pe, w.pending)
	w.pending = 0
	t.inserts++
}

// find starts the search for w at its slot: step 1. It ends with w placed, with a doubt, or with
// errFull.
func (t *table) find(w *word) (*doubt, error) {
	pe, slot := t.home(w.hash)
	key, err := t.write(w, pe)
	if err != nil {
		return t.findFull(w, pe, slot)
	}
	old := t.entries.At(slot).CompareSwapKey(pe, 0, key)
	if old == 0 {
		t.keep(w, pe)
		t.place(w, slot)
		return nil, nil
	}
	return t.look(w, pe, slot, old)
}

// findFull does what find does when there is no room for w's spelling: w may be in the table all the same.
func (t *table) findFull(w *word, pe, slot int) (*doubt, error) {
	old := t.entries.At(slot).FetchKey(pe)
	if old == 0 {
		return nil, errFull
	}
	return t.look(w, pe, slot, old)
}

// look compares w with the entry at, whose key is old. If the entry is of another identifier, look goes on behind it.
func (t *table) look(w *word, pe, at int, old uint64) (*doubt, error) {
	for {
		if len(w.name) <= shortMax {
			if old == shortKey(w.name) {
				t.place(w, at)
				return nil, nil
			}
		} else if (old^longKey(w.name, w.hash, 0))&tagMask == 0 {
			d := &doubt{w, at, make([]byte, len(w.name))}
			from, _ := spelling(old)
			getText(t.pages, pe, from, d.text)
			return d, nil
		}
		next, err := t.step(w, pe, at)
		if next == 0 || err != nil {
			return nil, err
		}
		at = next
		old = t.entries.At(at).FetchKey(pe)
	}
}

// follow continues the search behind entry at, which is of another identifier.
func (t *table) follow(w *word, at int) (*doubt, error) {
	pe, _ := t.home(w.hash)
	next, err := t.step(w, pe, at)
	if next == 0 || err != nil {
		return nil, err
	}
	return t.look(w, pe, next, t.entries.At(next).FetchKey(pe))
}

// step returns the next entry behind at, or 0 if there was none and w now has it: step 3.
func (t *table) step(w *word, pe, at int) (int, error) {
	last := t.entries.At(at)
	if next := last.FetchNext(pe); next != 0 {
		return int(next), nil
	}
	mine, err := t.take(pe)
	if err != nil {
		return 0, err
	}
	key, err := t.write(w, pe)
	if err != nil {
		t.spare[pe] = append(t.spare[pe], mine)
		return 0, err
	}
	t.entries.At(int(mine)).SetKey(pe, key)
	t.w.Context().FencePE(pe) // key and spelling before the link that leads to them
	if next := last.CompareSwapNext(pe, 0, mine); next != 0 {
		t.spare[pe] = append(t.spare[pe], mine)
		return int(next), nil
	}
	t.keep(w, pe)
	t.place(w, int(mine))
	return 0, nil
}

// take returns a heap entry at pe that no other PE has.
func (t *table) take(pe int) (uint64, error) {
	if s := t.spare[pe]; len(s) > 0 {
		t.spare[pe] = s[:len(s)-1]
		return s[len(s)-1], nil
	}
	at := t.volume.FetchIncHeapFree(pe)
	if at >= uint64(t.slots+t.heap) {
		return 0, errFull
	}
	return at, nil
}

// write returns the key of w for an entry at pe. It puts a long spelling into this PE's room there. The next
// spelling overwrites it unless keep is called.
func (t *table) write(w *word, pe int) (uint64, error) {
	if len(w.name) <= shortMax {
		return shortKey(w.name), nil
	}
	r := &t.room[pe]
	if uint64(len(w.name)) > r.end-r.at {
		if t.mute[pe] {
			return 0, errFull // without asking for a page for each word in vain
		}
		n := (uint64(len(w.name)) + pageBytes - 1) / pageBytes
		first := t.volume.FetchAddTextFree(pe, n)
		if first+n > uint64(t.pages.Len()) {
			t.mute[pe] = true
			return 0, errFull
		}
		*r = room{first * pageBytes, (first + n) * pageBytes}
	}
	putText(t.pages, pe, r.at, w.name)
	t.w.Context().FencePE(pe)
	return longKey(w.name, w.hash, r.at), nil
}

// keep records that the spelling written last at pe, w's, is in use.
func (t *table) keep(w *word, pe int) {
	if len(w.name) > shortMax {
		t.room[pe].at += uint64(len(w.name))
	}
	t.made++
}

// own calls f for every entry of this PE's volume. No PE may be updating it.
func (t *table) own(f func(key uint64, name string, count int64)) {
	me := t.w.PE()
	for slot := range t.slots {
		if t.entries.At(slot).FetchKey(me) == 0 {
			continue
		}
		for at := slot; ; {
			e := t.entries.At(at)
			key := e.FetchKey(me)
			f(key, t.ownName(key), e.FetchCount(me))
			if at = int(e.FetchNext(me)); at == 0 {
				break
			}
		}
	}
}

// ownName returns the identifier of a key of this PE's volume.
func (t *table) ownName(key uint64) string {
	if !isLong(key) {
		return shortName(key)
	}
	at, n := spelling(key)
	b := make([]byte, n)
	waitText(t.pages, t.w.PE(), at, b)
	return string(b)
}
