package coll

// The all-to-all with blocks of any length anywhere. Each call of it does as many steps as an arrival record has
// room for; in each step every member has one to send to and one to receive from. To a member of its
// host it shows where the block is, and that copies it. A member of another host first gets told where
// the block is to go, which also says that dst is ready.

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// blocks says where the blocks for or from each member are in a range: block i is Counts[i] elements from Displs[i] on.
type Blocks struct{ Displs, Counts []int }

// An allToAllV is one under way.
type allToAllV struct {
	g        *Group
	l        *layout
	call     Call
	dst, src uintptr
	size     int
	to, from Blocks
}

// AllToAllVOf returns an exchange of blocks of different length. It panics with *pgas.UsageError if dst, src and their
// blocks do not fit together.
func (g *Group) AllToAllVOf(elem reflect.Type, dst Range, to Blocks, src Range, from Blocks, o Options) allToAllV {
	const k = kindAllToAllV
	g.checkApart(k, dst, dst.bytes(), src, src.bytes())
	g.checkBlocks("dst", to, dst.N)
	g.checkBlocks("src", from, src.N)
	if o.Algorithm != Auto && o.Algorithm != Linear {
		g.misuse("AllToAllV", "there is no %s %s: use Linear", o.Algorithm, k)
	}
	return allToAllV{
		g: g, l: g.layoutFor(o), dst: dst.Off, src: src.Off, size: src.Size, to: to, from: from,
		call: Call{Kind: k, op: o.bits(), Size: src.Size, elem: elem},
	}
}

func (g *Group) checkBlocks(what string, b Blocks, n int) {
	if len(b.Displs) != len(g.PEs) || len(b.Counts) != len(g.PEs) {
		g.misuse("AllToAllV", "%d offsets and %d counts for %s: a team of %s needs as many of each", len(b.Displs), len(b.Counts), what, plural.Count(len(g.PEs), "member"))
	}
	for i := range b.Counts {
		if b.Counts[i] < 0 || b.Displs[i] < 0 || b.Displs[i] > n-b.Counts[i] {
			g.misuse("AllToAllV", "block %d of %s is [%d:%d]: it does not fit %s", i, what, b.Displs[i], b.Displs[i]+b.Counts[i], plural.Count(n, "element"))
		}
	}
}

// A notice is what members tell each other of a block: where it is, or is to go, in bytes.
const noticeBytes = 16

// mostNotices is how many steps one call does: each has a notice for the sender's host and one for other
// hosts in the arrival record, and two mailboxes.
const mostNotices = min(inlineBytes/(2*noticeBytes), maxMailboxes/2)

// Run takes part in the exchange. When it returns nil, this member has all blocks that are meant for it, and its own
// may be changed.
func (a *allToAllV) Run(ctx context.Context) error {
	if a.size == 0 {
		return a.wrap(a.g.enter(ctx, &a.call))
	}
	read := a.g.readCount()
	a.see(ctx, racecheck.Read, a.src, a.from)
	for first := 0; first < len(a.g.PEs); first += mostNotices {
		if err := a.rounds(ctx, first, min(first+mostNotices, len(a.g.PEs)), read); err != nil {
			return a.wrap(err)
		}
	}
	a.see(ctx, racecheck.Read, a.src, a.from)
	a.see(ctx, racecheck.Write, a.dst, a.to)
	return nil
}

// see tells the detector of races that this member reads or writes blocks.
func (a *allToAllV) see(ctx context.Context, how racecheck.How, off uintptr, b Blocks) {
	for i, n := range b.Counts {
		a.g.see(ctx, how, off+uintptr(b.Displs[i]*a.size), n*a.size)
	}
}

func (a *allToAllV) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", a.call.Kind, a.g.Name, callsite.At(), err)
	}
	return nil
}

