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

// Blocks says where the blocks for or from each member of a team are in a range: block i is Counts[i]
// elements from Offsets[i] on.
type Blocks struct {
	Offsets, Counts []int
}

// AllToAllV is AllToAll with blocks of any length anywhere in src and dst: block j of src, as from says,
// goes from member i to block i of dst of member j, as to says there. The two must be equally long; if
// they are not, both members get a *MismatchError. Blocks of dst must not overlap.
//
// It is not in the specification. What AllToAll says holds for it too.
func AllToAllV[T any](ctx context.Context, t *Team, dst Slice[T], to Blocks, src Slice[T], from Blocks, opts ...CollectiveOption) error {
	a := t.allToAllVOf(rawOf(dst), to, rawOf(src), from, opts)
	return a.run(ctx)
}

// AllToAllVNB starts AllToAllV. Until the Request is complete, dst, src, to and from belong to it.
func AllToAllVNB[T any](ctx context.Context, t *Team, dst Slice[T], to Blocks, src Slice[T], from Blocks, opts ...CollectiveOption) *Request {
	a := t.allToAllVOf(rawOf(dst), to, rawOf(src), from, opts)
	return t.start(ctx, a.run)
}

// An allToAllV is one under way.
type allToAllV struct {
	t        *Team
	l        *layout
	call     call
	dst, src uintptr
	size     int
	to, from Blocks
}

func (t *Team) allToAllVOf(dst raw, to Blocks, src raw, from Blocks, opts []CollectiveOption) allToAllV {
	const k = kindAllToAllV
	t.checkRanges(k, dst, src)
	checkApart(k, dst, dst.bytes(), src, src.bytes())
	t.checkBlocks("dst", to, dst.n)
	t.checkBlocks("src", from, src.n)
	o := optionsOf(opts)
	if o.algorithm != Auto && o.algorithm != Linear {
		misuse("AllToAllV", "there is no %s %s: use Linear", o.algorithm, k)
	}
	return allToAllV{
		t: t, l: t.layoutFor(o), dst: dst.off, src: src.off, size: src.size, to: to, from: from,
		call: call{kind: k, op: o.bits(), size: src.size}.at(dst.off, src.off),
	}
}

func (t *Team) checkBlocks(what string, b Blocks, n int) {
	if len(b.Offsets) != len(t.pes) || len(b.Counts) != len(t.pes) {
		misuse("AllToAllV", "%d offsets and %d counts for %s: a team of %d members needs as many of each", len(b.Offsets), len(b.Counts), what, len(t.pes))
	}
	for i := range b.Counts {
		if b.Counts[i] < 0 || b.Offsets[i] < 0 || b.Offsets[i] > n-b.Counts[i] {
			misuse("AllToAllV", "block %d of %s is [%d:%d]: it does not fit %d elements", i, what, b.Offsets[i], b.Offsets[i]+b.Counts[i], n)
		}
	}
}

// A notice is what members tell each other of a block: where it is, or is to go, in bytes.
const noticeBytes = 16

// mostNotices is how many steps one call does: each has a notice for the sender's host and one for other
// hosts in the entry, and two boxes.
const mostNotices = min(inlineBytes/(2*noticeBytes), mostBoxes/2)

func (a *allToAllV) run(ctx context.Context) error {
	given("AllToAllV", ctx)
	if a.size == 0 {
		return nil
	}
	read := a.t.readBy()
	for first := 0; first < len(a.t.pes); first += mostNotices {
		if err := a.walk(ctx, first, min(first+mostNotices, len(a.t.pes)), read); err != nil {
			return fmt.Errorf("%s on team %s%s: %w", a.call.kind, a.t.name, atSite(), err)
		}
	}
	return nil
}

