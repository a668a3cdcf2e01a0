package lockbench

// The hashtable of the paper on RMA locks (rma-locks 5.3). PE 0 has a local volume: a table of 64-bit elements, and
// an overflow heap for those that collide. All other PEs insert elements into it, as often as F_W says, and otherwise
// look random ones up. What counts is how long all of that takes.
//
//	foMPI-A  there is no lock. An insert compare-swaps the element into its slot of the table. A PE that finds
//	         the slot taken gets a place of the heap by a fetch-add, fills it, and compare-swaps it to be the last one of its
//	         slot. A lookup reads the slot, and the last one, by atomics
//	others   an insert is under the lock, a lookup under the shared one, and both use puts and gets
//
// What the paper leaves open, and this bench chooses: elements of a slot are linked from the last one to the first; the
// table has as many slots as there are operations in all, so that few collide.

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gopgas/gopgas/cmd/pgasbench/sweep"
	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/kinds"
	"github.com/gopgas/gopgas/pgas"
)

var hashtableBenches = []bench{{
	name: "hashtable", doc: "time of inserts into the memory of PE 0, and lookups there", y: "took",
	locks: []string{foMPIA, kinds.SpinRW, kinds.RMARW}, usual: pizDaint, body: hashtableBody,
}}

// hashtableFigures are those of rma-locks 5.3.
var hashtableFigures = []sweep.Figure[grid]{
	{Name: "dht-0", Doc: "rma-locks 6: the hashtable without inserts", Grid: hashtableGrid(0)},
	{Name: "dht-2", Doc: "rma-locks 6: with 2 % inserts", Grid: hashtableGrid(0.02)},
	{Name: "dht-5", Doc: "rma-locks 6: with 5 % inserts", Grid: hashtableGrid(0.05)},
	{Name: "dht-20", Doc: "rma-locks 6: with 20 % inserts", Grid: hashtableGrid(0.20)},
}

func hashtableGrid(writers float64) grid {
	return grid{benches: []string{"hashtable"}, writers: []float64{writers}, pes: []int{16, 32, 64, 128, 256, 512, 1024}, rest: config{Rounds: 30}}
}

// An Element is one place of the overflow heap.
//
//pgas:symmetric views
type Element struct {
	Key  int64 // written by: the PE that inserts it, before any PE can find it
	Next int64 // 1 + the place of the element inserted before; 0: none
}

// A volume is a PE's way to PE 0's part of the table.
type volume struct {
	w     *pgas.World
	slots pgas.Sym[int64] // the first element of each slot; 0: none
	lasts pgas.Sym[int64] // 1 + the place of the last element of each slot; 0: none in the heap
	heap  ElementSym
	free  pgas.Sym[int64] // the next place of the heap

	slot, last, next pgas.AtomicSlice[int64] // the words of a table that is changed by atomics
}

func newVolume(ctx context.Context, w *pgas.World, slots, room int) (v *volume, err error) {
	v = &volume{w: w}
	if v.slots, err = pgas.Alloc[int64](ctx, w, slots); err != nil {
		return nil, err
	}
	if v.lasts, err = pgas.Alloc[int64](ctx, w, slots); err != nil {
		return nil, err
	}
	if v.heap, err = AllocElement(ctx, w, room); err != nil {
		return nil, err
	}
	if v.free, err = pgas.Alloc[int64](ctx, w, 1); err != nil {
		return nil, err
	}
	v.slot, v.last, v.next = pgas.AtomicsOf(v.slots.All()), pgas.AtomicsOf(v.lasts.All()), pgas.AtomicsOf(v.free.All())
	return v, nil
}

// close frees the table. It is collective.
func (v *volume) close(ctx context.Context) error {
	for _, free := range []func(context.Context) error{v.slots.Free, v.lasts.Free, v.heap.Sym().Free, v.free.Free} {
		if err := free(ctx); err != nil {
			return err
		}
	}
	return nil
}

// usualWork is how often each PE works on the table where a time is said: the bench is of work, not of time.
const usualWork = 1000

// owner is the PE that has the volume.
const owner = 0

func (v *volume) slotOf(key int64) int { return int(key % int64(v.slots.Len())) }

// insertAtomically inserts key as foMPI-A does, with other PEs at work.
func (v *volume) insertAtomically(ctx context.Context, key int64) error {
	i := v.slotOf(key)
	if v.slot.At(i).CompareSwap(owner, 0, key) == 0 {
		return nil
	}
	at := v.next.At(0).FetchAdd(owner, 1)
	place := v.heap.At(int(at))
	for before := int64(0); ; {
		place.Ref().Put(owner, Element{Key: key, Next: before})
		if err := v.w.Quiet(ctx); err != nil { // a PE that finds the place finds it filled in
			return err
		}
		found := v.last.At(i).CompareSwap(owner, before, at+1)
		if found == before {
			return nil
		}
		before = found
	}
}