// rounds does steps first to last. After the last of all, this PE waits until its blocks have been read.
func (a *allToAllV) rounds(ctx context.Context, first, last int, read uint64) error {
	g, steps := a.g, last-first
	boxes := 0
	if len(a.l.hosts) > 1 {
		boxes = 2 * steps
	}
	e, err := g.begin(ctx, &a.call, boxes)
	if err != nil {
		return err
	}
	defer g.end()
	x := g.takeMailboxes(boxes)
	sends, wants := e.data[:noticeBytes*steps], e.data[noticeBytes*steps:][:noticeBytes*steps]
	for s := range steps {
		to, from := g.partners(first + s)
		a.notice(sends[noticeBytes*s:], a.src, a.from, to)
		a.notice(wants[noticeBytes*s:], a.dst, a.to, from)
	}
	met, err := g.arriveAll(ctx, a.l, e)
	if err != nil {
		return err
	}
	for s := range steps {
		if _, from := g.partners(first + s); !g.isLocal(a.l, from) {
			g.send(from, x+mailbox(s), wants[noticeBytes*s:][:noticeBytes])
		}
	}
	if err := a.takeLocal(ctx, first, last, met); err != nil {
		return err
	}
	for s := range steps {
		if to, _ := g.partners(first + s); !g.isLocal(a.l, to) {
			if err := a.send(ctx, to, x+mailbox(s), x+mailbox(steps+s)); err != nil {
				return err
			}
		}
	}
	for s := range steps {
		if _, from := g.partners(first + s); !g.isLocal(a.l, from) {
			if err := g.awaitMailbox(ctx, x+mailbox(steps+s), from); err != nil {
				return err
			}
		}
	}
	if last == len(g.PEs) {
		return g.awaitReads(ctx, read, len(a.l.localMembers)-1)
	}
	return nil
}

// notice writes down where block i of b is.
func (a *allToAllV) notice(p []byte, base uintptr, b Blocks, i int) {
	binary.LittleEndian.PutUint64(p, uint64(base)+uint64(b.Displs[i]*a.size))
	binary.LittleEndian.PutUint64(p[8:], uint64(b.Counts[i]*a.size))
}

func readNotice(p []byte) (off, n int) {
	return int(binary.LittleEndian.Uint64(p)), int(binary.LittleEndian.Uint64(p[8:]))
}

// takeLocal copies the blocks of the members of this host whose turn it is in steps first to last.
func (a *allToAllV) takeLocal(ctx context.Context, first, last int, met bool) error {
	g := a.g
	for k, i := range a.l.localMembers {
		s := (g.Me - i + len(g.PEs)) % len(g.PEs)
		if s < first || s >= last {
			continue
		}
		e, err := g.arrivalOf(ctx, a.l, k, met)
		if err != nil {
			return err
		}
		off, n := readNotice(e.data[noticeBytes*(s-first):])
		if want := a.to.Counts[i] * a.size; n != want {
			return a.abortMismatch(i, g.Me, n, want)
		}
		node.CopyLarge(g.ownBytes(a.dst+uintptr(a.to.Displs[i]*a.size), n), g.peerBytes(i, uintptr(off), n))
		if i != g.Me {
			g.ackRead(a.l, k)
		}
	}
	return nil
}

// send waits until member to has said in mailbox wants where its block is to go, puts it there and fills mailbox
// filled.
func (a *allToAllV) send(ctx context.Context, to int, wants, filled mailbox) error {
	g := a.g
	if err := g.awaitMailbox(ctx, wants, to); err != nil {
		return err
	}
	off, want := readNotice(g.received(wants, noticeBytes))
	n := a.from.Counts[to] * a.size
	if n != want {
		return a.abortMismatch(g.Me, to, n, want)
	}
	g.putThenSignal(to, filled, uint64(off), g.ownBytes(a.src+uintptr(a.from.Displs[to]*a.size), n))
	return nil
}

// abortMismatch ends the use of the team, since a sender and a receiver do not agree about a block.
func (a *allToAllV) abortMismatch(sender, receiver, sent, wanted int) error {
	return a.g.abort(&reason{
		call: fmt.Sprintf("%s (call %d of team %s)", a.call, a.g.calls.n, a.g.Name),
		calls: []string{
			fmt.Sprintf("PE %d: sends %s to PE %d", sender, plural.Count(sent/a.size, "element"), receiver),
			fmt.Sprintf("PE %d: expects %d from it", receiver, wanted/a.size),
		},
	})
}
