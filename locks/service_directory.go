package locks

// Where the locks of a service are. A name has a home, a bucket of the home's copy of the directory, and a tag,
// all by hash. Its lock is in the bucket, or, if another name has that, in the home's overflow.
//
//	Claim  of a bucket    tag<<17 + chained<<16 + users: the PEs that use the name whose lock is in this
//	                      entry; without users, the tag does not matter. Compare-swapped to claim; subtracted
//	                      from to release
//	Claim  of overflow    tag<<17 + users, written under the guard
//	Next   of both        1 + the overflow that has the next name of this bucket; written under the guard.
//	                      A bucket where it is not 0 is chained
//	Lock   of both        an N-CoSED lock. It is free without users, and need not be zero
//	Guard  of the home    an N-CoSED lock of the home's overflow, held for a few steps
//	Fresh  of the home    overflows that have ever been used; Unused: 1 + one that is free again, which has
//	                      the next in Next. Written under the guard
//
// A claim is one atomic if the bucket is as expected; a release is one for which no PE waits. So locking a name costs
// one round trip more than an N-CoSED lock, and unlocking none. Only names that share a bucket need the guard.
//
// Two names are one lock if home, bucket and tag agree. Of a million names in use at once, on 64 PEs with 256
// buckets each, two do with a probability of 2 in 10 million.
//
// Invariant: a name has one lock: it moves into a bucket that is not its own only if that is not chained, or
// under the guard, when it is not in the chain.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/pgas"
)

//go:generate go tool pgasgen

// ServiceEntry is room for the lock of one name.
//
//pgas:symmetric views
type ServiceEntry struct {
	Lock  NCoSEDWord
	Claim uint64 `pgas:"atomic"` // written by: all PEs; of overflow: the holder of the guard
	Next  int64  `pgas:"atomic"` // written by: the holder of the guard
}

// ServiceHome is what a home has once.
//
//pgas:symmetric views
type ServiceHome struct {
	Guard  NCoSEDWord
	Fresh  int64 `pgas:"atomic"` // written by: the holder of the guard
	Unused int64 `pgas:"atomic"` // written by: the holder of the guard
}

const (
	tagBits      = 47 // the bits of a tag: with the bucket and the home, more than 55 bits tell names apart
	userBits     = 16
	chained      = 1 << userBits
	users        = chained - 1
	tagShift     = userBits + 1
	guardPlace   = 0 // the place of the node that each PE has for guards
	overflowPart = 4 // a home has this part of its buckets as overflow, and a few more
	overflowMore = 4
)

type directory struct {
	w        *pgas.World
	entries  ServiceEntrySym
	homes    ServiceHomeSym
	places   NCoSEDNodeSym
	nodes    []NCoSEDNodeRef
	buckets  int
	overflow int
	gate     localGate // the gate of the goroutines that use guardPlace
}

// claim is the place of a name.
type claim struct {
	home, bucket, entry int // entry is the bucket itself, or one of overflow
	tag                 uint64
}

func (d *directory) alloc(ctx context.Context, w *pgas.World, o ServiceOptions) (err error) {
	if w.NPEs() > users {
		return fmt.Errorf("a lock service is for at most %d PEs", users)
	}
	d.w, d.buckets, d.overflow = w, o.Names, o.Names/overflowPart+overflowMore
	if d.entries, err = AllocServiceEntry(ctx, w, d.buckets+d.overflow); err != nil {
		return err
	}
	if d.homes, err = AllocServiceHome(ctx, w, 1); err != nil {
		return err
	}
	if d.places, err = AllocNCoSEDNode(ctx, w, 1+o.Places); err != nil {
		return err
	}
	for i := range d.places.Sym().Len() {
		d.nodes = append(d.nodes, d.places.At(i))
	}
	return nil
}

func (d *directory) free(ctx context.Context) error {
	if err := d.places.Sym().Free(ctx); err != nil {
		return err
	}
	if err := d.homes.Sym().Free(ctx); err != nil {
		return err
	}
	return d.entries.Sym().Free(ctx)
}

// open makes q a handle of the lock at c, with a place of this PE.
func (d *directory) open(q *ncosedQueue, c claim, place int) {
	q.w, q.home, q.state, q.nodes, q.limit = d.w, c.home, d.entries.At(c.entry).Lock(), d.nodes, nCoSEDLimit
	q.mine = q.id(d.w.PE(), place)
	q.lockID = 1 + int64(c.home)*int64(d.entries.Sym().Len()) + int64(c.entry)
}

// idle reports whether no other PE accesses a place of this PE any more.
func (d *directory) idle(place int) bool {
	n, me := d.nodes[place], d.w.PE()
	return n.Status().Fetch(me) == idle && n.Shared().Fetch(me) == idle
}

// where returns the bucket of a name.
func (d *directory) where(name string) claim {
	sum := sha256.Sum256([]byte(name))
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(sum[8*i:]) }
	bucket := int(at(1) % uint64(d.buckets))
	return claim{home: int(at(0) % uint64(d.w.NPEs())), bucket: bucket, entry: bucket, tag: at(2) >> (64 - tagBits)}
}

// claim makes this PE a user of the name. It fails if too many names are in use.
func (d *directory) claim(name string) (claim, error) {
	c := d.where(name)
	b := d.entries.At(c.bucket)
	for guess := c.tag << tagShift; ; {
		next, ok := c.join(guess)
		if !ok {
			return d.claimChained(c)
		}
		v := b.Claim().CompareSwap(c.home, guess, next)
		if v == guess {
			return c, nil
		}
		guess = v
	}
}

