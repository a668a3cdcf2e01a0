package pgas

// The all-to-all with blocks of any length anywhere. Each call of it does as many steps as an entry has
// room for; in each step every member has one to send to and one to receive from. To a member of its
// host it shows where the block is, and that copies it. A member of another host first gets told where
// the block is to go, which also says that dst is ready.

import (
	"context"
	"encoding/binary"
	"fmt"
)

// blocks says where the blocks for or from each member are in a range: block i is Counts[i] elements from Displs[i] on.
type blocks struct{ Displs, Counts []int }

// An allToAllV is one under way.
type allToAllV struct {
	g        *Group
	l        *layout
	call     call
	dst, src uintptr
	size     int
	to, from blocks
}

func (g *Group) allToAllVOf(dst operand, to blocks, src operand, from blocks, o options) allToAllV {
	const k = kindAllToAllV
	g.checkApart(k, dst, dst.bytes(), src, src.bytes())
	g.checkBlocks("dst", to, dst.n)
	g.checkBlocks("src", from, src.n)
	if o.algorithm != auto && o.algorithm != linear {
		g.misuse("AllToAllV", "there is no %s %s: use Linear", o.algorithm, k)
	}
	return allToAllV{
		g: g, l: g.layoutFor(o), dst: dst.off, src: src.off, size: src.size, to: to, from: from,
		call: call{kind: k, op: o.bits(), size: src.size}.at(dst.off, src.off),
	}
}

func (g *Group) checkBlocks(what string, b blocks, n int) {
	if len(b.Displs) != len(g.pes) || len(b.Counts) != len(g.pes) {
		g.misuse("AllToAllV", "%d offsets and %d counts for %s: a team of %d members needs as many of each", len(b.Displs), len(b.Counts), what, len(g.pes))
	}
	for i := range b.Counts {
		if b.Counts[i] < 0 || b.Displs[i] < 0 || b.Displs[i] > n-b.Counts[i] {
			g.misuse("AllToAllV", "block %d of %s is [%d:%d]: it does not fit %d elements", i, what, b.Displs[i], b.Displs[i]+b.Counts[i], n)
		}
	}
}

// A notice is what members tell each other of a block: where it is, or is to go, in bytes.
const noticeBytes = 16

// mostNotices is how many steps one call does: each has a notice for the sender's host and one for other
// hosts in the entry, and two boxes.
const mostNotices = min(inlineBytes/(2*noticeBytes), mostBoxes/2)

func (a *allToAllV) run(ctx context.Context) error {
	if a.size == 0 {
		return nil
	}
	read := a.g.readBy()
	for first := 0; first < len(a.g.pes); first += mostNotices {
		if err := a.walk(ctx, first, min(first+mostNotices, len(a.g.pes)), read); err != nil {
			return fmt.Errorf("%s on team %s%s: %w", a.call.kind, a.g.name, atSite(), err)
		}
	}
	return nil
}

// walk does steps first to last. After the last of all, this PE waits until its blocks have been read.
func (a *allToAllV) walk(ctx context.Context, first, last int, read uint64) error {
	g, steps := a.g, last-first
	boxes := 0
	if len(a.l.hosts) > 1 {
		boxes = 2 * steps
	}
	e, err := g.enter(ctx, a.call, boxes)
	if err != nil {
		return err
	}
	defer g.leave()
	x := g.box(boxes)
	sends, wants := e.data[:noticeBytes*steps], e.data[noticeBytes*steps:][:noticeBytes*steps]
	for s := range steps {
		to, from := g.step(first + s)
		a.notice(sends[noticeBytes*s:], a.from, to)
		a.notice(wants[noticeBytes*s:], a.to, from)
	}
	met, err := g.come(ctx, a.l, e)
	if err != nil {
		return err
	}
	for s := range steps {
		if _, from := g.step(first + s); !g.near(a.l, from) {
			g.sendBox(from, x+box(s), wants[noticeBytes*s:][:noticeBytes])
		}
	}
	if err := a.takeHere(ctx, first, last, met); err != nil {
		return err
	}
	for s := range steps {
		if to, _ := g.step(first + s); !g.near(a.l, to) {
			if err := a.send(ctx, to, x+box(s), x+box(steps+s)); err != nil {
				return err
			}
		}
	}
	for s := range steps {
		if _, from := g.step(first + s); !g.near(a.l, from) {
			if err := g.awaitBox(ctx, x+box(steps+s), from); err != nil {
				return err
			}
		}
	}
	if last == len(g.pes) {
		return g.awaitReaders(ctx, read, len(a.l.here)-1)
	}
	return nil
}

// notice writes down where block i of b is.
func (a *allToAllV) notice(p []byte, b blocks, i int) {
	binary.LittleEndian.PutUint64(p, uint64(b.Displs[i]*a.size))
	binary.LittleEndian.PutUint64(p[8:], uint64(b.Counts[i]*a.size))
}

func readNotice(p []byte) (off, n int) {
	return int(binary.LittleEndian.Uint64(p)), int(binary.LittleEndian.Uint64(p[8:]))
}

// takeHere copies the blocks of the members of this host whose turn it is in steps first to last.
func (a *allToAllV) takeHere(ctx context.Context, first, last int, met bool) error {
	g := a.g
	for k, i := range a.l.here {
		s := (g.me - i + len(g.pes)) % len(g.pes)
		if s < first || s >= last {
			continue
		}
		e, err := g.entryHere(ctx, a.l, k, met)
		if err != nil {
			return err
		}
		off, n := readNotice(e.data[noticeBytes*(s-first):])
		if want := a.to.Counts[i] * a.size; n != want {
			return a.disagree(i, g.me, n, want)
		}
		move(g.mine(a.dst+uintptr(a.to.Displs[i]*a.size), n), g.theirs(i, a.src+uintptr(off), n))
		if i != g.me {
			g.haveRead(a.l, k)
		}
	}
	return nil
}

// send waits until member to has said in box wants where its block is to go, puts it there and fills box
// filled.
func (a *allToAllV) send(ctx context.Context, to int, wants, filled box) error {
	g := a.g
	if err := g.awaitBox(ctx, wants, to); err != nil {
		return err
	}
	off, want := readNotice(g.boxData(wants, noticeBytes))
	n := a.from.Counts[to] * a.size
	if n != want {
		return a.disagree(g.me, to, n, want)
	}
	g.sendTo(to, filled, uint64(a.dst)+uint64(off), g.mine(a.src+uintptr(a.from.Displs[to]*a.size), n))
	return nil
}

// disagree ends the use of the team, since a sender and a receiver do not agree about a block.
func (a *allToAllV) disagree(sender, receiver, sent, wanted int) error {
	return a.g.end(&reason{
		call: fmt.Sprintf("%s (call %d of team %s)", a.call, a.g.turns.n, a.g.name),
		calls: []string{
			fmt.Sprintf("PE %d: sends %d elements to PE %d", sender, sent/a.size, receiver),
			fmt.Sprintf("PE %d: expects %d from it", receiver, wanted/a.size),
		},
	})
}
