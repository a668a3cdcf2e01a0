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

// An allToAll is one under way.
type allToAll struct {
	g                *Group
	l                *layout
	call             call
	way              algorithm
	dst, src         uintptr
	n, size          int // elements of a block, and bytes of an element
	dstStep, srcStep int // bytes from one element to the next
}

// prepare checks the arguments of an AllToAll and fills in a.
func (a *allToAll) prepare(g *Group, dst, src operand, o options) {
	if src.n%len(g.pes) != 0 {
		g.misuse("AllToAll", "%d elements are no equal blocks for %d members", src.n, len(g.pes))
	}
	g.checkFits(kindAllToAll, src.n, dst.n)
	g.checkApart(kindAllToAll, dst, src.bytes(), src, src.bytes())
	a.fill(kindAllToAll, g, dst, src, o)
	a.n = src.n / len(g.pes)
	a.call.count = uint64(a.n)
}

// prepareS does it for an AllToAllS.
func (a *allToAll) prepareS(g *Group, dst, src operand, dstStride, srcStride, n int, o options) {
	if dstStride < 1 || srcStride < 1 || n < 0 {
		g.misuse("AllToAllS", "strides %d and %d, %d elements: strides are from 1 and n from 0 on", dstStride, srcStride, n)
	}
	reach := func(stride int) int { return 1 + (len(g.pes)*n-1)*stride }
	if n > 0 {
		g.checkFits(kindAllToAllS, reach(dstStride), dst.n)
		g.checkFits(kindAllToAllS, reach(srcStride), src.n)
		g.checkApart(kindAllToAllS, dst, reach(dstStride)*dst.size, src, reach(srcStride)*src.size)
	}
	a.fill(kindAllToAllS, g, dst, src, o)
	a.n = n
	a.dstStep, a.srcStep = dstStride*a.size, srcStride*a.size
	a.call.count = uint64(n)
	a.call.where = (a.call.where*31+uint64(dstStride))*31 + uint64(srcStride)
}

func (a *allToAll) fill(k kind, g *Group, dst, src operand, o options) {
	a.g, a.l, a.way = g, g.layoutFor(o), o.algorithm
	a.dst, a.src, a.size, a.dstStep, a.srcStep = dst.off, src.off, src.size, src.size, src.size
	a.call = call{kind: k, op: o.bits(), size: src.size}.at(dst.off, src.off)
	switch o.algorithm {
	case auto:
		a.way = linear
	case tree, doubling:
		g.misuse(k.String(), "there is no %s %s: use Linear or Ring", o.algorithm, k)
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
	strided(a.g.n.mine[a.dst:][(i*a.n+lo)*a.dstStep:], a.dstStep, b, a.size, hi-lo, a.size)
}

// source is the src of member i, which is on this host, and what follows it in the heap.
func (a *allToAll) source(i int) []byte { return a.g.n.shm.Heap(a.g.pes[i])[a.src:] }

// take copies this PE's block from the src of member i, which is on this host.
func (a *allToAll) take(i int) {
	strided(a.g.n.mine[a.dst:][i*a.n*a.dstStep:], a.dstStep, a.source(i)[a.g.me*a.n*a.srcStep:], a.srcStep, a.n, a.size)
}

func (a *allToAll) run(ctx context.Context) error {
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
		return fmt.Errorf("%s on team %s%s: %w", a.call.kind, a.g.name, atSite(), err)
	}
	return nil
}

// show is how a member shows its whole src to the members of its host.
func (a *allToAll) show(stagedMax int) show {
	return showing(len(a.g.pes)*a.bytes(), a.src, stagedMax)
}

// place packs src to where s shows it.
func (a *allToAll) place(s *show, e *entry) {
	if s.way != lent {
		strided(a.g.place(s, e), a.size, a.source(a.g.me), a.srcStep, len(a.g.pes)*a.n, a.size)
	}
}

// fromHere copies this PE's blocks from what the members of this host show; met says that all have come.
func (a *allToAll) fromHere(ctx context.Context, s *show, met bool) error {
	for d := range a.l.here {
		k := (a.l.rank + d) % len(a.l.here)
		if _, err := a.g.entryHere(ctx, a.l, k, met); err != nil {
			return err
		}
		if s.way == lent {
			a.take(a.l.here[k])
		} else {
			a.unpack(a.l.here[k], a.g.shown(a.l, s, k)[a.g.me*a.bytes():], 0, a.n)
		}
	}
	return nil
}

