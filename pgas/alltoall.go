package pgas

// All-to-alls. Member i has a block for each member j, which becomes block i there. On one host each
// member copies its blocks from what the others show. Between hosts there are two ways:
//
//	bundled  a leader sends each other leader one message with the blocks of all members here for all
//	         members there. The members of a host then take theirs from their leader's boxes.
//	         For blocks that are so small that the number of messages is what they cost.
//	direct   every member sends every member of another host its block, straight into its dst; blocks
//	         with gaps go by boxes, in as many calls as it takes.
//
// Linear sends everything before it waits for anything; Ring has one block under way at a time, to a
// member one further on in each step.

import (
	"context"
	"fmt"
)

// AllToAll sends block j of src of each member i to block i of dst of member j. src has a block of equal
// length for each member of t, its own included, and dst has room for as much
// (OpenSHMEM 1.6, shmem_alltoall).
//
// dst and src are the same ranges on all members and must not overlap. When AllToAll returns, dst is
// complete on this PE, and src may be reused; nothing is said about other members. dst is written only
// while its owner is in the call: no barrier is needed before it.
//
// All members must call it with the same arguments; when they do not, they get a *MismatchError. A member
// that dies ends it with *PeerError, the end of ctx with its cause; the team is of no use then. The
// algorithms are Linear and Ring.
func AllToAll[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) error {
	var a allToAll
	a.prepare(t, rawOf(dst), rawOf(src), opts)
	return a.run(ctx)
}

// AllToAllNB starts AllToAll. Until the Request is complete, dst and src belong to it.
func AllToAllNB[T any](ctx context.Context, t *Team, dst, src Slice[T], opts ...CollectiveOption) *Request {
	var a allToAll
	a.prepare(t, rawOf(dst), rawOf(src), opts)
	return t.start(ctx, a.run)
}

// AllToAllS is AllToAll with blocks of n elements that are dstStride elements apart in dst and srcStride
// in src: element e of block j is element (j*n+e)*stride. What lies between is not touched
// (OpenSHMEM 1.6, shmem_alltoalls).
func AllToAllS[T any](ctx context.Context, t *Team, dst, src Slice[T], dstStride, srcStride, n int, opts ...CollectiveOption) error {
	var a allToAll
	a.prepareS(t, rawOf(dst), rawOf(src), dstStride, srcStride, n, opts)
	return a.run(ctx)
}

// AllToAllSNB starts AllToAllS. Until the Request is complete, dst and src belong to it.
func AllToAllSNB[T any](ctx context.Context, t *Team, dst, src Slice[T], dstStride, srcStride, n int, opts ...CollectiveOption) *Request {
	var a allToAll
	a.prepareS(t, rawOf(dst), rawOf(src), dstStride, srcStride, n, opts)
	return t.start(ctx, a.run)
}

// An allToAll is one under way.
type allToAll struct {
	t                *Team
	l                *layout
	call             call
	way              Algorithm
	dst, src         uintptr
	n, size          int // elements of a block, and bytes of an element
	dstStep, srcStep int // bytes from one element to the next
}

// prepare checks the arguments of an AllToAll and fills in a.
func (a *allToAll) prepare(t *Team, dst, src raw, opts []CollectiveOption) {
	t.checkRanges(kindAllToAll, dst, src)
	if src.n%len(t.pes) != 0 {
		misuse("AllToAll", "%d elements are no equal blocks for %d members", src.n, len(t.pes))
	}
	checkFits("AllToAll", src.n, dst.n)
	checkApart(kindAllToAll, dst, src.bytes(), src, src.bytes())
	a.fill(kindAllToAll, t, dst, src, opts)
	a.n = src.n / len(t.pes)
	a.call.count = uint64(a.n)
}

