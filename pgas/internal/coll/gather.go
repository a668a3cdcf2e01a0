package coll

// Gathers: Go memory of any length from every member, into Go memory of one member or of all. Nothing of it is symmetric
// memory of the program, so it passes through that of the runtime, in rounds. A round is a call of its own:
//
//	the first   the arrival record has the length of what the member gives, and the start of it
//	the others  mailboxes of the member's own slot hold the next piece
//
// A barrier ends each round, then the readers copy what others show. The barrier also tells all members whether any of them has
// more to show: a bit in the first word of the record, combined as the words of a sync are. So there are as many rounds as the
// longest needs, which no member has to know before. call.go sees to it that what a member shows stays until all have
// read it.

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gopgas/gopgas/pgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

const (
	// The data of a record in the first round: a word, the start of what the member gives, and what a leader may leave.
	firstPiece = inlineBytes - 2*wordBytes
	resultOff  = inlineBytes - wordBytes

	// hasMore is set in the word of a member that has more to show after the round. The rest of the first word is the number of
	// elements.
	hasMore = 1 << 63

	gatherMailboxes = 32 // that hold a piece, of those that a call may reserve
	gatherPiece     = gatherMailboxes * mailboxBytes
)

var _ [maxMailboxes - gatherMailboxes]byte

// Gather returns what all members give to member root, by member, and nil to the others.
func Gather[T any](ctx context.Context, g *Group, mine []T, root int) ([][]T, error) {
	return gatherOf(ctx, g, Call{Kind: kindGather, root: root, Size: int(node.SizeOf[T]())}, mine, root == g.Me)
}

// AllGather returns what all members give to every member, by member.
func AllGather[T any](ctx context.Context, g *Group, mine []T) ([][]T, error) {
	return gatherOf(ctx, g, Call{Kind: kindAllGather, Size: int(node.SizeOf[T]())}, mine, true)
}

// gatherOf makes a gather, of which this member gets the result if it reads.
func gatherOf[T any](ctx context.Context, g *Group, c Call, mine []T, reads bool) (all [][]T, err error) {
	t := gather{g: g, call: c, n: len(mine), mine: AsBytes(mine)}
	if reads {
		all = make([][]T, len(g.PEs))
		t.parts = make([][]byte, len(g.PEs))
		t.makePart = func(i, n int) {
			all[i] = make([]T, n)
			t.parts[i] = AsBytes(all[i])
		}
	}
	if err := t.run(ctx); err != nil {
		return nil, fmt.Errorf("%s on team %s%s: %w", c.Kind, g.Name, callsite.At(), err)
	}
	return all, nil
}

// A gather is one under way.
type gather struct {
	g    *Group
	call Call
	n    int // elements that this member gives
	mine []byte

	parts    [][]byte       // what the members give, by member; nil if this one does not read
	makePart func(i, n int) // makes parts[i], for n elements
}

func (t *gather) run(ctx context.Context) error {
	more, err := t.first(ctx)
	for at := firstPiece; more && err == nil; at += gatherPiece {
		more, err = t.next(ctx, at)
	}
	return err
}

// first is the round of the lengths. It reports whether more rounds follow.
func (t *gather) first(ctx context.Context) (more bool, err error) {
	e, err := t.g.begin(ctx, t.call, 0)
	if err != nil {
		return false, err
	}
	defer t.g.end()
	copy(e.data[wordBytes:resultOff], t.mine)
	if more, err = t.meet(ctx, e, uint64(t.n), firstPiece); err != nil || t.parts == nil {
		return more, err
	}
	record := exposure{kind: inline, n: resultOff}
	fetched := scratch(&t.g.calls.scratch, len(t.g.PEs)*resultOff)
	show := func(i int) []byte { return fetched[i*resultOff:][:resultOff] }
	if err := t.read(&record, show); err != nil {
		return false, err
	}
	for i := range t.parts {
		t.makePart(i, int(binary.LittleEndian.Uint64(show(i))&^hasMore))
		copy(t.parts[i], show(i)[wordBytes:])
	}
	return more, nil
}

// next is the round of the pieces from byte at on. It reports whether more rounds follow.
func (t *gather) next(ctx context.Context, at int) (more bool, err error) {
	g := t.g
	e, err := g.begin(ctx, t.call, gatherMailboxes)
	if err != nil {
		return false, err
	}
	defer g.end()
	piece := exposure{kind: bcopy, n: gatherPiece, x: g.takeMailboxes(gatherMailboxes)}
	copy(g.exposeBuf(&piece, e), pieceOf(t.mine, at))
	if more, err = t.meet(ctx, e, 0, at+gatherPiece); err != nil || t.parts == nil {
		return more, err
	}
	return more, t.read(&piece, func(i int) []byte { return pieceOf(t.parts[i], at) })
}

// pieceOf returns what a round shows of b, from byte at on: nothing if that is beyond its end.
func pieceOf(b []byte, at int) []byte { return b[min(at, len(b)):min(at+gatherPiece, len(b))] }

// meet ends a round in which this member has shown its bytes before shown. It reports whether any member has more.
func (t *gather) meet(ctx context.Context, e *arrival, word uint64, shown int) (more bool, err error) {
	if len(t.mine) > shown {
		word |= hasMore
	}
	or, err := t.g.barrierOrIn(ctx, e, word, resultOff)
	return or&hasMore != 0, err
}

// read copies what each member i shows to into(i), as much as that holds.
func (t *gather) read(s *exposure, into func(i int) []byte) error {
	g := t.g
	off := slotOff(g.Slot) + arrivalOff(g.calls.n) + dataOff
	if s.kind == bcopy {
		off = g.mailboxOff(s.x)
	}
	remote := false
	for i, pe := range g.PEs {
		b := into(i)
		switch {
		case len(b) == 0:
		case g.n.Shm.Heap(pe) != nil:
			copy(b, g.peerBytes(i, off, len(b)))
		default:
			g.n.Channel(pe).GetNB(pe, b, uint64(off))
			remote = true
		}
	}
	if !remote {
		return nil
	}
	return g.flush()
}