// walk does steps first to last. After the last of all, this PE waits until its blocks have been read.
func (a *allToAllV) walk(ctx context.Context, first, last int, read uint64) error {
	t, steps := a.t, last-first
	boxes := 0
	if len(a.l.hosts) > 1 {
		boxes = 2 * steps
	}
	e, err := t.enter(ctx, a.call, boxes)
	if err != nil {
		return err
	}
	defer t.leave()
	x := t.box(boxes)
	sends, wants := e.data[:noticeBytes*steps], e.data[noticeBytes*steps:][:noticeBytes*steps]
	for s := range steps {
		to, from := t.step(first + s)
		a.notice(sends[noticeBytes*s:], a.from, to)
		a.notice(wants[noticeBytes*s:], a.to, from)
	}
	met, err := t.come(ctx, a.l, e)
	if err != nil {
		return err
	}
	for s := range steps {
		if _, from := t.step(first + s); !t.near(a.l, from) {
			t.sendBox(from, x+box(s), wants[noticeBytes*s:][:noticeBytes])
		}
	}
	if err := a.takeHere(ctx, first, last, met); err != nil {
		return err
	}
	for s := range steps {
		if to, _ := t.step(first + s); !t.near(a.l, to) {
			if err := a.send(ctx, to, x+box(s), x+box(steps+s)); err != nil {
				return err
			}
		}
	}
	for s := range steps {
		if _, from := t.step(first + s); !t.near(a.l, from) {
			if err := t.awaitBox(ctx, x+box(steps+s), from); err != nil {
				return err
			}
		}
	}
	if last == len(t.pes) {
		return t.awaitReaders(ctx, read, len(a.l.here)-1)
	}
	return nil
}

// notice writes down where block i of b is.
func (a *allToAllV) notice(p []byte, b Blocks, i int) {
	binary.LittleEndian.PutUint64(p, uint64(b.Offsets[i]*a.size))
	binary.LittleEndian.PutUint64(p[8:], uint64(b.Counts[i]*a.size))
}

func readNotice(p []byte) (off, n int) {
	return int(binary.LittleEndian.Uint64(p)), int(binary.LittleEndian.Uint64(p[8:]))
}

// takeHere copies the blocks of the members of this host whose turn it is in steps first to last.
func (a *allToAllV) takeHere(ctx context.Context, first, last int, met bool) error {
	t := a.t
	for k, i := range a.l.here {
		s := (t.me - i + len(t.pes)) % len(t.pes)
		if s < first || s >= last {
			continue
		}
		e, err := t.entryHere(ctx, a.l, k, met)
		if err != nil {
			return err
		}
		off, n := readNotice(e.data[noticeBytes*(s-first):])
		if want := a.to.Counts[i] * a.size; n != want {
			return a.disagree(i, t.me, n, want)
		}
		move(t.mine(a.dst+uintptr(a.to.Offsets[i]*a.size), n), t.theirs(i, a.src+uintptr(off), n))
		if i != t.me {
			t.haveRead(a.l, k)
		}
	}
	return nil
}

// send waits until member to has said in box wants where its block is to go, puts it there and fills box
// filled.
func (a *allToAllV) send(ctx context.Context, to int, wants, filled box) error {
	t := a.t
	if err := t.awaitBox(ctx, wants, to); err != nil {
		return err
	}
	off, want := readNotice(t.boxData(wants, noticeBytes))
	n := a.from.Counts[to] * a.size
	if n != want {
		return a.disagree(t.me, to, n, want)
	}
	t.sendTo(to, filled, uint64(a.dst)+uint64(off), t.mine(a.src+uintptr(a.from.Offsets[to]*a.size), n))
	return nil
}

// disagree ends the use of the team, since a sender and a receiver do not agree about a block.
func (a *allToAllV) disagree(sender, receiver, sent, wanted int) error {
	return a.t.end(&MismatchError{
		Call: fmt.Sprintf("%s (call %d of team %s)", a.call, a.t.turns.n, a.t.name),
		Calls: []string{
			fmt.Sprintf("PE %d: sends %d elements to PE %d", sender, sent/a.size, receiver),
			fmt.Sprintf("PE %d: expects %d from it", receiver, wanted/a.size),
		},
	})
}