// prepareS does it for an AllToAllS.
func (a *allToAll) prepareS(t *Team, dst, src raw, dstStride, srcStride, n int, opts []CollectiveOption) {
	t.checkRanges(kindAllToAllS, dst, src)
	if dstStride < 1 || srcStride < 1 || n < 0 {
		misuse("AllToAllS", "strides %d and %d, %d elements: strides are from 1 and n from 0 on", dstStride, srcStride, n)
	}
	reach := func(stride int) int { return 1 + (len(t.pes)*n-1)*stride }
	if n > 0 {
		checkFits("AllToAllS", reach(dstStride), dst.n)
		checkFits("AllToAllS", reach(srcStride), src.n)
		checkApart(kindAllToAllS, dst, reach(dstStride)*dst.size, src, reach(srcStride)*src.size)
	}
	a.fill(kindAllToAllS, t, dst, src, opts)
	a.n = n
	a.dstStep, a.srcStep = dstStride*a.size, srcStride*a.size
	a.call.count = uint64(n)
	a.call.where = (a.call.where*31+uint64(dstStride))*31 + uint64(srcStride)
}

func (a *allToAll) fill(k kind, t *Team, dst, src raw, opts []CollectiveOption) {
	o := optionsOf(opts)
	a.t, a.l, a.way = t, t.layoutFor(o), o.algorithm
	a.dst, a.src, a.size, a.dstStep, a.srcStep = dst.off, src.off, src.size, src.size, src.size
	a.call = call{kind: k, op: o.bits(), size: src.size}.at(dst.off, src.off)
	switch o.algorithm {
	case Auto:
		a.way = Linear
	case Tree, Doubling:
		misuse(k.String(), "there is no %s %s: use Linear or Ring", o.algorithm, k)
	}
}

// bytes is the length of a block without its gaps.
func (a *allToAll) bytes() int { return a.n * a.size }

// gaps reports whether dst has elements that must not be touched.
func (a *allToAll) gaps() bool { return a.dstStep != a.size }

// pack copies elements lo to hi of block j of src, which is a heap's, to b.
func (a *allToAll) pack(b []byte, src []byte, j, lo, hi int) {
	strided(b, a.size, src[(j*a.n+lo)*a.srcStep:], a.srcStep, hi-lo, a.size)
}

// unpack copies b to elements lo to hi of block i of dst.
func (a *allToAll) unpack(i int, b []byte, lo, hi int) {
	strided(a.t.w.n.mine[a.dst:][(i*a.n+lo)*a.dstStep:], a.dstStep, b, a.size, hi-lo, a.size)
}

// source is the src of member i, which is on this host, and what follows it in the heap.
func (a *allToAll) source(i int) []byte { return a.t.w.n.shm.Heap(a.t.pes[i])[a.src:] }

// take copies this PE's block from the src of member i, which is on this host.
func (a *allToAll) take(i int) {
	strided(a.t.w.n.mine[a.dst:][i*a.n*a.dstStep:], a.dstStep, a.source(i)[a.t.me*a.n*a.srcStep:], a.srcStep, a.n, a.size)
}