// here is the all-to-all on one host.
func (a *allToAll) here(ctx context.Context) error {
	g := a.g
	s := a.show(g.stagedMax())
	e, err := g.enter(ctx, a.call, s.boxes())
	if err != nil {
		return err
	}
	defer g.leave()
	s.x = g.box(s.boxes())
	a.place(&s, e)
	met, err := g.come(ctx, a.l, e)
	if err != nil {
		return err
	}
	if err := a.fromHere(ctx, &s, met); err != nil {
		return err
	}
	g.entered()
	if s.way == lent {
		return g.meet(ctx, call{kind: kindSync})
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
	var need bundle
	for _, members := range a.l.hosts {
		need.most = max(need.most, len(members))
	}
	s := a.show(maxMessage)
	if need.most > 1 && s.way == lent || need.most*need.most*a.bytes() > maxMessage {
		need.boxes = mostBoxes + 1
		return need
	}
	need.each = boxesFor(need.most * need.most * a.bytes())
	need.boxes = len(a.l.hosts) * need.each
	if need.most > 1 {
		need.boxes += s.boxes()
	}
	return need
}

// bundled is the all-to-all between hosts with one message for each pair of them: the blocks for the
// first member there from all members here, then those for the second, and so on.
func (a *allToAll) bundled(ctx context.Context, b bundle) error {
	g, l := a.g, a.l
	e, err := g.enter(ctx, a.call, b.boxes)
	if err != nil {
		return err
	}
	defer g.leave()
	s := show{way: lent}
	if b.most > 1 {
		s = a.show(maxMessage)
		s.x = g.box(s.boxes())
	}
	x := g.box(len(l.hosts) * b.each)
	from := func(host int) box { return x + box(host*b.each) }
	a.place(&s, e)
	if err := g.publish(e); err != nil {
		return err
	}
	if l.lead() {
		if err := a.sendBundles(ctx, &s, from); err != nil {
			return err
		}
		g.ready()
	} else if err := g.awaitReady(ctx, l, 0); err != nil {
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
		blocks := g.theirs(l.here[0], g.boxOff(from(host)), len(l.here)*n)[l.rank*n:]
		for k, i := range members {
			a.unpack(i, blocks[k*a.bytes():], 0, a.n)
		}
	}
	g.entered()
	return nil
}

// sendBundles sends the other leaders their bundles and waits for theirs.
func (a *allToAll) sendBundles(ctx context.Context, s *show, from func(host int) box) error {
	g, l := a.g, a.l
	for k := range l.local {
		if _, err := g.awaitEntry(ctx, l, k); err != nil {
			return err
		}
	}
	n := len(l.hosts)
	for d := 1; d < n; d++ {
		to := (l.host + d) % n
		g.sendBox(l.hosts[to][0], from(l.host), a.pile(s, from(l.host), l.hosts[to]))
		if a.way == ring {
			if err := g.awaitBox(ctx, from((l.host-d+n)%n), l.hosts[(l.host-d+n)%n][0]); err != nil {
				return err
			}
		}
	}
	for d := 1; d < n; d++ {
		if err := g.awaitBox(ctx, from((l.host-d+n)%n), l.hosts[(l.host-d+n)%n][0]); err != nil {
			return err
		}
	}
	return nil
}

// pile puts together the bundle for the given members of another host, in box x of this PE, which nobody
// fills.
func (a *allToAll) pile(s *show, x box, members []int) []byte {
	b := a.g.boxData(x, len(a.l.here)*len(members)*a.bytes())
	at := b
	for _, j := range members {
		for k, i := range a.l.here {
			if s.way == lent {
				a.pack(at, a.source(i), j, 0, a.n)
			} else {
				copy(at[:a.bytes()], a.g.shown(a.l, s, k)[j*a.bytes():])
			}
			at = at[a.bytes():]
		}
	}
	return b
}

// step says who member me deals with in step s: all members send to another one in each.
func (g *Group) step(s int) (to, from int) {
	n := len(g.pes)
	return (g.me + s) % n, (g.me - s + n) % n
}

// near reports whether member i is on this host, as l has it.
func (g *Group) near(l *layout, i int) bool {
	return i == g.me || l == &g.layout && g.n.shm.Heap(g.pes[i]) != nil
}

// A leg is the part of a direct all-to-all that one call does: elements lo to hi of the blocks, in steps
// first to last.
type batch struct {
	lo, hi, first, last int
	boxes               int  // for each step
	landed              bool // the elements arrive in boxes, not in dst
}

// direct is the all-to-all between hosts in which every member sends every other one its block.
func (a *allToAll) direct(ctx context.Context) error {
	read := a.g.readBy()
	n, members := a.n, len(a.g.pes)
	b := batch{boxes: 1, landed: a.gaps() && a.size <= boxBytes}
	if b.landed {
		n = min(n, maxMessage/a.size)
		b.boxes = boxesFor(n * a.size)
	}
	steps := mostBoxes / b.boxes
	for b.lo = 0; b.lo < a.n; b.lo += n {
		for b.first = 0; b.first < members; b.first += steps {
			b.hi, b.last = min(b.lo+n, a.n), min(b.first+steps, members)
			if err := a.walk(ctx, &b, read); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk does one leg. With the first come the blocks of this host; after the last, this PE waits until
// its own have been read. Nobody leaves before it has received from all: so dst is ready everywhere once
// all have met.
func (a *allToAll) walk(ctx context.Context, b *batch, read uint64) error {
	g := a.g
	e, err := g.enter(ctx, a.call, (b.last-b.first)*b.boxes)
	if err != nil {
		return err
	}
	defer g.leave()
	x := g.box((b.last - b.first) * b.boxes)
	if b.lo+b.first > 0 {
		err = g.publish(e)
	} else {
		err = g.meetIn(ctx, e)
	}
	if err != nil {
		return err
	}
	for s := b.first; s < b.last; s++ {
		to, _ := g.step(s)
		at := x + box((s-b.first)*b.boxes)
		if !g.near(a.l, to) {
			a.send(to, b, at)
		}
		if a.way == ring {
			if err := a.receive(ctx, b, s, at); err != nil {
				return err
			}
		}
	}
	if b.lo+b.first == 0 {
		for k, i := range a.l.here {
			a.take(i)
			if i != g.me {
				g.haveRead(a.l, k)
			}
		}
	}
	for s := b.first; s < b.last && a.way != ring; s++ {
		if err := a.receive(ctx, b, s, x+box((s-b.first)*b.boxes)); err != nil {
			return err
		}
	}
	if b.hi == a.n && b.last == len(g.pes) {
		return g.awaitReaders(ctx, read, len(a.l.here)-1)
	}
	return nil
}

// send sends member to its elements of this leg.
func (a *allToAll) send(to int, b *batch, x box) {
	g := a.g
	n := b.hi - b.lo
	block := a.source(g.me)[(to*a.n+b.lo)*a.srcStep:]
	dst := uint64(a.dst) + uint64((g.me*a.n+b.lo)*a.dstStep)
	if a.gaps() && !b.landed {
		pe := g.pes[to]
		via := g.n.channel(pe)
		for i := range n {
			via.Put(pe, dst+uint64(i*a.dstStep), block[i*a.srcStep:][:a.size])
		}
		via.Fence(pe)
		g.sendTo(to, x, dst, nil)
		return
	}
	if a.srcStep != a.size {
		packed := grown(&g.turns.scratch, n*a.size)
		strided(packed, a.size, block, a.srcStep, n, a.size)
		block = packed
	}
	if b.landed {
		g.sendBox(to, x, block[:n*a.size])
	} else {
		g.sendTo(to, x, dst, block[:n*a.size])
	}
}

// receive waits for what step s brings, and unpacks it if it comes in box x.
func (a *allToAll) receive(ctx context.Context, b *batch, s int, x box) error {
	_, from := a.g.step(s)
	if a.g.near(a.l, from) {
		return nil
	}
	if err := a.g.awaitBox(ctx, x, from); err != nil {
		return err
	}
	if b.landed {
		a.unpack(from, a.g.boxData(x, (b.hi-b.lo)*a.size), b.lo, b.hi)
	}
	return nil
}