// insert inserts key while no other PE works on the table.
func (v *volume) insert(key int64) {
	i := v.slotOf(key)
	if v.slots.At(i).Get(owner) == 0 {
		v.slots.At(i).Put(owner, key)
		return
	}
	at := v.free.At(0).Get(owner)
	before := v.lasts.At(i).Get(owner)
	v.free.At(0).Put(owner, at+1)
	v.heap.At(int(at)).Ref().Put(owner, Element{Key: key, Next: before})
	v.lasts.At(i).Put(owner, at+1)
}

// find looks key up, by atomics where others may insert meanwhile.
func (v *volume) find(key int64, alone bool) bool {
	i := v.slotOf(key)
	read := func(atomic pgas.AtomicSlice[int64], plain pgas.Sym[int64]) int64 {
		if alone {
			return plain.At(i).Get(owner)
		}
		return atomic.At(i).Fetch(owner)
	}
	switch read(v.slot, v.slots) {
	case key:
		return true
	case 0:
		return false
	}
	for at := read(v.last, v.lasts); at != 0; {
		e := v.heap.At(int(at - 1)).Ref().Get(owner)
		if e.Key == key {
			return true
		}
		at = e.Next
	}
	return false
}

// sum returns how many elements PE 0 has, and the sum of their keys.
func (v *volume) sum() (count int, sum int64) {
	for i, key := range v.slots.Local() {
		if key != 0 {
			count++
			sum += key
		}
		for at := v.lasts.Local()[i]; at != 0; {
			e := v.heap.Sym().Local()[at-1]
			count++
			sum += e.Key
			at = e.Next
		}
	}
	return count, sum
}

func hashtableBody(ctx context.Context, w *pgas.World, c config) (t Tally, err error) {
	if w.NPEs() < 2 {
		return t, fmt.Errorf("hashtable takes 2 PEs or more: one has the memory, and the others work on it")
	}
	rounds := cmp.Or(c.Rounds, usualWork)
	all := rounds * (w.NPEs() - 1)
	v, err := newVolume(ctx, w, all, all)
	if err != nil {
		return t, err
	}
	var lock locks.RWLock
	free := func(context.Context) error { return nil }
	if k, _ := sweep.Find(compared, c.Lock); k.alloc != nil {
		var l locks.Lock
		if l, free, err = k.alloc(ctx, w, c.lockOptions()); err != nil {
			return t, err
		}
		lock = l.(locks.RWLock)
	}
	if err := w.Barrier(ctx); err != nil {
		return t, err
	}
	u := &user{ctx: ctx, w: w, c: c, volume: v, lock: lock}
	if w.PE() != owner {
		if err := u.work(rounds); err != nil {
			return t, err
		}
	}
	if err := u.prove(); err != nil {
		return t, err
	}
	if err := v.close(ctx); err != nil {
		return t, err
	}
	return u.tally, free(ctx)
}

// A user is a PE that works on the volume.
type user struct {
	ctx    context.Context
	w      *pgas.World
	c      config
	volume *volume
	lock   locks.RWLock // the lock; nil: atomics only
	count  int64        // the number of elements inserted
	sum    int64        // the sum of their keys
	tally  Tally
}

// keys is the number of different elements there are, for each slot.
const keys = 8

func (u *user) work(rounds int) error {
	began := u.w.Now()
	for range rounds {
		key := 1 + int64(u.w.Random()%uint64(keys*u.volume.slots.Len()))
		write := float64(u.w.Random()>>11)/(1<<53) < u.c.Writers
		asked := u.w.Now()
		if err := u.once(key, write); err != nil {
			return err
		}
		cost := u.w.Now() - asked
		u.tally.did(write, cost, cost)
	}
	u.tally.TookNs = int64(u.w.Now() - began)
	return nil
}

// once inserts an element, or looks it up.
func (u *user) once(key int64, write bool) error {
	if write {
		u.count++
		u.sum += key
	}
	if u.lock == nil {
		if write {
			return u.volume.insertAtomically(u.ctx, key)
		}
		u.volume.find(key, false)
		return nil
	}
	lock, unlock := u.lock.RLock, u.lock.RUnlock
	if write {
		lock, unlock = u.lock.Lock, u.lock.Unlock
	}
	if err := lock(u.ctx); err != nil {
		return err
	}
	if err := u.c.critical.enter(write); err != nil {
		return err
	}
	if write {
		u.volume.insert(key)
	} else {
		u.volume.find(key, true)
	}
	u.c.critical.leave(write)
	unlock()
	return nil
}

// prove checks that every element that was inserted is there. It is collective.
func (u *user) prove() error {
	totals, err := pgas.Alloc[int64](u.ctx, u.w, 2)
	if err != nil {
		return err
	}
	sums := pgas.AtomicsOf(totals.All())
	sums.At(0).Add(owner, u.count)
	sums.At(1).Add(owner, u.sum)
	if err := u.w.Barrier(u.ctx); err != nil {
		return err
	}
	if u.w.PE() == owner {
		want := totals.Local()
		if count, sum := u.volume.sum(); int64(count) != want[0] || sum != want[1] {
			return fmt.Errorf("%s: %d elements were inserted, and %d are there: some are lost", u.c.name(), want[0], count)
		}
	}
	return totals.Free(u.ctx)
}