func (a *allToAll) run(ctx context.Context) error {
	given("AllToAll", ctx)
	if a.bytes() == 0 {
		return nil
	}
	var err error
	if len(a.l.hosts) == 1 {
		err = a.here(ctx)
	} else if b := a.bundle(); b.boxes <= mostBoxes {
		err = a.bundled(ctx, b)
	} else {
		err = a.direct(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", a.call.kind, a.t.name, atSite(), err)
	}
	return nil
}

// show is how a member shows its whole src to the members of its host.
func (a *allToAll) show(stagedMax int) show {
	return showing(len(a.t.pes)*a.bytes(), a.src, stagedMax)
}

// place packs src to where s shows it.
func (a *allToAll) place(s *show, e *entry) {
	if s.way != lent {
		strided(a.t.place(s, e), a.size, a.source(a.t.me), a.srcStep, len(a.t.pes)*a.n, a.size)
	}
}

// fromHere copies this PE's blocks from what the members of this host show; met says that all have come.
func (a *allToAll) fromHere(ctx context.Context, s *show, met bool) error {
	for d := range a.l.here {
		k := (a.l.rank + d) % len(a.l.here)
		if _, err := a.t.entryHere(ctx, a.l, k, met); err != nil {
			return err
		}
		if s.way == lent {
			a.take(a.l.here[k])
		} else {
			a.unpack(a.l.here[k], a.t.shown(a.l, s, k)[a.t.me*a.bytes():], 0, a.n)
		}
	}
	return nil
}

// here is the all-to-all on one host.
func (a *allToAll) here(ctx context.Context) error {
	t := a.t
	s := a.show(t.stagedMax())
	e, err := t.enter(ctx, a.call, s.boxes())
	if err != nil {
		return err
	}
	defer t.leave()
	s.x = t.box(s.boxes())
	a.place(&s, e)
	met, err := t.come(ctx, a.l, e)
	if err != nil {
		return err
	}
	if err := a.fromHere(ctx, &s, met); err != nil {
		return err
	}
	t.entered()
	if s.way == lent {
		return t.meet(ctx, call{kind: kindSync})
	}
	return nil
}

// A bundle says what bundled needs.
type bundle struct {
	most  int // the most members of a host
	each  int // boxes of a message
	boxes int // in all
}

// bundle is what bundled would need; too many boxes if it is out of the question.
func (a *allToAll) bundle() bundle {
	var b bundle
	for _, members := range a.l.hosts {
		b.most = max(b.most, len(members))
	}
	s := a.show(maxMessage)
	if b.most > 1 && s.way == lent || b.most*b.most*a.bytes() > maxMessage {
		b.boxes = mostBoxes + 1
		return b
	}
	b.each = boxesFor(b.most * b.most * a.bytes())
	b.boxes = len(a.l.hosts) * b.each
	if b.most > 1 {
		b.boxes += s.boxes()
	}
	return b
}

// bundled is the all-to-all between hosts with one message for each pair of them: the blocks for the
// first member there from all members here, then those for the second, and so on.
func (a *allToAll) bundled(ctx context.Context, b bundle) error {
	t, l := a.t, a.l
	e, err := t.enter(ctx, a.call, b.boxes)
	if err != nil {
		return err
	}
	defer t.leave()
	s := show{way: lent}
	if b.most > 1 {
		s = a.show(maxMessage)
		s.x = t.box(s.boxes())
	}
	x := t.box(len(l.hosts) * b.each)
	from := func(host int) box { return x + box(host*b.each) }
	a.place(&s, e)
	if err := t.publish(e); err != nil {
		return err
	}
	if l.lead() {
		if err := a.sendBundles(ctx, &s, from); err != nil {
			return err
		}
		t.ready()
	} else if err := t.awaitReady(ctx, l, 0); err != nil {
		return err
	}
	if err := a.fromHere(ctx, &s, true); err != nil {
		return err
	}
	for host, members := range l.hosts {
		if host == l.host {
			continue
		}
		n := len(members) * a.bytes()
		blocks := t.theirs(l.here[0], t.boxOff(from(host)), len(l.here)*n)[l.rank*n:]
		for k, i := range members {
			a.unpack(i, blocks[k*a.bytes():], 0, a.n)
		}
	}
	t.entered()
	return nil
}

// sendBundles sends the other leaders their bundles and waits for theirs.
func (a *allToAll) sendBundles(ctx context.Context, s *show, from func(host int) box) error {
	t, l := a.t, a.l
	for k := range l.local {
		if _, err := t.awaitEntry(ctx, l, k); err != nil {
			return err
		}
	}
	n := len(l.hosts)
	for d := 1; d < n; d++ {
		to := (l.host + d) % n
		t.sendBox(l.hosts[to][0], from(l.host), a.pile(s, from(l.host), l.hosts[to]))
		if a.way == Ring {
			if err := t.awaitBox(ctx, from((l.host-d+n)%n), l.hosts[(l.host-d+n)%n][0]); err != nil {
				return err
			}
		}
	}
	for d := 1; d < n; d++ {
		if err := t.awaitBox(ctx, from((l.host-d+n)%n), l.hosts[(l.host-d+n)%n][0]); err != nil {
			return err
		}
	}
	return nil
}

// pile puts together the bundle for the given members of another host, in box x of this PE, which nobody
// fills.
func (a *allToAll) pile(s *show, x box, members []int) []byte {
	b := a.t.boxData(x, len(a.l.here)*len(members)*a.bytes())
	at := b
	for _, j := range members {
		for k, i := range a.l.here {
			if s.way == lent {
				a.pack(at, a.source(i), j, 0, a.n)
			} else {
				copy(at[:a.bytes()], a.t.shown(a.l, s, k)[j*a.bytes():])
			}
			at = at[a.bytes():]
		}
	}
	return b
}

// step says who member me deals with in step s: all members send to another one in each.
func (t *Team) step(s int) (to, from int) {
	n := len(t.pes)
	return (t.me + s) % n, (t.me - s + n) % n
}

// near reports whether member i is on this host, as l has it.
func (t *Team) near(l *layout, i int) bool {
	return i == t.me || l == &t.layout && t.w.n.shm.Heap(t.pes[i]) != nil
}

// A leg is the part of a direct all-to-all that one call does: elements lo to hi of the blocks, in steps
// first to last.
type leg struct {
	lo, hi, first, last int
	boxes               int  // for each step
	landed              bool // the elements arrive in boxes, not in dst
}

// direct is the all-to-all between hosts in which every member sends every other one its block.
func (a *allToAll) direct(ctx context.Context) error {
	read := a.t.readBy()
	n, members := a.n, len(a.t.pes)
	g := leg{boxes: 1, landed: a.gaps() && a.size <= boxBytes}
	if g.landed {
		n = min(n, maxMessage/a.size)
		g.boxes = boxesFor(n * a.size)
	}
	steps := mostBoxes / g.boxes
	for g.lo = 0; g.lo < a.n; g.lo += n {
		for g.first = 0; g.first < members; g.first += steps {
			g.hi, g.last = min(g.lo+n, a.n), min(g.first+steps, members)
			if err := a.walk(ctx, &g, read); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk does one leg. With the first come the blocks of this host; after the last, this PE waits until
// its own have been read. Nobody leaves before it has received from all: so dst is ready everywhere once
// all have met.
func (a *allToAll) walk(ctx context.Context, g *leg, read uint64) error {
	t := a.t
	e, err := t.enter(ctx, a.call, (g.last-g.first)*g.boxes)
	if err != nil {
		return err
	}
	defer t.leave()
	x := t.box((g.last - g.first) * g.boxes)
	if g.lo+g.first > 0 {
		err = t.publish(e)
	} else {
		err = t.meetIn(ctx, e)
	}
	if err != nil {
		return err
	}
	for s := g.first; s < g.last; s++ {
		to, _ := t.step(s)
		at := x + box((s-g.first)*g.boxes)
		if !t.near(a.l, to) {
			a.send(to, g, at)
		}
		if a.way == Ring {
			if err := a.receive(ctx, g, s, at); err != nil {
				return err
			}
		}
	}
	if g.lo+g.first == 0 {
		for k, i := range a.l.here {
			a.take(i)
			if i != t.me {
				t.haveRead(a.l, k)
			}
		}
	}
	for s := g.first; s < g.last && a.way != Ring; s++ {
		if err := a.receive(ctx, g, s, x+box((s-g.first)*g.boxes)); err != nil {
			return err
		}
	}
	if g.hi == a.n && g.last == len(t.pes) {
		return t.awaitReaders(ctx, read, len(a.l.here)-1)
	}
	return nil
}

// send sends member to its elements of this leg.
func (a *allToAll) send(to int, g *leg, x box) {
	t := a.t
	n := g.hi - g.lo
	block := a.source(t.me)[(to*a.n+g.lo)*a.srcStep:]
	dst := uint64(a.dst) + uint64((t.me*a.n+g.lo)*a.dstStep)
	if a.gaps() && !g.landed {
		pe := t.pes[to]
		via := t.w.n.channel(pe)
		for i := range n {
			via.Put(pe, dst+uint64(i*a.dstStep), block[i*a.srcStep:][:a.size])
		}
		via.Fence(pe)
		t.sendTo(to, x, dst, nil)
		return
	}
	if a.srcStep != a.size {
		packed := grown(&t.turns.scratch, n*a.size)
		strided(packed, a.size, block, a.srcStep, n, a.size)
		block = packed
	}
	if g.landed {
		t.sendBox(to, x, block[:n*a.size])
	} else {
		t.sendTo(to, x, dst, block[:n*a.size])
	}
}

// receive waits for what step s brings, and unpacks it if it comes in box x.
func (a *allToAll) receive(ctx context.Context, g *leg, s int, x box) error {
	_, from := a.t.step(s)
	if a.t.near(a.l, from) {
		return nil
	}
	if err := a.t.awaitBox(ctx, x, from); err != nil {
		return err
	}
	if g.landed {
		a.unpack(from, a.t.boxData(x, (g.hi-g.lo)*a.size), g.lo, g.hi)
	}
	return nil
}
