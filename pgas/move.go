package pgas

// What the collectives that move data share. They know nothing of types: they work on bytes of symmetric
// memory. Inside a host a member shows the others what it contributes, in one of three ways:
//
//	inline  in its entry, beside the tag that says that it is there: one trip of a cache line
//	staged  in boxes of its own slot, where a copy costs less than to wait until everybody has read it
//	lent    where it is: the owner then waits until all have said that they have read it
//
// Entries and boxes are used again only after a meeting, so whoever shows something in them may go on
// at once.

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot"
)

// An operand is a range of symmetric memory.
type operand struct {
	off     uintptr
	n, size int // elements, and bytes of one
}

func (r operand) bytes() int { return r.n * r.size }

// misuse panics with the error for a wrong use of an operation.
func (g *Group) misuse(op, format string, args ...any) {
	g.set.errors.Misuse(op, fmt.Sprintf(format, args...))
}

// checkFits panics if n elements do not fit room.
func (g *Group) checkFits(k kind, n, room int) {
	if n > room {
		g.misuse(k.String(), "%d elements do not fit a range of %d", n, room)
	}
}

// checkApart panics if the first d bytes of dst and the first s of src overlap.
func (g *Group) checkApart(k kind, dst operand, d int, src operand, s int) {
	if dst.off < src.off+uintptr(s) && src.off < dst.off+uintptr(d) {
		g.misuse(k.String(), "dst and src overlap: they must have nothing in common")
	}
}

// mine is n bytes of this PE's own heap.
func (g *Group) mine(off uintptr, n int) []byte { return g.n.mine[off:][:n] }

// theirs is n bytes of the heap of member i, which is on this host.
func (g *Group) theirs(i int, off uintptr, n int) []byte { return g.n.shm.Heap(g.pes[i])[off:][:n] }

// boxOff is where box x is in every heap.
func (g *Group) boxOff(x box) uintptr { return slotOff(g.slot) + boxesOff + x.place()*boxBytes }

// A show is how the members of a host show each other n bytes each.
type show struct {
	way showWay
	n   int
	x   box     // of staged
	off uintptr // of lent
}

type showWay uint8

const (
	inline showWay = iota
	staged
	lent
)

// stagedMax is how many bytes are staged at most between members of one host who all wait for each other.
// With a CPU for each PE nothing is: a copy that another CPU then reads takes longer (8 KiB: 4 µs) than
// the second meeting that it saves (0.3 µs). With more PEs than CPUs a meeting takes some µs for each PE.
func (g *Group) stagedMax() int {
	if g.n.flags {
		return 0
	}
	return maxMessage
}

// showing is the way to show n bytes that are at off; at most so many may be staged.
func showing(n int, off uintptr, stagedMax int) show {
	switch {
	case n <= inlineBytes:
		return show{way: inline, n: n}
	case n <= stagedMax:
		return show{way: staged, n: n}
	}
	return show{way: lent, n: n, off: off}
}

// boxes is how many boxes s takes.
func (s *show) boxes() int {
	if s.way == staged {
		return boxesFor(s.n)
	}
	return 0
}

// place is where this PE must leave what it shows. s.x must have been taken, if it needs boxes.
func (g *Group) place(s *show, e *entry) []byte {
	switch s.way {
	case inline:
		return e.data[:s.n]
	case staged:
		return g.boxData(s.x, s.n)
	}
	return g.mine(s.off, s.n)
}

// shown is what member number k of this host shows, once it has entered the call.
func (g *Group) shown(l *layout, s *show, k int) []byte {
	switch s.way {
	case inline:
		return l.local[k].entry(g.turns.n).data[:s.n]
	case staged:
		return g.theirs(l.here[k], g.boxOff(s.x), s.n)
	}
	return g.theirs(l.here[k], s.off, s.n)
}

// come publishes e where all members of the host will look at each other's entries. With more PEs than
// CPUs they meet for that: one switch between processes for each of them instead of one for each pair.
func (g *Group) come(ctx context.Context, l *layout, e *entry) (met bool, err error) {
	if len(g.hosts) == 1 && len(l.here) > 1 && !g.n.flags {
		return true, g.meetIn(ctx, e)
	}
	return false, g.publish(e)
}

// entryHere is the entry of member number k of this host, which all who have met have left.
func (g *Group) entryHere(ctx context.Context, l *layout, k int, met bool) (*entry, error) {
	if met {
		return l.local[k].entry(g.turns.n), nil
	}
	return g.awaitEntry(ctx, l, k)
}

// readBy is how often others have read what this PE lends. Sampled before publish, it tells awaitReaders
// where to count from.
func (g *Group) readBy() uint64 { return g.board.control().readers.Load() }

// haveRead tells member number k of this host that this PE has read what it lends.
func (g *Group) haveRead(l *layout, k int) {
	l.local[k].control().readers.Add(1)
	g.n.stateOf(g.pes[l.here[k]]).Ring(boot.BarrierWord)
}

// awaitReaders waits until n others have read what this PE lends, since the count was from.
func (g *Group) awaitReaders(ctx context.Context, from uint64, n int) error {
	c := atLeast(&g.board.control().readers, from+uint64(n))
	c.party = g
	_, err := g.await(ctx, c, blockedIn{op: boot.InCollective, peer: -1, seq: g.turns.n, party: g})
	return err
}

// strided copies n elements of the given size that are dstStep bytes apart in dst and srcStep in src.
func strided(dst []byte, dstStep int, src []byte, srcStep, n, size int) {
	switch {
	case n == 0:
	case dstStep == size && srcStep == size:
		move(dst[:n*size], src[:n*size])
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
