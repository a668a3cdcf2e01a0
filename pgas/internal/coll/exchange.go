package coll

// What the collectives that move data share. They know nothing of types: they work on bytes of symmetric
// memory. Inside a host a member exposes what it contributes to the others, in one of three ways:
//
//	inline  in its arrival record, beside the tag: one trip of a cache line
//	bcopy   in mailboxes of its own slot, where a copy costs less than to wait until all members have read it
//	zcopy   in place: the owner then waits until all readers have acknowledged
//
// Arrival records and mailboxes are used again only after a barrier, so a member that exposes data in them may
// go on at once.

import (
	"context"
	"encoding/binary"

	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/vector"
)

// ownBytes returns n bytes of this PE's own heap.
func (g *Group) ownBytes(off uintptr, n int) []byte { return g.n.Heap[off:][:n] }

// peerBytes returns n bytes of the heap of member i, which is on this host.
func (g *Group) peerBytes(i int, off uintptr, n int) []byte { return g.n.Shm.Heap(g.PEs[i])[off:][:n] }

// mailboxOff returns the offset of mailbox x in every heap.
func (g *Group) mailboxOff(x mailbox) uintptr {
	return slotOff(g.Slot) + mailboxesOff + x.index()*mailboxBytes
}

// An exposure is how the members of a host expose n bytes each to the others.
type exposure struct {
	kind exposureKind
	n    int
	x    mailbox // the mailbox of a bcopy
	off  uintptr // the offset of a zcopy
}

type exposureKind uint8

const (
	inline exposureKind = iota
	bcopy
	zcopy
)

// bcopyMax returns up to how many bytes are exposed by bcopy between members of one host that all wait for each
// other. With a CPU for each PE nothing is: a copy that another CPU then reads takes longer (8 KiB: 4 µs) than the
// second barrier that it saves (0.3 µs). With more PEs than CPUs a barrier takes some µs for each PE.
func (g *Group) bcopyMax() int {
	if g.n.Dedicated {
		return 0
	}
	return maxMessage
}

// chooseExposure returns the way to expose n bytes that are at off; up to stagedMax bytes may be exposed by bcopy.
func chooseExposure(n int, off uintptr, stagedMax int) exposure {
	switch {
	case n <= inlineBytes:
		return exposure{kind: inline, n: n}
	case n <= stagedMax:
		return exposure{kind: bcopy, n: n}
	}
	return exposure{kind: zcopy, n: n, off: off}
}

// mailboxes returns how many mailboxes s takes.
func (s *exposure) mailboxes() int {
	if s.kind == bcopy {
		return mailboxesFor(s.n)
	}
	return 0
}

// exposeBuf returns where this PE must store what it exposes. s.x must have been taken, if s needs mailboxes.
func (g *Group) exposeBuf(s *exposure, e *arrival) []byte {
	switch s.kind {
	case inline:
		return e.data[:s.n]
	case bcopy:
		return g.received(s.x, s.n)
	}
	return g.ownBytes(s.off, s.n)
}

// peerBuf returns what member number k of this host exposes, once that has entered the call.
func (g *Group) peerBuf(l *layout, s *exposure, k int) []byte {
	switch s.kind {
	case inline:
		return l.local[k].arrival(g.calls.n).data[:s.n]
	case bcopy:
		return g.peerBytes(l.localMembers[k], g.mailboxOff(s.x), s.n)
	}
	return g.peerBytes(l.localMembers[k], s.off, s.n)
}

// arriveAll publishes e for a call in which all members of the host read each other's arrival records. With more
// PEs than CPUs that is a barrier (met is true): one switch between processes for each member, not one for each
// pair.
func (g *Group) arriveAll(ctx context.Context, l *layout, e *arrival) (met bool, err error) {
	if len(g.hosts) == 1 && len(l.localMembers) > 1 && !g.n.Dedicated {
		return true, g.barrierIn(ctx, e)
	}
	return false, g.arrive(e)
}

// arrivalOf returns the arrival record of member number k of this host. It blocks until that has entered the call,
// unless met says that arriveAll was a barrier.
func (g *Group) arrivalOf(ctx context.Context, l *layout, k int, met bool) (*arrival, error) {
	if met {
		return l.local[k].arrival(g.calls.n), nil
	}
	return g.awaitArrival(ctx, l, k)
}

// readCount returns how often other members have read what this PE exposed in place. Sampled before arrive, it
// tells awaitReads where to count from.
func (g *Group) readCount() uint64 { return g.view.syncWords().readers.Load() }

// ackRead tells member number k of this host that this PE has read what that member exposes in place.
func (g *Group) ackRead(l *layout, k int) {
	l.local[k].syncWords().readers.Add(1)
	g.n.StateOf(g.PEs[l.localMembers[k]]).RingGroup()
}

// awaitReads blocks until n other members have read what this PE exposes in place, since the count was from.
func (g *Group) awaitReads(ctx context.Context, from uint64, n int) error {
	c := node.AtLeast(&g.view.syncWords().readers, from+uint64(n))
	c.Party = g
	_, err := g.await(ctx, c, g.blockedIn())
	return err
}

// exceedsCache reports whether a call in which the members of this host read and write so many bytes is better off
// without the caches. If they are little more than the last one holds, some of them are still there for the program.
func (g *Group) exceedsCache(bytes int) bool { return bytes > g.n.CacheBytes+g.n.CacheBytes/2 }

// copyExposed copies src, a member's exposed memory, to dst, which is as long: past the caches if past says so.
func copyExposed(dst, src []byte, past bool) {
	if past {
		vector.CopyPast(dst, src)
	} else {
		node.CopyLarge(dst, src)
	}
}

// copyStrided copies n elements of the given size that are dstStep bytes apart in dst and srcStep in src.
func copyStrided(dst []byte, dstStep int, src []byte, srcStep, n, size int) {
	switch {
	case n == 0:
	case dstStep == size && srcStep == size:
		node.CopyLarge(dst[:n*size], src[:n*size])
	case size == 8:
		for i := range n {
			binary.NativeEndian.PutUint64(dst[i*dstStep:], binary.NativeEndian.Uint64(src[i*srcStep:]))
		}
	case size == 4:
		for i := range n {
			binary.NativeEndian.PutUint32(dst[i*dstStep:], binary.NativeEndian.Uint32(src[i*srcStep:]))
		}
	default:
		for i := range n {
			copy(dst[i*dstStep:][:size], src[i*srcStep:])
		}
	}
}