// join returns the Claim v of a bucket with one more user of the name. It returns false if another name has the bucket,
// or if the bucket has no users and is chained, since the name may be in the chain.
func (c claim) join(v uint64) (next uint64, ok bool) {
	switch {
	case v&users == 0 && v&chained == 0:
		return c.tag<<tagShift | 1, true
	case v&users != 0 && v>>tagShift == c.tag:
		return v + 1, true
	}
	return 0, false
}

// claimChained claims a name that is in the chain of its bucket, or adds it there.
func (d *directory) claimChained(c claim) (claim, error) {
	g := d.guard(c.home)
	defer d.unguard(g)
	b := d.entries.At(c.bucket)
	if d.claimOrChain(c, b) {
		return c, nil
	}
	// From now on, the bucket changes hands under the guard only.
	for i := b.Next().Fetch(c.home); i != 0; {
		e := d.entries.At(int(i - 1))
		v := e.Claim().Fetch(c.home)
		if v>>tagShift == c.tag {
			e.Claim().Swap(c.home, v+1)
			c.entry = int(i - 1)
			return c, nil
		}
		i = e.Next().Fetch(c.home)
	}
	if d.claimEmptied(c, b) {
		d.unchain(c.home, b)
		return c, nil
	}
	i, ok := d.fresh(c.home)
	if !ok {
		d.unchain(c.home, b)
		return c, fmt.Errorf("PE %d, which it belongs to, has no room for more names: ServiceOptions.Names has to be more", c.home)
	}
	e := d.entries.At(i)
	e.Claim().Swap(c.home, c.tag<<tagShift|1)
	e.Next().Swap(c.home, b.Next().Fetch(c.home))
	b.Next().Swap(c.home, int64(i)+1)
	c.entry = i
	return c, nil
}

// claimOrChain claims the bucket b, if it is available now, or makes it chained.
func (d *directory) claimOrChain(c claim, b ServiceEntryRef) (claimed bool) {
	for guess := b.Claim().Fetch(c.home); ; {
		next, ok := c.join(guess)
		if !ok {
			next = guess | chained
		}
		v := b.Claim().CompareSwap(c.home, guess, next)
		if v == guess {
			return ok
		}
		guess = v
	}
}

// claimEmptied claims the chained bucket b if it has no users. The name is not in the chain.
func (d *directory) claimEmptied(c claim, b ServiceEntryRef) bool {
	for {
		v := b.Claim().Fetch(c.home)
		if v&users != 0 {
			return false
		}
		if b.Claim().CompareSwap(c.home, v, c.tag<<tagShift|chained|1) == v {
			return true
		}
	}
}

// fresh returns an overflow of the home that has no name.
func (d *directory) fresh(home int) (i int, ok bool) {
	h := d.homes.At(0)
	if i := h.Unused().Fetch(home); i != 0 {
		h.Unused().Swap(home, d.entries.At(int(i-1)).Next().Fetch(home))
		return int(i - 1), true
	}
	n := int(h.Fresh().Fetch(home))
	if n == d.overflow {
		return 0, false
	}
	h.Fresh().Swap(home, int64(n)+1)
	return d.buckets + n, true
}

// unchain makes a bucket not chained if its chain is empty.
func (d *directory) unchain(home int, b ServiceEntryRef) {
	if b.Next().Fetch(home) == 0 {
		b.Claim().FetchAnd(home, ^uint64(chained))
	}
}

// release ends a claim of this PE.
func (d *directory) release(c claim) {
	e := d.entries.At(c.entry)
	if c.entry == c.bucket {
		e.Claim().Add(c.home, ^uint64(0))
		return
	}
	g := d.guard(c.home)
	defer d.unguard(g)
	v := e.Claim().Fetch(c.home) - 1
	e.Claim().Swap(c.home, v)
	if v&users == 0 {
		d.remove(c, e)
	}
}

// remove takes the overflow e of c out of its chain.
func (d *directory) remove(c claim, e ServiceEntryRef) {
	b := d.entries.At(c.bucket)
	before := b
	for i := b.Next().Fetch(c.home); int(i-1) != c.entry; i = before.Next().Fetch(c.home) {
		before = d.entries.At(int(i - 1))
	}
	before.Next().Swap(c.home, e.Next().Fetch(c.home))
	h := d.homes.At(0)
	e.Next().Swap(c.home, h.Unused().Swap(c.home, int64(c.entry)+1))
	d.unchain(c.home, b)
}

// guard takes the guard of a home. It is held for a few steps, so this wait cannot be cancelled. If a PE of the job
// dies, guard panics with *pgas.PeerError, as operations do.
func (d *directory) guard(home int) *ncosedQueue {
	_ = d.gate.enter(context.Background()) // no error: this context does not end
	q := &ncosedQueue{w: d.w, home: home, state: d.homes.At(0).Guard(), nodes: d.nodes, limit: nCoSEDLimit}
	q.mine = q.id(d.w.PE(), guardPlace)
	if err := q.lock(context.Background(), new(passage)); err != nil {
		d.gate.leave()
		panicPeerError(err)
	}
	return q
}

// unguard releases what guard took.
func (d *directory) unguard(q *ncosedQueue) {
	defer d.gate.leave()
	q.leave(q.mine)
}
