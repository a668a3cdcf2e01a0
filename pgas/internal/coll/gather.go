package coll

// Gathers: Go memory of any length from every member, into Go memory of one member or of all. Nothing of it is
// symmetric memory of the program, so it passes through that of the runtime, in rounds. A round is a call of its own:
//
//	the first   the arrival record has the length of what the member gives, and the start of it
//	the others  mailboxes of the member's own slot hold the next piece
//
// A barrier ends each round, then the readers copy what others show. The barrier also tells all members whether any of
// them has more to show: a bit in the first word of the record, combined as the words of a sync are. So there are as
// many rounds as the longest needs, which no member has to know before. call.go sees to it that what a member shows
// stays until all have read it.
//
// Where all members read and hosts have several, each fetches its share of what other hosts show, and the members of a
// host give each other their shares in the end (gather_spread.go).

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

const (
	// The data of a record in the first round: a word, the start of what the member gives, and what a leader may leave.
	firstPiece = inlineBytes - 2*wordBytes
	resultOff  = inlineBytes - wordBytes

	// hasMore is set in the word of a member that has more to show after the round. The rest of the first word is the
	// number of elements.
	hasMore = 1 << 63
)

// Gather returns what all members give to member root, by member, and nil to the others.
func Gather[T any](ctx context.Context, g *Group, mine []T, root int) ([][]T, error) {
	return gatherOf(ctx, g, Call{Kind: kindGather, root: root, Size: int(node.SizeOf[T]()), elem: reflect.TypeFor[T]()}, mine, root == g.Me)
}

// AllGather returns what all members give to every member, by member.
func AllGather[T any](ctx context.Context, g *Group, mine []T) ([][]T, error) {
	return gatherOf(ctx, g, Call{Kind: kindAllGather, Size: int(node.SizeOf[T]()), elem: reflect.TypeFor[T]()}, mine, true)
}

// gatherOf makes a gather, of which this member gets the result if it reads.
func gatherOf[T any](ctx context.Context, g *Group, c Call, mine []T, reads bool) (all [][]T, err error) {
	t := gather{g: g, call: c, n: len(mine), mine: AsBytes(mine), spreads: c.Kind == kindAllGather && g.sharesHosts()}
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
	n    int // number of elements that this member gives
	mine []byte

	parts    [][]byte       // what the members give, by member; nil if this one does not read
	makePart func(i, n int) // makes parts[i], for n elements
	spreads  bool           // the members of a host share what they fetch
}

func (t *gather) run(ctx context.Context) error {
	records, long, err := t.first(ctx)
	if err == nil && t.parts != nil {
		err = t.makeParts(ctx, records)
	}
	for at, more := firstPiece, long; more && err == nil; at += gatherPiece {
		more, err = t.next(ctx, at)
	}
	if err == nil && long && t.spreads {
		err = t.spread(ctx, func(i int) []byte { return t.parts[i][min(firstPiece, len(t.parts[i])):] })
	}
	return err
}

// first is the round of the lengths. It returns the records that this member has read, and reports whether more rounds
// follow.
func (t *gather) first(ctx context.Context) (records recordList, more bool, err error) {
	e, err := t.g.begin(ctx, &t.call, 0)
	if err != nil {
		return records, false, err
	}
	defer t.g.end()
	copy(e.data[wordBytes:resultOff], t.mine)
	word := uint64(t.n)
	if len(t.mine) > firstPiece {
		word |= hasMore
	}
	or, err := t.g.barrierOrIn(ctx, e, word, resultOff)
	if err != nil || t.parts == nil {
		return records, or&hasMore != 0, err
	}
	records.each = recordBytes(or&^hasMore, t.call.Size)
	records.all = make([]byte, len(t.g.PEs)*records.each)
	records.spread = t.spreads && len(records.all) >= spreadMin
	return records, or&hasMore != 0, t.read(&exposure{kind: inline, n: records.each}, records.spread, records.of)
}

// spreadMin is from how many bytes of all records on the members of a host share what they fetch of them. Less comes as
// fast to each of them as one more exchange between them takes.
const spreadMin = 8 << 10

// A recordList has the starts of the records of all members, each bytes of each.
type recordList struct {
	all    []byte
	each   int
	spread bool // the members of a host share the fetches
}

func (r *recordList) of(i int) []byte { return r.all[i*r.each:][:r.each] }

// recordBytes is how much of the records must be read: the bitwise or of the numbers of elements is no less than any of
// them.
func recordBytes(or uint64, size int) int {
	if or > uint64(firstPiece) || int(or)*size > firstPiece {
		return resultOff
	}
	return wordBytes + int(or)*size
}

// makeParts makes the parts of all members, with their starts, of the records.
func (t *gather) makeParts(ctx context.Context, records recordList) error {
	if records.spread {
		if err := t.spread(ctx, records.of); err != nil {
			return err
		}
	}
	for i := range t.parts {
		t.makePart(i, int(binary.LittleEndian.Uint64(records.of(i))&^hasMore))
		copy(t.parts[i], records.of(i)[wordBytes:])
	}
	return nil
}

// spread has the members of this host give each other what they have fetched.
func (t *gather) spread(ctx context.Context, memory func(i int) []byte) error {
	s := spread{t.g, t.call, memory}
	return s.run(ctx)
}

// next is the round of the pieces from byte at on. It reports whether more rounds follow.
func (t *gather) next(ctx context.Context, at int) (more bool, err error) {
	g := t.g
	e, err := g.begin(ctx, &t.call, gatherMailboxes)
	if err != nil {
		return false, err
	}
	defer g.end()
	piece := exposure{kind: bcopy, n: gatherPiece, x: g.takeMailboxes(gatherMailboxes)}
	copy(g.exposeBuf(&piece, e), pieceOf(t.mine, at))
	var word uint64
	if len(t.mine) > at+gatherPiece {
		word = hasMore
	}
	or, err := g.barrierOrIn(ctx, e, word, resultOff)
	if more = or&hasMore != 0; err != nil || t.parts == nil {
		return more, err
	}
	return more, t.read(&piece, t.spreads, func(i int) []byte { return pieceOf(t.parts[i], at) })
}

// pieceOf returns what a round shows of b, from byte at on: nothing if that is beyond its end.
func pieceOf(b []byte, at int) []byte { return b[min(at, len(b)):min(at+gatherPiece, len(b))] }

// read copies what each member i shows to into(i), as much as that holds: of members of other hosts all, or what is to
// be spread the share of this one.
func (t *gather) read(s *exposure, spread bool, into func(i int) []byte) error {
	g, share := t.g, everyShare
	if spread {
		share = g.localRank
	}
	off := slotOff(g.Slot) + arrivalOff(g.calls.n) + dataOff
	if s.kind == bcopy {
		off = g.mailboxOff(s.x)
	}
	for _, i := range g.localMembers {
		if b := into(i); len(b) > 0 {
			copy(b, g.peerBytes(i, off, len(b)))
		}
	}
	remote := false
	for i := range g.shareOf(g.hostIndex, share) {
		if b := into(i); len(b) > 0 {
			g.n.Channel(g.PEs[i]).GetNB(g.PEs[i], b, uint64(off))
			remote = true
		}
	}
	if !remote {
		return nil
	}
	return g.flush()
}
